"""Words for the user's tools that a domain gives none for."""

from __future__ import annotations

from typing import Any, Literal

import pytest

import pytest_tau
from pytest_tau.environment import Spoken, Toolkit, tool
from pytest_tau.language.parser import parse
from pytest_tau.participants.scripted.device import Device


class House(Toolkit[Any]):
    """A house of which nobody has said how people ask for it."""

    @tool("write")
    def open_valve(self) -> None:
        """Turn the valve until it is open."""

    @tool("write")
    def close_valve(self) -> None:
        """Close the valve."""

    @tool("read")
    def valve_status(self) -> None:
        """Check the status of the valve."""

    @tool("write")
    def turn_on_light(self) -> None:
        """Turn on the light."""

    @tool("write")
    def turn_off_light(self) -> None:
        """Extinguish the light."""

    @tool("read")
    def look_at_card(self) -> None:
        """Read whether your card is valid."""

    @tool("write")
    def set_mode(self, mode: Literal["eco", "full_power"]) -> None:
        """Set the mode of the boiler."""

    @tool("write")
    def set_temperature(self, degrees: int) -> None:
        """Set the temperature."""

    @tool("write")
    def restart(self) -> None:
        """Restart the boiler."""


def steps(text: str, spoken: dict[str, Spoken] | None = None) -> list[tuple[str, dict[str, Any]]]:
    device = Device(list(House.tools().values()), spoken or {})
    return [(step.tool, step.arguments) for step in device.steps(parse(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please open the valve.", ["open_valve"]),
        ("Please **open the valve**.", ["open_valve"]),
        ("Open the main garden valve, please.", ["open_valve"]),
        ("Please turn the valve.", ["open_valve"]),
        ("I need you to open the valve.", ["open_valve"]),
        ("Would you open the valve for me?", ["open_valve"]),
        ("You can close the valve now.", ["close_valve"]),
        ("If it leaks, close the valve.", ["close_valve"]),
        ("Could you close the valve and then check the valve status?", ["close_valve", "valve_status"]),
        ("Please check the status of the valve.", ["valve_status"]),
        ("Please turn the light on.", ["turn_on_light"]),
        ("Turn off the light in the hall.", ["turn_off_light"]),
        ("Could you look at your library card?", ["look_at_card"]),
        ("1. Open the valve\n2. Turn on the light", ["open_valve", "turn_on_light"]),
        ("Please restart.", ["restart"]),
    ],
)
def test_an_instruction_names_the_tool(text: str, expected: list[str]) -> None:
    assert [name for name, _ in steps(text)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "Did you open the valve?",
        "Have you opened the valve?",
        "I will open the valve.",
        "The technician will open the valve.",
        "Do not open the valve.",
        "Are you willing to open the valve?",
        "Is the valve open?",
        "The valve has been closed.",
        "Open the app. Check the valve.",
        "Please open the app on your phone and then look for the valve.",
        "Please check the status of your order.",
    ],
)
def test_other_sentences_ask_for_nothing(text: str) -> None:
    assert steps(text) == []


def test_values_of_an_enum_are_understood() -> None:
    assert steps("Please set the mode to full power.") == [("set_mode", {"mode": "full_power"})]
    assert steps("Please set the mode.") == [("set_mode", {})]


def test_a_value_at_the_end_of_a_sentence() -> None:
    assert steps("Set the temperature: degrees=21.") == [("set_temperature", {"degrees": 21})]
    assert steps("Set the temperature: degrees=-2.5.") == [("set_temperature", {"degrees": -2.5})]


def test_the_words_of_a_domain_replace_derived_ones() -> None:
    spoken = {"open_valve": Spoken(("turn tap",)), "close_valve": Spoken()}
    assert steps("Please open the valve.", spoken) == []
    assert steps("Please turn the tap.", spoken) == [("open_valve", {})]
    assert steps("Please close the valve.", spoken) == []
    assert steps("Please call close_valve.", spoken) == [("close_valve", {})]
    assert steps("Please turn the light on.", spoken) == [("turn_on_light", {})]


def test_telecom_has_words_for_each_tool_of_the_user() -> None:
    spec = pytest_tau.load_domain("telecom").spec
    assert spec.user_tools is not None
    assert set(spec.user_tools.tool_infos) <= set(spec.spoken)
