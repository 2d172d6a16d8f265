"""How good the answers are: measured on judged queries, compared, and tuned."""
