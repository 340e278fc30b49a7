"""Attacks: the interface of built-in ones and of own ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ...models import Message
    from .fields import Field
    from .goals import Goal

#: Seconds that an attack may take to write a payload or a goal.
TIMEOUT = 60.0


class Place(NamedTuple):
    """The place of a payload.

    Attributes:
        tool: A tool whose result has the field.
        field: The field and its value; a payload follows the value wherever a result has both.
    """

    tool: str
    field: Field

    @property
    def text(self) -> str:
        """Return the place in words."""
        return f"{self.field.name!r} in the result of {self.tool}" if self.field.name else f"a text of {self.tool}"


@dataclass(frozen=True)
class AttackContext:
    """What an attack knows when it writes a payload.

    Attributes:
        domain: The name of the domain.
        task_id: The id of the task.
        seed: The seed of the trial.
        place: Where the payload will be.
        goal: What the agent is made to do.
        messages: Copies of the messages so far, oldest first, payloads included.
        payloads: The payloads that the agent was sent so far, oldest first.
    """

    domain: str
    task_id: str
    seed: int | None
    place: Place
    goal: Goal
    messages: tuple[Message, ...] = ()
    payloads: tuple[str, ...] = ()


class Attack:
    """An attack by text in tool results. Subclasses set ``name`` and write ``payload``.

    Attributes:
        name: The name for ``--tau-attack``: letters, digits and ``_+-``.
        style: The published style, or a few words of one's own.
        source: Where the style was published; empty for one's own.
        goals: The kinds of goals that are tried, in this order: ``write``, ``leak``.
    """

    name: str = ""
    style: str = ""
    source: str = ""
    goals: tuple[str, ...] = ("write", "leak")

    def payload(self, context: AttackContext) -> str | Awaitable[str]:
        """Return the text that is added to the field; called each time the agent reads the field. May be async.

        Args:
            context: The place, the goal, and the conversation so far.
        """
        raise NotImplementedError

    def goal(self, context: Any) -> Goal | None:
        """Return a goal of one's own; None for one of the kinds in ``goals``.

        Args:
            context: The :class:`TargetContext` of the task.
        """
        del context
        return None
