from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pytest_tau.errors import ConfigurationError
from pytest_tau.models.messages import STOP_TOKENS
from pytest_tau.participants import ParticipantContext, Prompting
from pytest_tau.participants.prompts import built_in, load_prompt, official_guidelines, resolution_steps, system_message
from pytest_tau.protocol import fill, literal

from .tiny import TinyTools, action, task

TOOLS = list(TinyTools.tools().values())[:1]
OFFICIAL = Path(__file__).parents[3] / "shared" / "tau2-data"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "mine.md"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def for_user(prompting: Prompting, scenario: str = "You want a lamp.", *, tools: bool = False) -> str:
    context = ParticipantContext("user", TOOLS if tools else [], scenario, task(), prompting=prompting)
    return system_message(context, "ours: {{scenario}}", {"scenario": scenario})


# Files


@pytest.mark.parametrize(
    ("side", "text"),
    [
        ("agent", "Do as it says: {{policy}}"),
        ("agent", "{{ policy }} {{steps}} twice: {{policy}}"),
        ("user", "You are: {{scenario}}"),
        ("user", "é {{scenario}} {{open}}name}} { } {{ 'no': placeholder }}"),
    ],
)
def test_a_prompt_is_the_text_of_its_file(tmp_path: Path, side: Any, text: str) -> None:
    assert load_prompt(written(tmp_path, f"\n{text}\n"), side) == text
    assert load_prompt(str(written(tmp_path, b"\xef\xbb\xbf" + text.encode())), side) == text


@pytest.mark.parametrize(
    ("side", "text", "told"),
    [
        ("agent", "", "mine.md is empty"),
        ("agent", " \n\t", "mine.md is empty"),
        ("agent", b"\xff\xfe{{policy}}", r"mine.md is not UTF-8 text: .* \(line 1, column 1\)"),
        ("agent", "Be nice.", r"mine.md lacks \{\{policy\}\}"),
        ("agent", "{{steps}}", r"mine.md lacks \{\{policy\}\}"),
        ("user", "Be nice. {policy}", r"mine.md lacks \{\{scenario\}\}"),
        (
            "agent",
            "{{policy}} {{tools}}",
            r"unknown placeholder \{\{tools\}\}: expected \{\{policy\}\}, \{\{steps\}\};",
        ),
        ("agent", "{{policy}} {{ poli-cy }}", r"unknown placeholder \{\{poli-cy\}\}"),
        ("user", "{{scenario}} {{policy}}", r"unknown placeholder \{\{policy\}\}: expected \{\{scenario\}\}; .*open"),
    ],
)
def test_invalid_prompt_file_is_named(tmp_path: Path, side: Any, text: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        load_prompt(written(tmp_path, text), side)


def test_unreadable_prompt_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"gone.md cannot be read: No such file"):
        load_prompt(tmp_path / "gone.md", "agent")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_prompt(tmp_path, "agent")


# Filling in


def test_values_are_filled_in_once_and_never_read_again() -> None:
    values = {"policy": "{{steps}} {{policy}} \\1 {{open}}", "steps": "{{policy}}"}
    assert fill("{{policy}} - {{ steps }}", values, "x") == "{{steps}} {{policy}} \\1 {{open}} - {{policy}}"


def test_braces_that_stand_for_themselves() -> None:
    assert fill("{{open}}name}} {{policy}} {x} {{ y z }}", {"policy": "p"}, "x") == "{{name}} p {x} {{ y z }}"


@pytest.mark.parametrize("text", ["{{scenario}}", "{{{scenario}}}", "{{{{scenario}}", "{{open}}", "{ {{ }} }", "{{{"])
def test_a_literal_text_comes_out_as_it_is(text: str) -> None:
    assert fill(f"{literal(text)} {{{{scenario}}}}", {"scenario": "s"}, "x") == f"{text} s"


def test_template_needs_exactly_the_known_placeholders() -> None:
    with pytest.raises(ConfigurationError, match=r"the prompt lacks \{\{policy\}\}, \{\{steps\}\}"):
        fill("nothing", {"policy": "", "steps": ""}, "the prompt")
    with pytest.raises(ConfigurationError, match=r"the prompt has an unknown placeholder \{\{steps\}\}"):
        fill("{{policy}} {{steps}}", {"policy": ""}, "the prompt")


def test_prompt_of_the_run_replaces_the_default() -> None:
    assert for_user(Prompting()) == "ours: You want a lamp."
    assert for_user(Prompting(prompt="theirs: {{scenario}}")) == "theirs: You want a lamp."
    with pytest.raises(ConfigurationError, match=r"the user's prompt 'mine.md' lacks"):
        for_user(Prompting(name="mine.md", prompt=""))


