"""Embedders by name."""

import importlib
import inspect
import os
import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

from pgfuse.embedders.protocol import Embedder
from pgfuse.errors import EmbedderError, InvalidInput, PgfuseError

DEFAULT = "wordllama"


@dataclass(frozen=True)
class Provider:
    module: str
    factory: str
    argument: str | None = None
    environment: tuple[str, ...] = ()


# The key is also the name of the extra that installs the provider, except for the default.
PROVIDERS = {
    "wordllama": Provider("wordllama", "WordLlamaEmbedder"),
    "sentence-transformers": Provider("sentence_transformers", "SentenceTransformersEmbedder", "<model>"),
    "openai": Provider("openai", "OpenAIEmbedder", "<model>", ("OPENAI_BASE_URL", "OPENAI_API_KEY")),
    "model2vec": Provider("model2vec", "Model2VecEmbedder", "<path>"),
}
EXTRAS = {"wordllama": "embedded"}

_loaded: dict[Hashable, Embedder] = {}
_loading = threading.RLock()


def is_loadable(name: object) -> bool:
    """Say whether the name has a form that ``load`` understands; no model is imported to find out."""
    return _parsed(name) is not None


def load(name: str = DEFAULT, **options: Any) -> Embedder:
    """Return the embedder of that name, loaded once for the same name and options.

    Names: ``wordllama`` (the default, needs no network), ``sentence-transformers:<model>``, ``openai:<model>``
    (any server that speaks OpenAI's protocol) and ``model2vec:<path>``.
    """
    parsed = _parsed(name)
    if parsed is None:
        raise InvalidInput(f"No embedder is called {name!r}. Use one of: {', '.join(_forms())}.")
    provider, arguments = parsed
    key = _cache_key(name, provider, options)
    if key not in _loaded:
        with _loading:
            if key not in _loaded:
                _loaded[key] = _create(name, provider, arguments, options)
    return _loaded[key]


def _parsed(name: object) -> tuple[str, list[str]] | None:
    if not isinstance(name, str):
        return None
    provider, colon, argument = name.partition(":")
    if provider not in PROVIDERS or bool(argument.strip()) != (PROVIDERS[provider].argument is not None):
        return None
    return provider, [argument] if colon else []


def _forms() -> list[str]:
    return [f"{key}:{provider.argument}" if provider.argument else key for key, provider in PROVIDERS.items()]


def _cache_key(name: str, provider: str, options: dict[str, Any]) -> Hashable:
    # The variables a provider reads are part of the key: a changed server or key is not answered from the cache.
    environment = tuple(os.environ.get(variable) for variable in PROVIDERS[provider].environment)
    return name, _frozen(options), environment


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return frozenset((key, _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    if not isinstance(value, Hashable):
        raise InvalidInput(f"An embedder option cannot be a {type(value).__name__}.")
    return value


def _create(name: str, provider: str, arguments: list[str], options: dict[str, Any]) -> Embedder:
    try:
        module = importlib.import_module(f"{__package__}.{PROVIDERS[provider].module}")
        factory = getattr(module, PROVIDERS[provider].factory)
        _check_options(name, factory, arguments, options)
        return cast(Embedder, factory(*arguments, **options))
    except PgfuseError:
        raise
    except ModuleNotFoundError as exc:
        extra = EXTRAS.get(provider, provider)
        raise PgfuseError(
            f"The embedder {name!r} needs the package {exc.name}, which is not installed. "
            f"Run: pip install 'pgfuse[{extra}]'"
        ) from exc
    except Exception as exc:
        raise EmbedderError(f"The embedder {name!r} could not be loaded. {type(exc).__name__}: {exc}") from exc


def _check_options(name: str, factory: Any, arguments: list[str], options: dict[str, Any]) -> None:
    signature = inspect.signature(factory)
    try:
        signature.bind(*arguments, **options)
    except TypeError as exc:
        known = [key for key, parameter in signature.parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
        raise InvalidInput(
            f"The embedder {name!r} was given an option it does not have ({exc}). "
            f"Its options: {', '.join(known) or 'none'}."
        ) from exc
