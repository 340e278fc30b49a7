"""Kinds of requests that rules agents recognise by their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .dialog import Declined, HandOver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .dialog import Talk

S = TypeVar("S")


@dataclass(frozen=True)
class RequestKind(Generic[S]):
    """A kind of request.

    Attributes:
        name: What it is called.
        pattern: What it is recognised by; of several kinds the first one that fits counts.
        procedure: Finds out what it lacks, checks what the policy asks for, and returns plans to be agreed to, or an
            answer. It declines by raising.
        informs: Whether it only asks for information, which a change in the same text gives anyway.
    """

    name: str
    pattern: str
    procedure: Callable[[S, str], Talk[Any]]
    informs: bool = False


def first_kind(kinds: Iterable[RequestKind[S]], text: str) -> RequestKind[S] | None:
    """Return the first kind that a part of a text belongs to, if there is one."""
    return next((kind for kind in kinds if re.search(kind.pattern, text, re.IGNORECASE)), None)


def declining(reason: str) -> Callable[[Any, str], Talk[Any]]:
    """Return a procedure for what the policy forbids in any case."""

    def procedure(session: Any, text: str) -> Talk[Any]:
        del session, text
        raise Declined(reason)
        yield

    return procedure


def hand_over(session: Any, text: str) -> Talk[Any]:
    """Transfer a request that is outside of the policy and the tools."""
    del session
    raise HandOver(text)
    yield
