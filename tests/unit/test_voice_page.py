"""The timeline in the HTML report: what it is drawn of, and the drawing in a headless Chromium at both widths."""

from __future__ import annotations

import json
import wave
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import SimulationSettings
from pytest_tau.capabilities.voice import capability
from pytest_tau.capabilities.voice.page import page as blocks
from pytest_tau.capabilities.voice.participants import Manners
from pytest_tau.models import Simulation
from pytest_tau.reports.html.capability_blocks import ShownBlocks
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
    assert capability.duplex is not None
    made = capability.duplex().trajectory(found.duplex, {})
    (block,) = blocks(made.facts, found.model_copy(update={"messages": made.messages}))
    said = block.data["utterances"]
    assert [(each["side"], each["text"], each["message"]) for each in said] == [
        ("agent", "Hello.", 0),
        ("user", "Hi.", 1),
    ]
    assert list(blocks(made.facts, found.model_copy(update={"duplex": None}))) == []


def with_sound(found: Simulation, file: Path) -> Simulation:
    """The trial as one whose sound, a tone, was kept in a file."""
    facts = capability.read(found.facts)
    seconds = facts.timeline.ticks * facts.tick_seconds
    file.parent.mkdir(exist_ok=True)
    with wave.open(str(file), "wb") as sound:
        sound.setnchannels(2)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(range(0, 200, 2)) * int(seconds * 320))
    return found.model_copy(update={"facts": {"voice": {**found.facts["voice"], "sound": file.as_posix()}}})


def test_the_page_has_the_address_of_the_sound_while_the_file_is_there(domain: Domain, tmp_path: Path) -> None:
    found = with_sound(trial(domain), tmp_path / "a sound" / "1.wav")
    blocks_of = [("voice", block) for block in blocks(capability.read(found.facts), found)]
    (shown,) = ShownBlocks([], tmp_path / "reports").as_json(blocks_of)
    assert shown["media"] == "../a%20sound/1.wav"
    (tmp_path / "a sound" / "1.wav").unlink()
    (shown,) = ShownBlocks([], tmp_path / "reports").as_json(blocks_of)
    assert shown["media"] is None


@pytest.mark.exhaustive
@pytest.mark.skipif(chromium() is None, reason="there is no Chromium on the path, and $CHROMIUM names none")
@pytest.mark.parametrize("width", [1400, 390])
def test_the_timeline_follows_the_sound_and_leads_to_messages(domain: Domain, tmp_path: Path, width: int) -> None:
    binary = chromium()
    assert binary is not None
    found = with_sound(trial(domain), tmp_path / "sound" / "1.wav")
    report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", line(found, WANTED)))
    with browser(binary) as page:
        page.size(width, 900)
        page.open(tmp_path / "r.html", "#/0")
        page.wait_for("document.querySelector('.box audio')?.readyState >= 1")
        assert page.text(".box h3") == "Timeline"
        assert page.js("document.querySelector('.box audio').paused")
        assert page.js("document.querySelector('.playhead').getAttribute('visibility')") == "hidden"
        places = []
        for seconds in (1, 5, 20):
            page.js(f"document.querySelector('.box audio').currentTime = {seconds}")
            page.wait_for(f"document.querySelector('.box audio').currentTime === {seconds}")
            page.wait_for("!document.querySelector('.box audio').seeking")
            page.wait_for("document.querySelector('.playhead').getAttribute('visibility') === 'visible'")
            places.append(page.js("['y1', 'x1'].map((at) => +document.querySelector('.playhead').getAttribute(at))"))
        assert places == sorted(places)
        assert len({tuple(place) for place in places}) == len(places)
        # No utterance is wider than the page, and the page does not scroll sideways.
        assert page.js("document.documentElement.scrollWidth <= innerWidth")
        links = page.js("document.querySelectorAll('.box svg g[role=link]').length")
        assert links >= len(found.messages) - 2
        page.js("document.querySelector('.box svg g[role=link]').dispatchEvent(new MouseEvent('click'))")
        assert page.js("document.activeElement.id") == "A-message-0"
        assert page.complaints == []
