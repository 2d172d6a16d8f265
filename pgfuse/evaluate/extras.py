"""The packages that only evaluation needs, loaded when they are used."""

import importlib
from typing import Any

from pgfuse.errors import PgfuseError


def load(module: str) -> Any:
    """The module, or words on how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise PgfuseError(
            f"Evaluation needs the package {error.name}, which is not installed. Run: pip install 'pgfuse[eval]'"
        ) from error
