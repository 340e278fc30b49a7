"""Refusals: tools of the bank refuse in a text of their result, which is no error of the call.

Source: τ²-bench v1.0.1, banking_knowledge domain: such a result has no error flag and is content.
"""

import functools
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from pytest_tau.environment import tool
from pytest_tau.environment.toolkit import ToolKind

F = TypeVar("F", bound=Callable[..., Any])


class Refusal(Exception):  # noqa: N818 - a result, and no error of the call
    """A tool refuses; the text is its result."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


def hidden(kind: ToolKind, *, mutates: bool | None = None) -> Callable[[F], F]:
    """Mark a method as a tool of the bank that is not offered, and turn refusals into its result."""
    return lambda method: tool(kind, mutates=mutates, hidden=True)(answering(method))


def answering(method: F) -> F:
    """Turn the refusals of a method into its result."""

    @functools.wraps(method)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except Refusal as refusal:
            return refusal.text

    return answer  # type: ignore[return-value]


def require(condition: Any, text: str) -> None:
    """Refuse unless a condition is met.

    Raises:
        Refusal: It is not.
    """
    if not condition:
        raise Refusal(f"Error: {text}")


def require_all(*values: Any, text: str = "Missing required parameters.") -> None:
    """Refuse if one of the values is empty, zero, false or none.

    Raises:
        Refusal: One is.
    """
    require(all(values), text)


def require_given(*values: Any, text: str = "Missing required parameters.") -> None:
    """Refuse if one of the values is none.

    Raises:
        Refusal: One is.
    """
    require(all(value is not None for value in values), text)


def require_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices.

    Raises:
        Refusal: It is not; the text lists them.
    """
    require(value in list(choices), f"Invalid {name}. Must be one of: {list(choices)}")


def number(value: Any, text: str) -> float:
    """Return a number, or the number that a text has.

    Raises:
        Refusal: It is neither.
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        raise Refusal(f"Error: {text}") from None
