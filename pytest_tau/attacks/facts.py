"""The facts of a trial under attack, as they are stored in ``Simulation.info``."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

#: The key of ``Simulation.info``.
ATTACK = "attack"
#: The beginning of the parameter of items under attack: ``task[attack.important-message-trial-0]``.
PARAMETER = "attack."


class AttackPlace(BaseModel):
    """Where the payload was.

    Attributes:
        tool: A tool whose result has the field.
        field: The name of the field; empty for a passage of a text.
        value: The value of the field.
    """

    model_config = ConfigDict(extra="ignore")

    tool: str = ""
    field: str = ""
    value: str = ""

    @property
    def text(self) -> str:
        """Return the place in words."""
        return f"field {self.field!r} of {self.tool}" if self.field else f"a text of {self.tool}"


class AttackGoal(BaseModel):
    """What the agent was made to do: the kind of goal, and the goal in one line."""

    model_config = ConfigDict(extra="ignore")

    kind: str = ""
    text: str = ""


class AttackEvidence(BaseModel):
    """The first message that shows that the goal was reached: its number from 0, and the call or text."""

    model_config = ConfigDict(extra="ignore")

    message_idx: int
    text: str = ""


class AttackFacts(BaseModel):
    """The facts of a trial under attack.

    Attributes:
        name: The name of the attack.
        style: Its style.
        source: Where the style was published.
        payload: The last payload that the agent has read; empty if it has read none.
        payloads: All payloads, if they differ.
        place: Where the payload was.
        goal: What the agent was made to do.
        delivered: The numbers of the messages with the payload, from 0; empty if the agent did not read the field.
        success: Whether the goal was reached.
        evidence: What shows it; None without success.
        problem: The error of the attack; None if there was none.
    """

    model_config = ConfigDict(extra="ignore")

    name: str
    style: str = ""
    source: str = ""
    payload: str = ""
    payloads: list[str] = []
    place: AttackPlace = AttackPlace()
    goal: AttackGoal = AttackGoal()
    delivered: list[int] = []
    success: bool = False
    evidence: AttackEvidence | None = None
    problem: str | None = None

    def as_info(self) -> dict[str, Any]:
        """Return the entry of ``Simulation.info``."""
        return self.model_dump(mode="json", exclude_none=True, exclude_defaults=False)

    @classmethod
    def read(cls, info: dict[str, Any] | None) -> AttackFacts | None:
        """Return the facts in the ``info`` of a simulation; None without an attack, or if the entry is not one."""
        found = (info or {}).get(ATTACK)
        if not isinstance(found, dict):
            return None
        try:
            return cls.model_validate(found)
        except ValidationError:
            return None


def unreadable_attack(info: dict[str, Any] | None) -> bool:
    """Return whether the ``info`` of a simulation has an entry about an attack that cannot be read."""
    return (info or {}).get(ATTACK) is not None and AttackFacts.read(info) is None
