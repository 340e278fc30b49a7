"""The context budget of a model: the part of a conversation that fits it, counted with tiktoken."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigurationError, ContextWindowError, install_extra
from ..models import strings_in
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Callable

    from tiktoken import Encoding

#: The encoding for models that tiktoken does not know: that of the newest models.
_DEFAULT_ENCODING = "o200k_base"
#: Tokens that separate a message from the next, in addition to its role.
_PER_MESSAGE = 3
#: Characters; tiktoken panics on one run of a million spaces.
_LONGEST_PIECE = 100_000
#: The environment variables that name tiktoken's cache of encodings.
_CACHES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
#: Locked while the environment names another cache, which a second thread must not take for the user's.
_LOADING = threading.Lock()


def fit(
    messages: list[dict[str, Any]], tools: list[dict[str, Any]], budget: int, count: Callable[[Any], int]
) -> list[dict[str, Any]]:
    """Return the newest part of a conversation that fits a budget, with every system message.

    A message with tool calls and its results are dropped together, and only from the start of the conversation. The
    newest such group, which the model is to answer, always stays.

    Args:
        messages: The conversation in OpenAI chat format, oldest first; not changed.
        tools: The tool schemas that are sent along.
        budget: The most tokens of the request.
        count: Tokens of one message or one schema, as ``token_counter`` gives it.

    Raises:
        ContextWindowError: The part that always stays exceeds the budget.
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
    """Return the positions of messages that belong together, oldest group first; system messages are in none."""
    groups: list[list[int]] = []
    for position, message in enumerate(messages):
        if message.get("role") == "tool" and groups:
            groups[-1].append(position)  # results follow their calls: providers accept no other order
        elif message.get("role") != "system":
            groups.append([position])
    return groups


def token_counter(model: str) -> Callable[[Any], int]:
    """Return a function that counts a model's tokens of texts, messages in chat format and tool schemas.

    Each text is encoded once, however often it is counted. The counts are exact for texts to OpenAI's models, and an
    estimate for everything else: other providers do not publish their encodings.

    Args:
        model: The model's name, with its provider or without: ``openai/gpt-4.1``. Models that tiktoken does not know
            are counted as OpenAI's newest.

    Raises:
        ConfigurationError: tiktoken is not installed, or the encoding cannot be loaded.
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
            # Its role, its text, ids, names and arguments of its calls, provider fields.
            return _PER_MESSAGE + sum(tokens(text) for text in strings_in(value))
        return tokens(json.dumps(value, ensure_ascii=False))

    return count


def check_tiktoken() -> None:
    """Check that tokens can be counted.

    Raises:
        ConfigurationError: tiktoken is not installed.
    """
    try:
        import tiktoken  # noqa: F401
    except ImportError:
        raise ConfigurationError(
            f"a context budget needs tiktoken, which is not installed: {install_extra('llm')}"
        ) from None


def _encoding(model: str) -> Encoding:
    check_tiktoken()
    import tiktoken

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
            f"({install_extra('llm')}), or let TIKTOKEN_CACHE_DIR name a folder that has this one: a run with "
            f"a network fills it"
        ) from error


def _load(name: str, get_encoding: Callable[[str], Encoding]) -> Encoding:
    """Load an encoding, from litellm's files if they have it and the user has named no cache."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name.partition('_')[0]}_base.tiktoken"
    # The name of the file in tiktoken's cache. Without this file it would download into litellm's package.
    file = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    shipped = _bundled_encodings()
    with _LOADING:
        if not shipped or not (shipped / file).exists() or any(cache in os.environ for cache in _CACHES):
            return get_encoding(name)
        # tiktoken takes the folder from the environment alone, and keeps loaded encodings.
        os.environ[_CACHES[0]] = str(shipped)
        try:
            return get_encoding(name)
        finally:
            os.environ.pop(_CACHES[0], None)


def _bundled_encodings() -> Path | None:
    """Find the folder of encodings in litellm's package without importing it; None without litellm."""
    # litellm makes this folder tiktoken's cache when it is imported, which takes seconds; this does the same without
    # the import. Can go once tiktoken ships the encodings.
    spec = importlib.util.find_spec("litellm")
    folders = list(spec.submodule_search_locations or []) if spec else []
    return Path(folders[0], "litellm_core_utils", "tokenizers") if folders else None
