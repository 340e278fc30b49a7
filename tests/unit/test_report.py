"""The report: its content, that no text in it is executed, and that it needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from trial_records import write_records

from pytest_tau.cli import main
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Attribution, ModelUsage, Notes, RewardInfo, Simulation
from pytest_tau.reports.html import write_report
from pytest_tau.runs.make_record import make_record
from pytest_tau.runs.reader import Run

from . import tiny
from .report_pages import CRITERIA, GREETING, WISH, OneDomain, bad, good, line, report, run_folder, simulated

if TYPE_CHECKING:
    from pytest_tau.environment import Domain
    from pytest_tau.models import Task

WANTED = tiny.task(CRITERIA)
VANISHED = {"env_type": "assistant", "func_name": "vanished", "arguments": {}}


@pytest.fixture
def shown(tmp_path: Path, domain: Domain) -> Any:
    """What the page has of one conversation."""

    def make(simulation: Any, task: Task | None = WANTED, name: str = "tiny") -> dict[str, Any]:
        run = run_folder(tmp_path / "run", line(simulation, task, name))
        return report(tmp_path / "r.html", domain, run).conversation(0)

    return make


def of_kind(talk: dict[str, Any], kind: str) -> list[tuple[Any, ...]]:
    return [
        (one["text"], one["met"], one["gates"], one["message_idx"]) for one in talk["checks"] if one["kind"] == kind
    ]


# A conversation


def test_messages_are_in_order_and_results_stand_with_their_calls(shown: Any, domain: Domain) -> None:
    talk = shown(good(domain, WANTED))
    told = [(one["message_idx"], one["role"], one["text"], one.get("calls", [])) for one in talk["messages"]]
    assert told == [
        (0, "assistant", "Hello. What can I do?", []),
        (1, "user", "Make my lamp a torch.", []),
        (2, "assistant", "", [0, 1]),
        (5, "assistant", "", [2]),
        (7, "assistant", "It is a Torch now, for 42.", []),
        (8, "user", "", [3]),
        (10, "user", "Thanks. ###STOP###", []),
    ]
    assert [(one["name"], one["by"], one["message_idx"], one["error"]) for one in talk["calls"]] == [
        ("rename", "assistant", 2, False),
        ("look", "assistant", 2, False),
        ("price", "assistant", 5, False),
        ("switch", "user", 8, False),
    ]
    assert talk["calls"][0]["arguments"] == [["item_id", '"lamp"'], ["name", '"Torch"']]
    assert [talk["calls"][2]["result"], talk["calls"][3]["result"]] == ["priced", "on"]


def test_each_call_has_what_it_changed(shown: Any, domain: Domain) -> None:
    talk = shown(
        simulated(
            domain,
            WANTED,
            GREETING,
            tiny.agent(tiny.call("rename", item_id="lamp", name="Torch")),
            tiny.agent(tiny.call("look", item_id="lamp")),
            tiny.agent(tiny.call("add", item_id="mug", tags=["new"])),
            tiny.agent(tiny.call("remove", item_id="desk")),
            tiny.agent(tiny.call("count", by=3)),
            tiny.agent(tiny.call("remove", item_id="nothing")),
            tiny.user("###STOP###"),
        )
    )
    changes = [one["changes"] for one in talk["calls"]]
    assert changes[0] == [["agent", "items/lamp/name", '"Lamp"', '"Torch"']]
    assert changes[1] == changes[5] == []
    assert changes[2][0][:3] == ["agent", "items/mug", None]
    assert json.loads(changes[2][0][3])["tags"] == ["new"]
    assert changes[3][0][0:2] == ["agent", "items/desk"]
    assert changes[3][0][3] is None
    assert changes[4] == [["agent", "counter", "0", "3"], ["user", "phone/shown", "0", "3"]], "the sync's change, too"
    assert talk["note"] is None


def test_a_failing_call_that_changed_something_shows_it(shown: Any, domain: Domain) -> None:
    half = tiny.agent(tiny.call("half_done", item_id="lamp"))
    (call,) = shown(simulated(domain, WANTED, GREETING, half, tiny.STOP))["calls"]
    assert (call["error"], call["result"]) == (True, "Error: only half done")
    assert call["changes"] == [["agent", "items/lamp/name", '"Lamp"', '"half done"']]


def test_met_checks_are_shown_at_their_turn(shown: Any, domain: Domain) -> None:
    talk = shown(good(domain, WANTED))
    assert of_kind(talk, "DB") == [("the databases end in the state that the reference actions produce", True, True, 8)]
    assert of_kind(talk, "ENV_ASSERTION") == [
        ("user: phone_on()", True, True, 8),
        ('assistant: named(item_id="lamp", name="Torch")', True, True, 2),
    ]
    assert of_kind(talk, "COMMUNICATE") == [("torch", True, True, 7), ("42", True, True, 7)]
    assert [(check[1:]) for check in of_kind(talk, "ACTION")] == [(True, False, 2), (True, False, 5), (True, False, 8)]
    assert talk["verdict"]["breakdown"] == [["DB", 1.0], ["ENV_ASSERTION", 1.0], ["COMMUNICATE", 1.0]]


def test_broken_checks_are_shown_at_their_turn(shown: Any, domain: Domain) -> None:
    talk = shown(bad(domain, WANTED))
    assert of_kind(talk, "ENV_ASSERTION")[0] == ("user: phone_on()", False, True, 8), "switched on at 6, off at 8"
    assert of_kind(talk, "COMMUNICATE") == [("torch", True, True, 10), ("42", False, True, None)]
    price = [check for check in talk["checks"] if check["text"].startswith("price")]
    assert [(one["met"], one["message_idx"], one["note"]) for one in price] == [
        (False, 4, "made with other arguments: price")
    ]
    paths = [(side, path, expected, got) for side, path, expected, got in talk["differences"]]
    assert ("agent", "items/lamp/price", "5.0", "7") in paths
    assert ("user", "phone/on", "true", "false") in paths


def test_a_wrong_database_is_placed_at_its_turning_point(shown: Any, domain: Domain) -> None:
    wanted = tiny.task({"actions": [tiny.action("rename", item_id="lamp", name="Torch")], "reward_basis": ["DB"]})
    wrong = tiny.agent(tiny.call("remove", item_id="desk"))
    right = tiny.agent(tiny.call("rename", item_id="lamp", name="Torch"))
    talk = shown(simulated(domain, wanted, GREETING, wrong, right, tiny.STOP), wanted)
    assert [check[1:] for check in of_kind(talk, "DB")] == [(False, True, 1)]
    assert talk["turning_point"]["message_idx"] == talk["blame"]["message_idx"] == 1
    assert talk["blame"]["party"] == "agent"


def test_a_write_that_never_came_is_at_no_turn(shown: Any, domain: Domain) -> None:
    talk = shown(simulated(domain, WANTED, GREETING, WISH, tiny.agent("A torch, 42."), tiny.STOP))
    assert [check[1:] for check in of_kind(talk, "DB")] == [(False, True, None)]
    assert talk["turning_point"]["kind"] == "missing"
    assert {one["note"] for one in talk["checks"] if one["kind"] == "ACTION"} == {"never called"}


def test_reference_actions_are_shown_next_to_the_calls(shown: Any, domain: Domain) -> None:
    talk = shown(bad(domain, WANTED))
    assert [(row["kind"], row["action"], row["call"], row["arguments"]) for row in talk["rows"]] == [
        ("matched", 0, 0, []),
        ("differs", 1, 1, ["price"]),
        ("matched", 2, 2, []),
        ("extra", None, 3, []),
    ]
    assert talk["actions"][1] == {
        "name": "price",
        "by": "assistant",
        "arguments": [["item_id", '"lamp"'], ["price", "5.0"]],
        "info": None,
    }


def test_an_action_that_was_not_made_follows_the_one_before_it(shown: Any, domain: Domain) -> None:
    messages = [GREETING, tiny.agent(tiny.call("look", item_id="lamp")), tiny.user(tiny.call("switch", "user"))]
    rows = shown(simulated(domain, WANTED, *messages, tiny.STOP))["rows"]
    assert [(row["kind"], row["action"], row["call"]) for row in rows] == [
        ("missing", 0, None),
        ("missing", 1, None),
        ("extra", None, 0),
        ("matched", 2, 1),
    ]


def test_one_call_may_be_two_actions_where_the_profile_says_so(shown: Any, domain: Domain) -> None:
    twice = tiny.task({"actions": [tiny.action("count", by=1), tiny.action("count", by=1)], "reward_basis": ["ACTION"]})
    rows = shown(simulated(domain, twice, GREETING, tiny.agent(tiny.call("count", by=1)), tiny.STOP), twice)["rows"]
    assert [(row["kind"], row["call"]) for row in rows] == [("matched", 0), ("matched", 0)]


def test_values_are_shown_unchanged(shown: Any, domain: Domain) -> None:
    """A browser would make 1 of 1.0, and 12345678901234567000 of a long integer."""
    odd = tiny.call("price", item_id="lamp", price=[1, 1.0, True, 12345678901234567891, "é", {"a": None}])
    talk = shown(simulated(domain, WANTED, GREETING, tiny.agent(odd), tiny.STOP))
    text = '[1, 1.0, true, 12345678901234567891, "é", {"a": null}]'
    assert talk["calls"][0]["arguments"][1] == ["price", text]
    assert talk["calls"][0]["changes"] == [["agent", "items/lamp/price", "10.0", text]]


def test_figures_that_json_lacks_do_not_break_the_page(shown: Any, domain: Domain) -> None:
    messages = [GREETING.model_copy(update={"cost": math.nan}), tiny.agent(tiny.call("count", by=1)), tiny.STOP]
    talk = shown(simulated(domain, WANTED, *messages))
    assert talk["messages"][0]["text"] == "Hello. What can I do?"


def test_malformed_calls_and_calls_without_results_are_shown(shown: Any, domain: Domain) -> None:
    broken = tiny.call("count")
    broken.malformed = "{by: 1"
    simulation = simulated(domain, WANTED, GREETING, tiny.agent(broken), termination_reason="agent_error")
    simulation.messages.append(tiny.agent(tiny.call("count", by=2)))
    first, last = shown(simulation)["calls"]
    assert first["malformed"] == "{by: 1"
    assert first["error"] is True
    assert last["result"] is None
    assert first["changes"] == last["changes"] == []


def test_task_is_shown_in_parts(shown: Any, domain: Domain) -> None:
    instructions = {"reason_for_call": "A lamp.", "known_info": "Its name.", "task_instructions": "Be brief."}
    wanted = tiny.task(CRITERIA, user_scenario={"persona": "In a hurry.", "instructions": instructions}, ticket="T-1")
    assert shown(good(domain, wanted), wanted)["task"] == [
        ["Persona", "In a hurry."],
        ["Why the user calls", "A lamp."],
        ["What the user knows", "Its name."],
        ["How the user acts", "Be brief."],
        ["Ticket", "T-1"],
    ]


def test_a_simulation_that_was_not_graded_is_shown(shown: Any, domain: Domain) -> None:
    lost = bad(domain, WANTED, termination_reason="infrastructure_error", reward_info=None, error="Model down.")
    talk = shown(lost)
    assert (talk["checks"], talk["verdict"], talk["error"]) == ([], None, "Model down.")
    assert [row["kind"] for row in talk["rows"]] == ["matched", "differs", "matched", "extra"]
    assert talk["blame"]["party"] == "provider"


# Where changes cannot be shown


@pytest.mark.parametrize(
    ("task", "name", "told"),
    [
        (WANTED, "elsewhere", "Changes to the environment are not shown: unknown domain 'elsewhere'; there is tiny."),
        (WANTED, "", "Changes to the environment are not shown: the domain is not known."),
        (None, "tiny", "Changes to the environment are not shown: the task is not known."),
        (
            tiny.task(CRITERIA, initial_state={"initialization_actions": [VANISHED]}),
            "tiny",
            "no function 'vanished'",
        ),
    ],
)
def test_reason_for_missing_changes_is_shown(
    shown: Any, domain: Domain, task: Task | None, name: str, told: str
) -> None:
    talk = shown(good(domain, WANTED), task, name)
    assert told in talk["note"]
    assert not any(call["changes"] for call in talk["calls"])
    assert len(talk["messages"]) == 7, "the conversation is shown all the same"
    assert of_kind(talk, "DB")[0][1:] == (True, True, None)


def test_changes_end_where_the_data_at_hand_is_another(shown: Any, domain: Domain) -> None:
    simulation = good(domain, WANTED)
    simulation.messages[6].error, simulation.messages[6].content = True, "Error: no item lamp"
    talk = shown(simulation)
    assert [bool(call["changes"]) for call in talk["calls"]] == [True, False, False, False]
    assert "From message 5 on" in talk["note"]
    assert "price failed in the conversation and succeeds on the available data" in talk["note"]


def test_results_that_differ_on_the_present_data_are_reported(shown: Any, domain: Domain) -> None:
    simulation = good(domain, WANTED)
    simulation.messages[6].content = "priced, and wrapped"
    talk = shown(simulation)
    assert talk["note"].startswith("One result of calls that change something is not as recorded")
    assert talk["calls"][3]["changes"]


def test_differences_are_looked_for_if_the_verdict_does_not_list_them(shown: Any, domain: Domain) -> None:
    graded = bad(domain, WANTED)
    assert graded.reward_info is not None
    paths = [each.path for each in graded.reward_info.db_diff or ()]
    ungraded = shown(graded.model_copy(update={"reward_info": None}))["differences"]
    assert [each[1] for each in shown(graded)["differences"]] == [each[1] for each in ungraded] == paths != []


# The overview


def trials(domain: Domain, outcomes: dict[str, str], **fields: Any) -> list[dict[str, Any]]:
    """Lines of trials: for each task ``p`` passed, ``f`` failed, ``e`` lost."""
    lines = []
    for task_id, letters in outcomes.items():
        wanted = tiny.task(CRITERIA, task_id=task_id)
        for trial, letter in enumerate(letters):
            lost = {"termination_reason": "infrastructure_error", "reward_info": None} if letter == "e" else {}
            made = (good if letter == "p" else bad)(domain, wanted, trial, **lost, **fields)
            lines.append(line(made, wanted))
    return lines


def test_denominators_are_shown(tmp_path: Path, domain: Domain) -> None:
    planned = {"tiny": {"a": 2, "b": 2, "c": 3}}
    excluded = {"the budget is spent": 1, "deselected": 5, "quarantined": 0}
    lines = trials(domain, {"a": "pf", "b": "pe"})
    run = run_folder(tmp_path / "run", *lines, planned=planned, excluded=excluded)
    assert report(tmp_path / "r.html", domain, run).data["runs"][0]["counts"] == {
        "planned": 7,
        "run": 3,
        "passed": 2,
        "failed": 1,
        "error": 1,
        "not_run": {"the budget is spent": 1, "session ended early": 2},
        "excluded": {"deselected": 5},
        "not_counted": 0,
        "restored": 0,
        "tasks": 2,
        "called_models": True,
    }


def test_a_run_whose_trials_are_all_excluded_has_no_rates(tmp_path: Path, domain: Domain) -> None:
    run = run_folder(tmp_path / "run", *trials(domain, {"a": "pf"}, excluded="fault of the user"))
    shown = report(tmp_path / "r.html", domain, run).data["runs"][0]
    assert (shown["counts"]["not_counted"], shown["rates"][0]["points"], shown["rates"][0]["strictly"]) == (2, [], None)


def test_planned_trials_are_unknown_if_the_run_does_not_record_them(tmp_path: Path, domain: Domain) -> None:
    counts = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *trials(domain, {"a": "p"})))
    assert counts.data["runs"][0]["counts"]["planned"] is None


def test_rates_have_intervals_and_leave_errors_out(tmp_path: Path, domain: Domain) -> None:
    lines = trials(domain, {"a": "pp", "b": "pf", "c": "ff", "d": "pe"})
    (rates,) = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *lines)).data["runs"][0]["rates"]
    first, second = rates["points"]
    assert (rates["domain"], rates["tasks"]) == ("tiny", 4)
    assert (first["k"], first["value"], first["tasks"]) == (1, 0.625, 4)
    assert 0 <= first["low"] < 0.625 < first["high"] <= 1
    # Of d, the lost trial decides.
    assert second == {"k": 2, "value": None, "low": 0.25, "high": 0.5, "tasks": 3}
    assert rates["strictly"] == 0.5


def test_rows_have_the_facts_of_each_trial(tmp_path: Path, domain: Domain) -> None:
    used = ModelUsage(model="m", calls=2, known_cost=0.5)
    fields = {"duration": 12.345, "model_usage": {"agent": used, "user": used}, "stop_token": "###STOP###"}
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *trials(domain, {"a": "f"}, **fields)))
    row = page.row(0)
    assert page.data["tasks"][row["task"]] == ["tiny", "a", {"actions": "3"}]
    checks = [page.data["texts"][check] for check in row["failed"]]
    assert checks == ["DB", "ENV_ASSERTION phone_on", "COMMUNICATE 42"]
    expected = {"trial": 0, "outcome": "failed", "reward": 0.0, "ended": "user_stop ###STOP###", "turns": 8, "calls": 4}
    assert expected.items() <= row.items()
    assert (row["cost"], row["duration"], row["failed_calls"], row["messages"]) == (1.0, 12.35, 0, 12)
    assert row["blame"] in ("agent", "user", "undecided")


def test_cost_is_the_sum_of_the_sides(tmp_path: Path, domain: Domain) -> None:
    lines = trials(domain, {"a": "p"}, agent_cost=0.25, user_cost=0.5)
    unknown = trials(domain, {"b": "p"})
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *lines, *unknown))
    assert [page.row(place)["cost"] for place in range(2)] == [0.75, None]


def test_a_run_without_simulations_gives_a_page(tmp_path: Path, domain: Domain) -> None:
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run"))
    assert (page.data["runs"][0]["rows"], page.data["runs"][0]["rates"]) == ([], [])


def test_what_cannot_be_read_is_listed(tmp_path: Path, domain: Domain) -> None:
    run = run_folder(tmp_path / "run", *trials(domain, {"a": "p"}), {"task_id": "b", "domain": "tiny"})
    written = write_report(tmp_path / "r.html", [run], OneDomain(domain))
    assert written.simulations == 1
    assert "no conversation" in written.problems[0]


# Two runs


def test_matching_trials_are_shown_side_by_side(tmp_path: Path, domain: Domain) -> None:
    first = run_folder(tmp_path / "a", *trials(domain, {"a": "pf", "b": "p"}))
    second = run_folder(tmp_path / "b", *trials(domain, {"c": "p", "a": "fp"}))
    page = report(tmp_path / "r.html", domain, first, second)
    names = [[page.data["tasks"][page.row(place, run)["task"]][1] for place in range(3)] for run in (0, 1)]
    assert names == [["a", "a", "b"], ["c", "a", "a"]]
    assert page.data["pairs"] == [[0, 1, 2], [1, 2, 2], [2, None, None], [None, 0, None]]


def test_a_trial_that_several_tests_have_is_paired_in_order(tmp_path: Path, domain: Domain) -> None:
    simulation = good(domain, WANTED)
    lines = [line(simulation, WANTED, test=test) for test in ("x", "y")]
    runs = [run_folder(tmp_path / name, *lines) for name in ("a", "b")]
    assert report(tmp_path / "r.html", domain, *runs).data["pairs"] == [[0, 0, None], [1, 1, None]]


def pair(tmp_path: Path, domain: Domain, one: Any, other: Any) -> int | None:
    """Where two conversations part."""
    runs = [run_folder(tmp_path / name, line(each, WANTED)) for name, each in (("a", one), ("b", other))]
    return report(tmp_path / "r.html", domain, *runs).data["pairs"][0][2]


def test_conversations_part_at_the_first_message_that_differs(tmp_path: Path, domain: Domain) -> None:
    one, other = good(domain, WANTED), good(domain, WANTED)
    assert pair(tmp_path, domain, one, other) is None
    other.messages[7].content = "Done: a torch, 42."
    assert pair(tmp_path, domain, one, other) == 7
    other.messages[2].tool_calls[0].arguments["name"] = "torch"
    assert pair(tmp_path, domain, one, other) == 2


def test_ids_times_and_costs_do_not_part_them(tmp_path: Path, domain: Domain) -> None:
    one, other = good(domain, WANTED), good(domain, WANTED)
    for number, message in enumerate(other.messages):
        message.timestamp = "2030"
        if message.role == "tool":
            message.id = f"x{number}"
        else:
            message.cost = 7.0
            for call in message.tool_calls or []:
                call.id = f"y{number}"
    assert pair(tmp_path, domain, one, other) is None


def test_they_part_where_one_has_ended(tmp_path: Path, domain: Domain) -> None:
    one, other = good(domain, WANTED), good(domain, WANTED)
    del other.messages[8:]
    assert pair(tmp_path, domain, one, other) == 8


def test_a_run_of_records_alone_is_shown_and_compared(tmp_path: Path, domain: Domain) -> None:
    lines = trials(domain, {"a": "pf"})
    full = run_folder(tmp_path / "full", *lines)
    blessed = tmp_path / "blessed"
    write_records(blessed, [make_record(one.simulation, one.task, one.domain) for one in full.trials()])
    page = report(tmp_path / "r.html", domain, Run(blessed), full)
    assert [run["kept"] for run in page.data["runs"]] == [False, True]
    assert page.data["pairs"] == [[0, 0, None], [1, 1, None]]
    assert page.row(0, 0)["outcome"] == page.row(0, 1)["outcome"] == "passed"
    assert "c0-0" not in page.parsed.scripts


# Harmless, alone, repeatable


HOSTILE = '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"><!--{{script}}\u2028\ud800'


def hostile_run(folder: Path, domain: Domain) -> Run:
    """A run in which everybody says, calls, is and knows something hostile."""
    wanted = tiny.task(
        CRITERIA | {"communicate_info": [HOSTILE]},
        task_id=HOSTILE.replace("\ud800", ""),  # a lone surrogate in an id is refused
        user_scenario={"persona": HOSTILE, "instructions": HOSTILE},
        annotations={"tags": [HOSTILE]},
    )
    messages = [
        tiny.agent(HOSTILE),
        tiny.agent(tiny.call("rename", item_id="lamp", name=HOSTILE), tiny.call(HOSTILE, **{HOSTILE: HOSTILE})),
        tiny.user(HOSTILE + "###STOP###"),
    ]
    simulation = simulated(domain, wanted, *messages, error=HOSTILE, seed=1)
    simulation.info = Notes(blame=Attribution("agent", HOSTILE, 0, HOSTILE), others={HOSTILE: HOSTILE})
    return run_folder(folder, line(simulation, wanted), settings={"agent": HOSTILE})


def test_hostile_texts_are_texts(tmp_path: Path, domain: Domain) -> None:
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    page = report(tmp_path / "r.html", domain, hostile_run(folder, domain))
    assert page.parsed.tags.count("script") == 3, "the data, the script, one block"
    assert "img" not in page.parsed.tags
    assert "<!--" not in page.text
    assert page.conversation(0)["messages"][0]["text"].startswith("</script><script>")
    assert page.data["runs"][0]["name"] == folder.name
    assert not any(name.startswith("on") for _, name, _ in page.parsed.attributes)


def test_the_page_allows_its_own_script_and_style_and_nothing_else(tmp_path: Path, domain: Domain) -> None:
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *trials(domain, {"a": "p"})))
    (policy,) = [
        value for tag, name, value in page.parsed.attributes if tag == "meta" and name == "content" and "src" in value
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for kind, text in (("script", page.parsed.scripts["script"]), ("style", page.parsed.styles[0])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert not any("unsafe" in rule for rule in rules.values())


def test_the_page_names_no_address(tmp_path: Path, domain: Domain) -> None:
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *trials(domain, {"a": "p"})))
    linked = [value for _, name, value in page.parsed.attributes if name in ("src", "href", "action", "data")]
    assert set(linked) == {"#simulations", "data:,"}
    code = page.parsed.scripts["script"] + page.parsed.styles[0]
    assert re.findall(r"https?://[^\"'\s]+", code) == ["http://www.w3.org/2000/svg"], "a name, which nobody looks up"
    for word in ("fetch(", "XMLHttpRequest", "import(", "innerHTML", "outerHTML", "insertAdjacent", "eval(", "@import"):
        assert word not in code


def test_the_same_run_gives_the_same_page(tmp_path: Path, domain: Domain) -> None:
    run = run_folder(tmp_path / "run", *trials(domain, {"a": "pf", "b": "e"}))
    report(tmp_path / "one.html", domain, run)
    report(tmp_path / "two.html", domain, Run(tmp_path / "run"))
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_secrets_stay_out(tmp_path: Path, domain: Domain) -> None:
    secret = "sk-abcdefghijklmnopqrstuv"
    settings = {
        "agent": f"https://someone:{secret}@models.example/v1?key={secret}",
        "agent_llm": "openai/m",
        "agent_llm_args": {"api_key": secret, "extra_headers": {"X": secret}},
        "of_tomorrow": secret,
    }
    error = f"401: Incorrect API key provided: {secret}; Authorization: Bearer {secret}; https://me:{secret}@host/"
    lost = {"termination_reason": "infrastructure_error", "reward_info": None, "error": error}
    lines = [line(bad(domain, WANTED, **lost), WANTED)]
    page = report(tmp_path / "r.html", domain, run_folder(tmp_path / "run", *lines, settings=settings))
    talk = page.conversation(0)
    assert secret not in page.text
    assert secret not in json.dumps(talk)
    assert talk["error"].startswith("401: Incorrect API key provided")
    assert page.data["runs"][0]["about"] == [["Agent", "https://***@models.example/v1"], ["Agent model", "openai/m"]]


@pytest.mark.parametrize(
    "manifest",
    [
        {"agent_info": {"implementation": "llm_agent_solo"}, "user_info": {"implementation": "dummy_user", "llm": "m"}},
        {"settings": {"agent": "llm_agent_solo", "user": "dummy"}},
    ],
    ids=["tau2", "own"],
)
def test_an_agent_that_works_alone_has_no_user(tmp_path: Path, domain: Domain, manifest: dict[str, Any]) -> None:
    page = report(
        tmp_path / "r.html", domain, run_folder(tmp_path / "run", line(good(domain, WANTED), WANTED), **manifest)
    )
    assert page.data["runs"][0]["about"] == [["Agent", "llm_agent_solo"]]


@pytest.mark.exhaustive
def test_conversations_are_not_kept_in_memory(tmp_path: Path) -> None:
    """A report of 40 conversations of 1 MB takes far less than 40 MB."""
    simulations = [
        Simulation(
            id=f"{number}",
            task_id=f"{number}",
            termination_reason="user_stop",
            messages=[tiny.user(f"{number} " + "x" * 1_000_000)],
            reward_info=RewardInfo(reward=1.0),
        )
        for number in range(40)
    ]
    run_folder(tmp_path / "run", *(line(each, WANTED, "mock") for each in simulations))
    run_folder(tmp_path / "small", line(simulations[0].model_copy(update={"messages": []}), WANTED, "mock"))
    code = """
        import tracemalloc
        from pytest_tau.cli import main
        assert main(["view", "small"]) == 0  # everything is imported, and pytest's plugins are loaded
        tracemalloc.start()
        assert main(["view", "run"]) == 0
        print(tracemalloc.get_traced_memory()[1])
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    # One of them, as it is read, as objects and as text.
    assert int(done.stdout.splitlines()[-1]) < 15_000_000


