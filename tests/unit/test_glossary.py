"""The glossary: what it says of messages, turns and steps is what the code counts."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_tau
from pytest_tau import Limits, SimulationSettings
from pytest_tau.diagnosis import Attribution, Divergence
from pytest_tau.models import AssistantMessage, Call, UserMessage
from pytest_tau.runs.make_record import make_record
from pytest_tau.testing import ScriptedParticipant

from .tiny import call, task

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")


def example() -> list[list[str]]:
    """Return the cells of the example conversation, row by row."""
    table = PAGE.partition("message was not delivered:\n")[2].partition("\n\n##")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]


def test_the_example_counts_as_a_conversation_does(domain: Domain) -> None:
    both = {"tool_calls": [call("count"), call("count")]}
    done = pytest_tau.simulate(
        task(),
        domain=domain,
        agent=ScriptedParticipant([both, "Both orders are cancelled."]),
        user=ScriptedParticipant(["Cancel orders 7 and 8, please."]),
        settings=SimulationSettings(limits=Limits(max_steps=4)),
    )
    rows = example()
    assert [int(row[0]) for row in rows] == [message.turn_idx for message in done.messages]
    assert [row[1] for row in rows] == [message.role.replace("assistant", "agent") for message in done.messages]
    assert [bool(row[3]) for row in rows] == [isinstance(m, AssistantMessage | UserMessage) for m in done.messages]
    assert max(int(row[3]) for row in rows if row[3]) == done.turns == make_record(done, None, "tiny").turns
    steps = max(int(row[4][0]) for row in rows if row[4])
    assert (done.termination_reason, done.error) == ("max_steps", f"{steps} steps, the limit is 4")
    assert [made.message_idx for made in done.calls] == [2, 2]


def test_fields_of_ones_own_have_the_name_that_the_glossary_gives() -> None:
    assert "`message_idx`" in PAGE
    for owner in (Attribution, Divergence, Call):
        assert "message_idx" in {field.name for field in fields(owner)}


@pytest.mark.parametrize("folder", ["pytest_tau", "docs"])
def test_no_position_is_called_a_turn(folder: str) -> None:
    """A number after the word, or a field of that name, would be the number of a message; ``tau fork --turn`` has one."""
    files = [file for suffix in ("py", "js", "md") for file in (ROOT / folder).rglob(f"*.{suffix}")]
    assert len(files) > 20
    wrong = re.compile(r"(?<!--)\b[Tt]urn (?:\$?\{|[0-9])|\.turn\b|(?<!fork-)\bturn=")
    found = [
        f"{file.name}: {line}" for file in files for line in file.read_text("utf-8").splitlines() if wrong.search(line)
    ]
    assert found == []
