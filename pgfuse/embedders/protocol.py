"""What pgfuse asks of an embedder."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Anything with a name, a dimension and a way to turn texts into vectors.

    ``name`` is stored with the vectors, so that texts of one model are never compared with those of another.
    A model that wants queries written otherwise than documents also has ``embed_query(text)``, which returns
    one vector; ``embed`` is then for documents.
    """

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return one row a text, ``dim`` wide."""
        ...