def test_a_report_appears_whole_or_not_at_all(tmp_path: Path, domain: Domain) -> None:
    class Broken(Run):
        def trials(self) -> Any:
            yield next(super().trials())
            raise OSError("the disk is gone")

    run_folder(tmp_path / "run", *trials(domain, {"a": "p"}))
    file = tmp_path / "deep" / "r.html"
    with pytest.raises(OSError, match="the disk is gone"):
        write_report(file, [Broken(tmp_path / "run")], OneDomain(domain))
    assert list(file.parent.iterdir()) == []


def test_a_run_that_breaks_in_the_middle_is_refused(tmp_path: Path, domain: Domain) -> None:
    class Broken(Run):
        def trials(self) -> Any:
            yield next(super().trials())
            raise ConfigurationError("line 2 is none of ours")

    run_folder(tmp_path / "run", *trials(domain, {"a": "p"}))
    with pytest.raises(ConfigurationError, match="line 2"):
        write_report(tmp_path / "r.html", [Broken(tmp_path / "run")], OneDomain(domain))


# tau view


@pytest.fixture
def tau(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAU_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*args: str) -> tuple[int, list[str], str]:
        status = main(args)
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err

    return run


def kept(name: str, *outcomes: float) -> Path:
    """A run's folder below .tau/runs of the current folder, of the mock domain."""
    entries = [
        {"test": f"t{n}", "domain": "mock", "id": f"{n}", "task_id": f"task {n}", "termination_reason": "user_stop"}
        | {"messages": [{"role": "user", "content": "###STOP###"}], "reward_info": {"reward": reward}}
        for n, reward in enumerate(outcomes)
    ]
    folder = Path(".tau", "runs", name)
    run_folder(folder, *entries)
    return folder


