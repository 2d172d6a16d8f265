"""Texts that PostgreSQL can store."""

from pgfuse.errors import InvalidInput


def searchable(query: str) -> str:
    """The query with NUL and broken characters as spaces: they cannot be stored, so they match nothing."""
    return query.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def check_text(name: str, value: object) -> str:
    """The value if it is a text that can be stored; InvalidInput otherwise."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: {value!r:.100} is not allowed; it must be a text.")
    if "\0" in value:
        raise InvalidInput(f"{name} holds a NUL character, which PostgreSQL cannot store; remove it.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} holds a lone surrogate at position {error.start}, which is not valid Unicode; remove it."
        ) from error
    return value
