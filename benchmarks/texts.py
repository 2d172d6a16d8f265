"""Texts to store and to ask with: cut from real collections where there are some, else made from topics."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from pgfuse import embedders

COLLECTIONS = ("scifact", "cranfield", "locomo_dev")
TOPICS, TOPIC_WORDS = 2_000, 40
SHORTEST_WORD = 4
SENTENCE = (8, 22)
SHORT = (10, 25)


def short_texts(data: Path | None, count: int, seed: int) -> list[str]:
    """Distinct texts of 10 to 25 words."""
    rng = random.Random(seed)
    draw = _windows(data, rng) if data else _topical(rng, SHORT)
    found: dict[str, None] = {}
    while len(found) < count:
        found[draw()] = None
    return list(found)


def _windows(data: Path, rng: random.Random) -> Callable[[], str]:
    paths = [data / name / "corpus.jsonl" for name in COLLECTIONS]
    words = [json.loads(line)["text"].split() for path in paths for line in path.read_bytes().splitlines()]
    lengths = [len(text) for text in words]
    picks = _endless(rng, words, lengths)

    def draw() -> str:
        text, length = next(picks), rng.randint(*SHORT)
        start = rng.randrange(max(1, len(text) - length + 1))
        return " ".join(text[start : start + length])

    return draw


def _endless(rng: random.Random, items: list[list[str]], weights: list[int]) -> Iterator[list[str]]:
    while True:
        yield from rng.choices(items, weights, k=10_000)


def _topical(rng: random.Random, length: tuple[int, int]) -> Callable[[], str]:
    topics = Topics(rng)
    return lambda: " ".join(topics.words(rng.randrange(TOPICS), rng.randint(*length)))


class Topics:
    """Words of a topic among common ones; the words are those that the embedder knows."""

    def __init__(self, rng: random.Random) -> None:
        known = sorted(vocabulary())
        rng.shuffle(known)
        self.rng, self.common = rng, known
        self.weights = [1 / rank for rank in range(1, len(known) + 1)]
        self.topics = [rng.sample(known, TOPIC_WORDS) for _ in range(TOPICS)]
        self.spare: list[str] = []

    def words(self, topic: int, count: int) -> list[str]:
        """So many words, two of three from the topic."""
        own = self.rng.choices(self.topics[topic], k=count)
        return [self._common() if place % 3 == 2 else word for place, word in enumerate(own)]

    def document(self, topic: int, sentences: int) -> str:
        """Sentences about a topic."""
        made = (" ".join(self.words(topic, self.rng.randint(*SENTENCE))) for _ in range(sentences))
        return " ".join(f"{sentence}." for sentence in made)

    def _common(self) -> str:
        if not self.spare:
            self.spare = self.rng.choices(self.common, self.weights, k=10_000)
        return self.spare.pop()


def vocabulary() -> list[str]:
    """The whole words in lower case that the default embedder has a vector for."""
    tokens = embedders.load()._tokenizer.get_vocab()
    words = {token[1:] for token in tokens if token[:1] in ("Ġ", "▁")}
    return [word for word in words if len(word) >= SHORTEST_WORD and re.fullmatch("[a-z]+", word)]