def test_the_latest_run_is_shown_in_its_folder(tau: Any) -> None:
    kept("20260101-000000-1-mock", 1.0)
    latest = kept("20260102-000000-1-mock", 1.0, 0.0)
    status, out, err = tau("view")
    assert (status, err) == (0, "")
    file = (latest / "report.html").resolve()
    assert out[0] == "2 simulations of 20260102-000000-1-mock:"
    assert Path(out[1]).resolve() == file
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_run_is_named_and_the_file_too(tau: Any) -> None:
    kept("one", 1.0)
    kept("two", 1.0, 0.0)
    status, out, _ = tau("view", "one", "--out", "deep/page.html")
    assert (status, out) == (0, ["1 simulation of one:", "deep/page.html"])
    assert Path("deep/page.html").is_file()


def test_two_runs_are_shown_side_by_side(tau: Any) -> None:
    kept("one", 1.0)
    kept("two", 0.0)
    status, out, _ = tau("view", "one", "two")
    assert (status, out[0]) == (0, "2 simulations of one and two:")
    assert Path(out[1]).name == "report-vs-two.html"
    assert '"pairs":[[0,0,null]]' in Path(out[1]).read_text(encoding="utf-8")


def test_the_report_of_a_result_file_is_put_here(tau: Any) -> None:
    source = kept("one", 1.0) / "simulations.jsonl"
    Path("elsewhere").mkdir()
    source.rename("elsewhere/results.jsonl")
    status, out, _ = tau("view", "elsewhere/results.jsonl")
    assert status == 0
    assert Path(out[1]).is_file()
    assert list(Path("elsewhere").iterdir()) == [Path("elsewhere/results.jsonl")]


def test_command_reports_unreadable_files(tau: Any) -> None:
    folder = kept("one", 1.0)
    with (folder / "simulations.jsonl").open("a") as file:
        file.writelines(json.dumps({"test": f"x{n}", "domain": "mock", "task_id": f"{n}"}) + "\n" for n in range(7))
    status, out, _ = tau("view", "one")
    assert status == 0
    assert sum(line.startswith("excluded: ") for line in out) == 5
    assert "and 2 more excluded" in out


def test_it_is_opened_when_asked(tau: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    kept("one", 1.0)
    tau("view", "one")
    assert opened == []
    tau("view", "one", "--open")
    assert opened == [Path(".tau/runs/one/report.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("args", "told"), [(["none"], "'none'"), ([], "no run is stored"), (["one", "--data", "x"], "--data")]
)
def test_invalid_command_is_reported(tau: Any, args: list[str], told: str) -> None:
    if args[:1] == ["one"]:
        kept("one", 1.0)
    status, out, err = tau("view", *args)
    assert (status, out) == (2, [])
    assert err.startswith("tau view: ")
    assert told in err
