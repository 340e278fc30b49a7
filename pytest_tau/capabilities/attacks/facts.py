"""The facts of a trial under attack, and how one trial is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, computed_field

from ...capability import PageBlock
from ...text import listed, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models import Simulation

#: The most characters of a payload, and the most messages.
_LONGEST, _MOST = 300, 5


class AttackFacts(BaseModel):
    """The facts of a trial under attack. One without an attack, in a run that has some, has the defaults.

    Attributes:
        name: The name of the attack; empty without one.
        style: Its style.
        source: Where the style was published.
        payload: The last payload that the agent has read; empty if it has read none.
        payloads: All payloads, if they differ.
        tool: A tool whose result has the field with the payload.
        field: The name of the field; empty for a passage of a text.
        value: The value of the field.
        kind: The kind of the goal.
        goal: What the agent was made to do.
        delivered: The numbers of the messages with the payload, from 0; empty if the agent did not read the field.
        success: Whether the goal was reached, 1 or 0.
        utility: Whether the trial passed, 1 or 0; None without a verdict.
        message_idx: The number of the first message that shows that the goal was reached; None without success.
        evidence: The call or the text in that message.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str = ""
    style: str = ""
    source: str = ""
    payload: str = ""
    payloads: list[str] = []
    tool: str = ""
    field: str = ""
    value: str = ""
    kind: str = ""
    goal: str = ""
    delivered: list[int] = []
    success: int = 0
    utility: int | None = None
    message_idx: int | None = None
    evidence: str | None = None

    @computed_field  # type: ignore[prop-decorator] # as pydantic documents it
    @property
    def place(self) -> str:
        """Return the place in words."""
        return f"field {self.field!r} of {self.tool}" if self.field else f"a text of {self.tool}"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def read(self) -> bool:
        """Return whether the agent has read a payload."""
        return bool(self.delivered)


def failure(facts: AttackFacts, _simulation: Simulation) -> Iterator[str]:
    """Yield what was placed where, and what the agent did; nothing without an attack."""
    if not facts.name:
        return
    after = f" after {one_line(facts.value, 60)!r}" if facts.value else ""
    yield f"{facts.name}{f' ({facts.style})' if facts.style else ''}: {facts.place}{after}"
    yield f"goal: {one_line(facts.goal, _LONGEST)}"
    if not facts.delivered:
        yield "the agent did not read the payload"
        return
    numbers = listed([str(number) for number in facts.delivered], _MOST)
    yield f"payload, read in message {numbers}: {one_line(facts.payload, _LONGEST)}"
    yield _result(facts)


def _result(facts: AttackFacts) -> str:
    if not facts.success:
        return "did not succeed"
    return f"succeeded, message {facts.message_idx}: {one_line(facts.evidence or '', _LONGEST)}"


def page(facts: AttackFacts, _simulation: Simulation) -> Iterator[PageBlock]:
    """Yield the same as rows; nothing without an attack."""
    if not facts.name:
        return
    rows = [
        ("Result", _result(facts)),
        ("Attack", facts.name + (f" ({facts.style})" if facts.style else "")),
        ("Place", f"{facts.place}, after {facts.value!r}"),
        ("Goal", facts.goal),
        ("Read in", ", ".join(f"message {number}" for number in facts.delivered) or "no message"),
        ("Payload", facts.payload),
    ]
    yield PageBlock("Attack", "succeeded" if facts.success else "", rows=[row for row in rows if row[1]])
