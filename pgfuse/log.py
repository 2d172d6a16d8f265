"""The log lines of a recall, on the logger `pgfuse`."""

import logging

from pgfuse.types import Recall

logger = logging.getLogger("pgfuse")


def recalled(result: Recall) -> None:
    """A line at INFO for the recall, at DEBUG one for each route and top hit; a route that fell short is a WARNING."""
    trace = result.trace
    logger.info(
        "recall mode=%s hits=%d fused=%d fusion=%s fusion_latency_ms=%.3f latency_ms=%.3f reason=%s",
        *(trace["mode"], len(result), trace["fused"], trace["fusion"]),
        *(trace["fusion_latency_ms"], trace["latency_ms"], trace.get("reason")),
    )
    for name, route in trace["routes"].items():
        logger.log(
            logging.WARNING if route["complete"] is False else logging.DEBUG,
            "route %s status=%s method=%s candidates=%d complete=%s top_score=%s",
            *(name, route["status"], route["method"], route["candidates"], route["complete"], route["top_score"]),
        )
    for hit in trace["top"]:
        logger.debug("hit %s final_score=%.6f %s", hit["id"], hit["final_score"], hit["routes"])
