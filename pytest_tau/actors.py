"""Who speaks, if an agent consists of several: the actor that calls, texts and model calls belong to."""

from __future__ import annotations

import functools
import inspect
from contextlib import nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from .errors import ConfigurationError, ParticipantError, unknown_name

if TYPE_CHECKING:
    from collections.abc import Collection
    from contextlib import AbstractContextManager
    from types import TracebackType

#: The attribute with the actors of an agent.
DECLARED = "tau_actors"
_SPEAKING: ContextVar[Speaking | None] = ContextVar("pytest_tau_speaking", default=None)


def current_actor() -> str | None:
    """Return the actor that the running code belongs to; None if none was named."""
    speaking = _SPEAKING.get()
    return speaking.actor if speaking else None


class Speaking:
    """An actor that speaks from now on, in this task or thread and in those that it starts.

    As a context manager, it speaks until the end of the block; then the one before it speaks again.

    Args:
        actor: Its name.
        actors: The actors of the trial; None if they need not know, such as for a single tool call.

    Attributes:
        outer: Who spoke before.
    """

    def __init__(self, actor: str, actors: Actors | None = None) -> None:
        self.actor, self._actors, self.outer = actor, actors, _SPEAKING.get()
        _SPEAKING.set(self)
        if actors is not None:
            actors.speaking[self] = None
            actors.last = actor

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _SPEAKING.set(self.outer)
        if self._actors is not None:
            self._actors.leave(self)

    def is_within(self, other: Speaking) -> bool:
        """Return whether it was named while another one spoke, or is that one."""
        return self is other or (self.outer is not None and self.outer.is_within(other))


class Actors:
    """The actors of the agent of one trial.

    Attributes:
        declared: Their names; empty if any name is one.
        speaking: Those that speak now, while a message is answered, in the order in which they were named.
        last: The one that was named last, or spoke again last; None if none was named.
    """

    def __init__(self, declared: Collection[str] = ()) -> None:
        self.declared = declared
        self.speaking: dict[Speaking, None] = {}
        self.last: str | None = None

    def start(self) -> None:
        """Note that a message is answered from now on, before any actor speaks."""
        self.speaking, self.last = {}, None

    def leave(self, speaking: Speaking) -> None:
        """Note that an actor, and whom it has named, speak no more."""
        for other in [*self.speaking]:  # any thread may name one meanwhile
            if other.is_within(speaking):
                self.speaking.pop(other, None)
        if speaking.outer is not None:
            self.last = speaking.outer.actor

    @property
    def only(self) -> str | None:
        """The actor that speaks, also to code that does not know its own; None if several do, or none."""
        speaking = [*self.speaking]
        around = {each.outer for each in speaking}
        inner = {each.actor for each in speaking if each not in around}
        return inner.pop() if len(inner) == 1 else None

    def check(self, actor: object) -> None:
        """Refuse an actor that is not declared.

        Raises:
            ParticipantError: It is not a text, or it is not declared.
        """
        if not isinstance(actor, str) or not actor.strip():
            raise ParticipantError(f"expected the name of an actor, got {actor!r:.80}", side="agent")
        if self.declared and actor not in self.declared:
            raise ParticipantError(unknown_name("actor", actor, self.declared), side="agent")


def declared_actors(target: Any) -> tuple[str, ...]:
    """Return the actors that an agent declares, by the mark or by the attribute ``tau_actors``; empty for none.

    Raises:
        ConfigurationError: They are not a list of names.
    """
    while isinstance(target, functools.partial):
        target = target.func
    actors: Any = inspect.getattr_static(target, DECLARED, ())
    listed = isinstance(actors, list | tuple)
    if not listed or not all(isinstance(actor, str) and actor.strip() for actor in actors):
        raise ConfigurationError(f"actors: expected a list of names, got {actors!r:.80}")
    return tuple(actors)


def named_by_framework(actor: object) -> AbstractContextManager[None]:
    """Return a block in which an actor speaks that a framework names, unless the code around has named one.

    Args:
        actor: The name; anything but a text names none.
    """
    unnamed = _SPEAKING.get() is not None or not isinstance(actor, str) or not actor
    return nullcontext() if unnamed else Speaking(str(actor))
