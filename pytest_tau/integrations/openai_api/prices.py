"""Prices of OpenAI's models from the list in litellm's package, which is read without importing litellm."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...chat.prices import Price
from ...documents import DocumentError, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping


_FILE = "model_prices_and_context_window_backup.json"
_MILLION = 1_000_000


def listed_price(name: str) -> Price | None:
    """Return the price of a model of OpenAI's by litellm's list; None if the list has none.

    Args:
        name: The model's name, with or without its provider.
    """
    listed = _list().get(name.removeprefix("openai/"))
    if not isinstance(listed, dict) or listed.get("litellm_provider") != "openai":
        return None
    sent, received = listed.get("input_cost_per_token"), listed.get("output_cost_per_token")
    if sent is None or received is None:
        return None
    cached = listed.get("cache_read_input_token_cost")
    return Price(sent * _MILLION, received * _MILLION, None if cached is None else cached * _MILLION)


@functools.cache
def _list() -> Mapping[str, Any]:
    found = importlib.util.find_spec("litellm")
    try:
        assert found is not None
        assert found.origin is not None
        listed: Mapping[str, Any] = read_json(Path(found.origin).with_name(_FILE))
    except (AssertionError, OSError, DocumentError):
        # A version of litellm with another file: such calls have no price.
        return {}
    return listed
