"""The presets as the contract's table has them. What the table leaves open is given by every test itself."""

from typing import Any

ROUTES = (
    "vec_full", "vec_user", "vec_asst", "vec_next_user", "lexical", "facet_personal_info", "facet_preferences",
    "facet_events"
)  # fmt: skip
PLAIN: dict[str, Any] = {
    "fusion": "rrf", "rrf_k": 60, "pool_multiplier": None, "memory_weight": 0, "session_first": False,
    "turn_factor": 0.6,
    "turn_cap": 0.12, "mmr": False, "mmr_lambda": 0.78, "duplicate_threshold": 0.94, "mmr_tag_weight": 0.35,
    "mmr_normalize": False, "neighbors": 0, "lexical_match": "any", "lexical_rank": "bm25", "bm25_k1": 0.9,
    "bm25_b": 0.4,
    "recency_half_life_days": None, "group_by": None, "per_group": 1, "max_tokens": None,
}  # fmt: skip


def weights(**given: float) -> dict[str, float]:
    """Every built-in route at 0 but those given."""
    return dict.fromkeys(ROUTES, 0.0) | given


PRESETS: dict[str, dict[str, Any]] = {
    "balanced": PLAIN | {"weights": weights(vec_full=1, lexical=1), "pool_multiplier": 3},
    "semantic": PLAIN | {"weights": weights(vec_full=1), "pool_multiplier": 2},
    "blend": PLAIN | {"weights": weights(vec_full=0.75, lexical=0.25)},
    "memory": PLAIN
    | {
        "weights": dict.fromkeys(ROUTES, 1.0),
        "rrf_k": 15,
        "memory_weight": 0.1,
        "session_first": True,
        "mmr": True,
        "neighbors": 1,
    },
}
