"""How fast and how complete recall is on a database as it stands; nothing is written."""