def test_a_prompt_for_sides_with_tools_is_for_those_only() -> None:
    both = Prompting(prompt="plain: {{scenario}}", tools_prompt="tools: {{scenario}}")
    assert for_user(both) == "plain: You want a lamp."
    assert for_user(both, tools=True) == "tools: You want a lamp."
    assert for_user(Prompting(prompt="plain: {{scenario}}"), tools=True) == "plain: You want a lamp."
    assert for_user(Prompting(tools_prompt="tools: {{scenario}}")) == "ours: You want a lamp."


# Ours


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("agent", {"policy"}),
        ("agent_solo", {"policy"}),
        ("agent_gt", {"policy", "steps"}),
        ("user", {"scenario"}),
        ("user_tools", {"scenario"}),
    ],
)
def test_default_templates_have_their_placeholders(name: str, holds: set[str]) -> None:
    text = built_in(name)
    assert set(re.findall(r"\{\{(\w+)\}\}", text)) == holds
    assert len(text) < 4000


@pytest.mark.parametrize("name", ["user", "user_tools"])
def test_our_users_know_every_stop_token(name: str) -> None:
    assert all(built_in(name).count(token) == 1 for token in STOP_TOKENS)


def test_our_lone_agent_knows_how_to_end() -> None:
    assert "`done`" in built_in("agent_solo")


# The official guidelines


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "user_simulator"
    folder.mkdir()
    (folder / "simulation_guidelines.md").write_text("Play {{scenario}} {nicely}.\n", encoding="utf-8")
    (folder / "simulation_guidelines_tools.md").write_text("Play {{open}} with {{{tools}}}.", encoding="utf-8")
    return tmp_path


def test_official_guidelines_are_taken_literally_and_followed_by_the_scenario(data: Path) -> None:
    prompting = official_guidelines(data)
    assert prompting is not None
    assert prompting.name == "official guidelines"
    scenario = "Say {{scenario}}."
    told = "\n\n<scenario>\nSay {{scenario}}.\n</scenario>"
    assert for_user(prompting, scenario) == "Play {{scenario}} {nicely}.\n" + told
    assert for_user(prompting, scenario, tools=True) == "Play {{open}} with {{{tools}}}." + told


@pytest.mark.parametrize("gone", ["simulation_guidelines.md", "simulation_guidelines_tools.md"])
def test_data_without_guidelines_have_none(data: Path, gone: str) -> None:
    (data / "user_simulator" / gone).unlink()
    assert official_guidelines(data) is None
    assert official_guidelines(str(data / "elsewhere")) is None


def test_invalid_guidelines_are_reported(data: Path) -> None:
    (data / "user_simulator" / "simulation_guidelines_tools.md").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=r"simulation_guidelines_tools.md is not UTF-8"):
        official_guidelines(data)


@pytest.mark.parity
@pytest.mark.skipif(not OFFICIAL.is_dir(), reason="needs the official data")
@pytest.mark.parametrize("tools", [False, True])
def test_the_official_guidelines_come_out_to_the_letter(*, tools: bool) -> None:
    prompting = official_guidelines(OFFICIAL)
    assert prompting is not None
    file = OFFICIAL / "user_simulator" / f"simulation_guidelines{'_tools' * tools}.md"
    text = file.read_text(encoding="utf-8")
    assert for_user(prompting, tools=tools) == f"{text}\n\n<scenario>\nYou want a lamp.\n</scenario>"


# Resolution steps


def test_the_steps_are_the_reference_actions_in_order() -> None:
    wanted = task({"actions": [action("rename", item_id="lamp", name="é"), action("switch", "user"), action("count")]})
    assert resolution_steps(wanted, with_arguments=True).splitlines() == [
        '1. rename(item_id="lamp", name="é")',
        "2. on the customer's side, ask them for it: switch()",
        "3. count()",
    ]
    assert resolution_steps(wanted, with_arguments=False).splitlines() == [
        "1. rename",
        "2. on the customer's side, ask them for it: switch",
        "3. count",
    ]


@pytest.mark.parametrize("criteria", [None, {"actions": None}, {"actions": []}])
def test_a_task_without_reference_actions_has_no_steps(criteria: Any) -> None:
    with pytest.raises(ConfigurationError, match="task 'bare' has no reference actions"):
        resolution_steps(task(criteria, task_id="bare"), with_arguments=True)
