"""The context budget of a model: what of a conversation still fits, counted with tiktoken."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, ContextWindowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tiktoken import Encoding

#: For models that tiktoken does not know: of the encodings that it has, that of the newest models.
_DEFAULT_ENCODING = "o200k_base"
#: Tokens that set one message off from the next, beside its role.
_PER_MESSAGE = 3
#: Characters; tiktoken panics on one run of a million spaces.
_LONGEST_PIECE = 100_000
#: By which users tell tiktoken where it finds its encodings.
_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
#: Held while the environment names another cache: a second thread must not take that for the user's.
_LOADING = threading.Lock()


def fit(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]], budget: int, count: Callable[[Any], int]
) -> list[dict[str, Any]]:
    """The newest part of a conversation that fits a budget, with every system message.

    A message with tool calls and all of its results are left out together or not at all, and nothing is left out
    from the middle. What the model is to answer now, the newest such group, always stays.

    Args:
        messages: The conversation in OpenAI chat format, oldest first; not changed.
        tools: The tool schemas that are sent along.
        budget: Tokens that the request may have.
        count: Tokens of one message or one schema, as ``token_counter`` gives it.

    Raises:
        ContextWindowError: What always stays exceeds the budget.
    """
    system = sum(count(message) for message in messages if message.get("role") == "system")
    schemas = sum(count(tool) for tool in tools)
    groups = _groups(messages)
    sizes = [sum(count(messages[position]) for position in group) for group in groups]
    newest = sizes[-1] if sizes else 0
    left = budget - system - schemas - newest
    if left < 0:
        raise ContextWindowError(
            f"a context budget of {budget} tokens is too small: the system message has {system}, the schemas of "
            f"{len(tools)} tools have {schemas}, and the newest messages have {newest}"
        )
    kept = set(groups[-1]) if groups else set()
    for group, size in zip(reversed(groups[:-1]), reversed(sizes[:-1]), strict=True):
        left -= size
        if left < 0:
            break
        kept.update(group)
    return [message for at, message in enumerate(messages) if at in kept or message.get("role") == "system"]


def _groups(messages: list[dict[str, Any]]) -> list[list[int]]:
    """Positions of the messages that belong together, oldest group first; system messages are in none."""
    groups: list[list[int]] = []
    for position, message in enumerate(messages):
        if message.get("role") == "tool" and groups:
            groups[-1].append(position)  # results stand behind their calls: providers accept no other order
        elif message.get("role") != "system":
            groups.append([position])
    return groups


def token_counter(model: str) -> Callable[[Any], int]:
    """What counts the tokens of texts, messages in chat format and tool schemas, as a model has them.

    Each text is encoded once, however often it is counted. The figures are exact for texts to OpenAI's models, and
    an estimate for everything else: other providers keep their encodings to themselves.

    Args:
        model: The model's name, with its provider or without: ``openai/gpt-4.1``. Those that tiktoken does not know
            are counted as OpenAI's newest.

    Raises:
        ConfigurationError: tiktoken is not installed, or the encoding cannot be had.
    """
    encoding = _encoding(model)

    @functools.lru_cache(maxsize=4096)
    def tokens(text: str) -> int:
        pieces = range(0, len(text), _LONGEST_PIECE)
        return sum(len(encoding.encode_ordinary(text[start : start + _LONGEST_PIECE])) for start in pieces)

    def count(value: Any) -> int:
        if isinstance(value, str):
            return tokens(value)
        if isinstance(value, dict) and "role" in value:
            return _PER_MESSAGE + sum(tokens(text) for text in _texts(value))
        return tokens(json.dumps(value, ensure_ascii=False))

    return count


def _texts(value: Any) -> Iterator[str]:
    """Every string in a message: its role, its text, ids, names and arguments of its calls, provider fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _encoding(model: str) -> Encoding:
    try:
        import tiktoken
    except ImportError:
        raise ConfigurationError(
            "a context budget is counted with tiktoken, which is not installed: pip install 'pytest-tau[llm]'"
        ) from None
    try:
        name = tiktoken.encoding_name_for_model(model.rsplit("/", 1)[-1])
    except KeyError:
        name = _DEFAULT_ENCODING
    try:
        return _load(name, tiktoken.get_encoding)
    except (OSError, ValueError, RuntimeError) as error:
        # A download that fails is an OSError, a broken file a ValueError, a network that a test blocks a RuntimeError.
        raise ConfigurationError(
            f"tokens for {model} are counted with tiktoken's encoding {name}, which could not be loaded "
            f"({type(error).__name__}: {error}). Install litellm, which brings the common encodings "
            f"(pip install 'pytest-tau[llm]'), or let TIKTOKEN_CACHE_DIR name a folder that has this one: a run with "
            f"a network fills it"
        ) from error


def _load(name: str, get_encoding: Callable[[str], Encoding]) -> Encoding:
    """The encoding, from litellm's files where they hold it and the user has named no cache."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name.partition('_')[0]}_base.tiktoken"
    # tiktoken's name of the file in a cache. Without this file it would download into litellm's package.
    file = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    shipped = _shipped()
    with _LOADING:
        if not shipped or not (shipped / file).exists() or any(cache in os.environ for cache in _CACHES):
            return get_encoding(name)
        # tiktoken takes the folder from the environment alone. It keeps what it has loaded.
        os.environ[_CACHES[0]] = str(shipped)
        try:
            return get_encoding(name)
        finally:
            os.environ.pop(_CACHES[0], None)


def _shipped() -> Path | None:
    """The folder of encodings in litellm's package, found without importing it; None without litellm."""
    spec = importlib.util.find_spec("litellm")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return Path(folders[0], "litellm_core_utils", "tokenizers") if folders else None
