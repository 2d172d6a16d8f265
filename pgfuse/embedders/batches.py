"""Cutting a list of texts into requests a server accepts."""

from collections.abc import Iterator, Sequence


def batches(texts: Sequence[str], *, count: int, characters: int) -> Iterator[list[str]]:
    """Yield the texts in order, at most so many texts and characters at once; a longer text goes alone."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == count or size + len(text) > characters):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
