"""The timeline in the HTML report: what it is drawn of, and the drawing in a headless Chromium at both widths."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.page import page as blocks
from pytest_tau.capabilities.voice.participants import Manners
from pytest_tau.models import Simulation
from pytest_tau.testing import ScriptedParticipant as Script, call

from .chromium import browser, chromium
from .report_pages import line, report, run_folder
from .tiny import action, task

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

WANTED = task({"actions": [action("rename", item_id="lamp", name="Light")], "reward_basis": ["DB"]})
LONG = "Do you want it? It costs " + "a great deal of money and " * 8 + "that is all."


class Rude(Script):
    manners = Manners(yields=False)


def trial(domain: Domain) -> Simulation:
    settings = SimulationSettings(capabilities=(capability.with_settings(mode="voice"),))
    agent = Rude([call("rename", item_id="lamp", name="Light"), LONG, "Fine."])
    user = Script(["Tell me about the lamp.", "Yes, I do.", "Thanks. ###STOP###"])
    return pytest_tau.simulate(WANTED, domain=domain, agent=agent, user=user, seed=3, settings=settings)


def test_the_block_has_lanes_calls_and_faults_with_the_numbers_of_messages(domain: Domain) -> None:
    found = trial(domain)
    (block,) = blocks(capability.read(found.facts), found)
    assert block.note.endswith(" of talk, simulated without sound, conditions regular")
    said = block.data["utterances"]
    for each in said:
        assert each["listens"] or found.messages[each["message"]].content == each["text"]
    assert [each["name"] for each in block.data["calls"]] == ["rename"]
    assert block.data["faults"][0]["text"].startswith("did not stop when the user interrupted at 00:")
    json.dumps(block.data)


def test_ticks_of_others_are_drawn_likewise() -> None:
    agent = {"content": "Hello.", "utterance_ids": ["a"]}
    ticks: list[dict[str, Any]] = [
        {"agent_chunk": agent},
        {},
        {"user_chunk": {"content": "Hi.", "utterance_ids": ["u"]}},
    ]
    found = Simulation(id="1", task_id="t", termination_reason="user_stop", duplex={"ticks": ticks})
    assert capability.trajectory is not None
    made = capability.trajectory(found.duplex, {})
    (block,) = blocks(made.facts, found.model_copy(update={"messages": made.messages}))
    said = block.data["utterances"]
    assert [(each["side"], each["text"], each["message"]) for each in said] == [
        ("agent", "Hello.", 0),
        ("user", "Hi.", 1),
    ]
    assert list(blocks(made.facts, found.model_copy(update={"duplex": None}))) == []


@pytest.mark.exhaustive
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and $CHROMIUM names none")
@pytest.mark.parametrize("width", [1400, 390])
def test_the_timeline_leads_to_messages_at_both_widths(domain: Domain, tmp_path: Path, width: int) -> None:
    binary = chromium()
    assert binary is not None
    found = trial(domain)
    run = run_folder(tmp_path / "run", line(found, WANTED))
    report(tmp_path / "r.html", domain, run)
    with browser(binary) as page:
        page.size(width, 900)
        page.open(tmp_path / "r.html", "#/0")
        page.wait_for("document.querySelectorAll('.box svg g[role=link]').length > 0")
        assert page.text(".box h3") == "Timeline"
        # No utterance is wider than the page, and the page does not scroll sideways.
        assert page.js("document.documentElement.scrollWidth <= innerWidth")
        links = page.js("document.querySelectorAll('.box svg g[role=link]').length")
        assert links >= len(found.messages) - 2
        page.js("document.querySelector('.box svg g[role=link]').dispatchEvent(new MouseEvent('click'))")
        assert page.js("document.activeElement.id") == "A-message-0"
        assert page.complaints == []
