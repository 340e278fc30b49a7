"""Stored and fresh verdicts: replay, comparison, reasons, rates, grading profiles, judges."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.analysis.metrics import Range
from pytest_tau.cli.regrade_output import TextReport
from pytest_tau.environment import tool
from pytest_tau.errors import ConfigurationError
from pytest_tau.evaluation import BUILT_IN_JUDGES, OFFICIAL, STRICT, Grading
from pytest_tau.models import RewardInfo
from pytest_tau.regrade.comparing import reward_differences
from pytest_tau.regrade.recognition import recognise_domain
from pytest_tau.regrade.regrade import TOGETHER, Part, RegradeSettings, differing_rules, regrade_file
from pytest_tau.regrade.result import FileReport, Regraded
from pytest_tau.reports.regraded_files import Rewritten, rewrite, targets
from pytest_tau.testing import ScriptedJudge

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_tau.environment import Domain

    Regrade = Callable[..., FileReport]


class Shelf:
    """Domains by name, for ``regrade_file``."""

    def __init__(self, **domains: Domain) -> None:
        self._domains = domains

    def names(self) -> list[str]:
        return sorted(self._domains)

    def load(self, name: str, run: object = None) -> Domain:
        if name not in self._domains:
            raise ConfigurationError(f"unknown domain {name!r}")
        return self._domains[name]


RENAME = {"item_id": "lamp", "name": "New"}
CRITERIA = {"actions": [tiny.action("rename", **RENAME)], "communicate_info": ["renamed"]}


def calls(*calls: tuple[str, dict[str, Any], str | None], requestor: str = "assistant") -> list[dict[str, Any]]:
    """Messages of calls with their results; None for one that was not recorded."""
    messages: list[dict[str, Any]] = []
    for number, (name, arguments, result) in enumerate(calls):
        call = {"id": f"call_{number}", "name": name, "arguments": arguments, "requestor": requestor}
        messages.append({"role": "assistant" if requestor == "assistant" else "user", "tool_calls": [call]})
        if result is not None:
            error = result.startswith("Error")
            messages.append(
                {"role": "tool", "id": call["id"], "content": result, "requestor": requestor, "error": error}
            )
    return messages


SAID = {"role": "assistant", "content": "I have renamed it."}
STOP = {"role": "user", "content": "###STOP###"}
LAMP = '{"item_id": "lamp", "name": "New", "price": 10.0, "tags": ["red"], "meta": {"sizes": [1, 2]}}'
RENAMED = calls(("rename", RENAME, LAMP))


def simulation(*messages: Any, reward: float | None = 1.0, **fields: Any) -> dict[str, Any]:
    """A stored simulation of the task ``t``."""
    stored = None if reward is None else {"reward": reward} | fields.pop("stored", {})
    ended = {"id": "s", "task_id": "t", "trial": 0, "termination_reason": "user_stop", "reward_info": stored}
    return ended | {"messages": [*messages, STOP]} | fields


@pytest.fixture
def regrade(tmp_path: Path, domain: Domain) -> Regrade:
    """Regrades simulations of the tiny domain."""

    def run(*simulations: Any, criteria: Any = CRITERIA, tasks: Any = None, **options: Any) -> FileReport:
        info = {"environment_info": {"domain_name": options.pop("named", "tiny")}} | options.pop("info", {})
        tasks = [tiny.raw_task("t", criteria)] if tasks is None else tasks
        (tmp_path / "r.json").write_text(json.dumps({"info": info, "tasks": tasks, "simulations": simulations}))
        return tiny.run(regrade_file(tmp_path / "r.json", RegradeSettings(**options), Shelf(tiny=domain)))

    return run


def only(report: FileReport) -> Regraded:
    assert report.unreadable == []
    (result,) = report.results
    return result


# Agreement


def test_a_verdict_that_is_the_same_agrees(regrade: Regrade) -> None:
    report = regrade(simulation(*RENAMED, SAID), simulation(SAID, reward=0.0, trial=1))
    assert (report.agreeing, report.differing, report.domain) == (2, [], "tiny")
    assert [result.fresh.reward for result in report.results] == [1.0, 0.0]
    assert [result.reasons for result in report.results] == [[], []]


def test_different_verdict_names_the_check(regrade: Regrade) -> None:
    stored = {"db_check": {"db_match": True, "db_reward": 1.0}, "communicate_checks": None}
    report = regrade(simulation(SAID, stored=stored))
    (result,) = report.differing
    assert result.reasons == [
        "DB: met as stored, not met now",
        '  agent items/lamp/name  expected "New", got "Lamp"',
    ]


NO_PHRASE = {"reward_breakdown": {"DB": 1.0, "COMMUNICATE": 0.0}}
OTHER_PHRASE = {"communicate_checks": [{"info": "done", "met": False, "justification": ""}]}
NAMED = {"env_assertion": tiny.check("named", item_id="lamp", name="New"), "met": True, "reward": 1.0}


@pytest.mark.parametrize(
    ("told", "reasons"),
    [
        (simulation(*RENAMED), ["phrase 'renamed': not met"]),
        (
            simulation(*RENAMED, SAID, reward=0.0),
            ["every check is met now; the file does not state which one was not met"],
        ),
        (simulation(*RENAMED, SAID, reward=0.0, stored=NO_PHRASE), ["COMMUNICATE: 0 as stored, met now"]),
        (
            simulation(*RENAMED, SAID, reward=0.0, stored=OTHER_PHRASE),
            ["phrase 'done': not met as stored, not checked now", "phrase 'renamed': not checked as stored, met now"],
        ),
        (
            simulation(*RENAMED, SAID, stored={"env_assertions": [NAMED]}),
            ["not compared: the stored verdict is about other assertions"],
        ),
    ],
    ids=["no-check-is-stored", "failed-without-checks", "component", "edited-task", "other-assertions"],
)
def test_a_difference_has_its_reasons(regrade: Regrade, told: dict[str, Any], reasons: list[str]) -> None:
    assert only(regrade(told)).reasons == reasons


def test_a_component_that_the_basis_no_longer_names_is_reported(regrade: Regrade) -> None:
    told = simulation(*RENAMED, SAID, reward=0.0, stored=NO_PHRASE)
    reasons = only(regrade(told, criteria=CRITERIA | {"reward_basis": ["DB"]})).reasons
    assert reasons == ["COMMUNICATE: 0 as stored, not graded now"]


def test_a_verdict_about_other_actions_is_not_compared_and_names_their_task(regrade: Regrade) -> None:
    other = tiny.action("remove", item_id="desk")
    tasks = [tiny.raw_task("t", CRITERIA), tiny.raw_task("u", {"actions": [other]})]
    checks = [{"action": other, "action_match": True, "action_reward": 1.0}]
    told = simulation(SAID, stored={"action_checks": checks})
    report = regrade(told, tasks=tasks)
    about = "the stored verdict is about other reference actions"
    assert only(report).reasons == [f"not compared: {about}, those of task u"]
    assert (report.differing, report.about_others) == ([], report.results)
    assert report.tally.uncompared == {about: 1}
    # Of two tasks with these actions, neither is named.
    twice = [*tasks, tiny.raw_task("v", {"actions": [other]})]
    assert only(regrade(told, tasks=twice)).reasons == [f"not compared: {about}"]
    # The task may have changed since; whoever asks for today's tasks wants the difference.
    right = simulation(*RENAMED, SAID, stored={"action_checks": [checks[0] | {"action": CRITERIA["actions"][0]}]})
    assert only(regrade(right, tasks=tasks)).agrees


def test_an_unknown_end_is_named_as_it_stands(regrade: Regrade) -> None:
    (reason, *_) = only(regrade(simulation(*RENAMED, SAID, termination_reason="Button.Pressed"))).reasons
    assert reason == (
        "ended by unexpected_error (ended by 'Button.Pressed', which is not a known reason): only a stop can earn more than 0"
    )


@pytest.mark.parametrize("reason", ["TerminationReason.USER_STOP", "USER_STOP", "user_stop"])
def test_a_member_of_an_enumeration_and_a_reward_as_text_are_read(regrade: Regrade, reason: str) -> None:
    told = simulation(*RENAMED, SAID, reward="1.0", termination_reason=reason)  # type: ignore[arg-type]
    result = only(regrade(told))
    assert (result.agrees, result.termination_reason) == (True, "user_stop")


def test_a_conversation_that_was_cut_off_earns_nothing(regrade: Regrade) -> None:
    result = only(regrade(simulation(*RENAMED, SAID, termination_reason="max_steps")))
    assert result.fresh.reward == 0.0
    assert result.reasons[0] == "ended by max_steps: only a stop can earn more than 0"


def test_what_has_no_stored_reward_is_graded_and_not_compared(regrade: Regrade) -> None:
    report = regrade(simulation(*RENAMED, SAID, reward=None))
    result = only(report)
    assert (result.fresh.reward, result.agrees, report.agreeing, report.differing) == (1.0, None, 0, [])
    assert report.rates() == ({}, {1: 1.0})


# Replay


def test_results_that_differ_from_the_recording_are_reported(regrade: Regrade) -> None:
    other = LAMP.replace("10.0", "12.5")
    result = only(regrade(simulation(*calls(("rename", RENAME, other), ("look", {"item_id": "x"}, "gone")), SAID)))
    assert result.agrees
    assert [str(difference) for difference in result.replay_differences] == [
        "message 0, rename: price recorded 12.5, now 10.0"
    ]
    assert not result.replay_differences[0].flipped


@pytest.mark.parametrize(
    ("name", "arguments", "recorded", "text"),
    [
        ("rename", RENAME, "Error: no item", "failed with 'Error: no item', now succeeds"),
        ("remove", {"item_id": "x"}, "removed", "succeeded, now fails with 'Error: no item x'"),
        ("remove", {"item_id": "x"}, "Error: there is no x", "recorded 'Error: there is no x', now 'Error: no item x'"),
    ],
)
def test_success_and_failure_are_distinguished(
    regrade: Regrade, name: str, arguments: dict[str, Any], recorded: str, text: str
) -> None:
    result = only(regrade(simulation(*calls((name, arguments, recorded)), SAID)))
    (difference,) = result.replay_differences
    assert (difference.text, difference.flipped) == (text, "now " not in text.partition("recorded")[2])
    told = f"replay: message 0, {name}: {text}"
    assert (told in result.reasons) is (difference.flipped and result.agrees is False)


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("functions.rename", RENAME, "the assistant has no tool of this name"),
        ("rename", "```{}```", "its arguments are not a JSON object: ```{}```"),
        ("rename", '{"item_id": "lamp", "name": NaN}', "its arguments are not a JSON object: "),
        ("look", "lamp", "its arguments are not a JSON object: lamp"),
    ],
)
def test_calls_that_succeeded_and_cannot_be_carried_out_again_are_named(
    regrade: Regrade, name: str, arguments: Any, why: str
) -> None:
    report = regrade(simulation(*calls((name, arguments, LAMP)), SAID))
    (difference,) = only(report).replay_differences
    assert difference.flipped
    assert str(difference).startswith(f"message 0, {name}: succeeded, not replayed: {why}")
    assert f"replay: {difference}" in only(report).reasons
    assert report.tally.counts["flipped"] == 1


@pytest.mark.parametrize(("name", "result"), [("functions.rename", "Error: no such tool"), ("think", "")])
def test_calls_that_had_no_effect_are_no_differences(regrade: Regrade, name: str, result: str) -> None:
    assert only(regrade(simulation(*calls((name, RENAME, result)), SAID))).replay_differences == []


@pytest.mark.parametrize("form", [repr, lambda arguments: json.dumps(json.dumps(arguments))])
def test_arguments_as_literals_are_replayed(regrade: Regrade, form: Callable[[Any], str]) -> None:
    report = regrade(simulation(*calls(("rename", form(RENAME), LAMP)), SAID))
    assert (only(report).fresh.reward, only(report).replay_differences) == (1.0, [])


def test_texts_that_differ_late_are_shown_where_they_differ(regrade: Regrade) -> None:
    name = "x" * 100
    result = only(regrade(simulation(*calls(("remove", {"item_id": name}, f"Error: no item {name}!")), SAID)))
    assert result.replay_differences[0].text == f"recorded '…{'x' * 33}!', now '…{'x' * 33}'"


def test_a_strict_replay_refuses_any_difference(regrade: Regrade) -> None:
    same, other = simulation(*RENAMED, SAID), simulation(*calls(("rename", RENAME, "renamed")), SAID, trial=1)
    report = regrade(same, other, strict_replay=True)
    assert len(report.results) == 1
    (error,) = report.errors
    assert error.entry == "entry 1 (task t, trial 1)"
    assert error.reason.startswith("replayed results that differ: 1; first message 0, rename: recorded 'renamed'")


def test_calls_of_the_user_are_replayed(regrade: Regrade) -> None:
    criteria = {"env_assertions": [tiny.check("phone_on", "user")], "reward_basis": ["ENV_ASSERTION"]}
    switched = simulation(*calls(("switch", {}, "on"), requestor="user"))
    assert only(regrade(switched, criteria=criteria)).fresh.reward == 1.0


@pytest.mark.parametrize("info", [{}, {"agent_info": {"implementation": "llm_agent_solo"}}])
@pytest.mark.parametrize("result", ["on", "Error: Tool 'switch' not found."])
def test_an_agent_that_worked_alone_has_the_user_s_tools(regrade: Regrade, info: dict[str, Any], result: str) -> None:
    criteria = {"env_assertions": [tiny.check("phone_on", "user")], "reward_basis": ["ENV_ASSERTION"]}
    regraded = only(regrade(simulation(*calls(("switch", {}, result))), criteria=criteria, info=info))
    assert regraded.solo is (bool(info) or result == "on")
    assert regraded.fresh.reward == float(regraded.solo)


# Unreadable


def test_one_that_cannot_be_graded_stops_nothing(regrade: Regrade) -> None:
    broken = tiny.raw_task("broken", CRITERIA, {"initialization_actions": [{"env_type": "user", "func_name": "no"}]})
    odd = tiny.raw_task("odd", {"actions": [], "reward_basis": ["LUCK"]})
    tasks = [tiny.raw_task("t", CRITERIA), broken, odd]
    ids = ("broken", "odd", "unknown")
    report = regrade(*(simulation(SAID, task_id=i) for i in ids), simulation(*RENAMED, SAID), tasks=tasks)
    assert len(report.results) == 1
    reasons = [reason for _, reason in report.unreadable]
    assert reasons[0].startswith(
        "not graded: its task does not match the domain: initial_state.initialization_actions.0: "
    )
    assert "LUCK" in reasons[1]
    assert reasons[2] == "not graded: tiny has no task 'unknown'"


@pytest.mark.parametrize("own", [True, False])
def test_a_domain_that_contradicts_itself_is_reported_as_in_the_run(regrade: Regrade, own: bool) -> None:
    """The reference gives a verdict on results of others: an assertion without a bool is not met."""
    criteria = {"env_assertions": [tiny.check("counted")], "reward_basis": ["ENV_ASSERTION"]}
    fields = {"info": {"error_kind": "DomainError"}, "reward": None} if own else {"reward": 0.0}
    report = regrade(simulation(SAID, **fields), criteria=criteria)
    if own:
        ((_, reason),) = report.unreadable
        assert reason == "not graded: assertion 'counted' returned int: return True or False"
    else:
        assert only(report).agrees


def test_an_undeclared_write_is_reported_until_the_domain_is_corrected(tmp_path: Path) -> None:
    class Mislabelled(tiny.TinyTools):
        @tool("read")
        def put(self, value: int) -> str:
            """Put a value."""
            self.db.counter = value
            return "put"

    class Corrected(tiny.TinyTools):
        @tool("write")
        def put(self, value: int) -> str:
            """Put a value."""
            self.db.counter = value
            return "put"

    task = tiny.raw_task("t", {"actions": [], "reward_basis": ["DB"]})
    done = simulation(*calls(("put", {"value": 5}, "put")), SAID, reward=None, info={"error_kind": "DomainError"})
    document = {"info": {"environment_info": {"domain_name": "tiny"}}, "tasks": [task], "simulations": [done]}
    (tmp_path / "r.json").write_text(json.dumps(document))

    def regraded(toolkit: Any) -> FileReport:
        shelf = Shelf(tiny=tiny.make(tmp_path / toolkit.__name__, agent_tools=toolkit))
        return tiny.run(regrade_file(tmp_path / "r.json", RegradeSettings(), shelf))

    ((_, reason),) = regraded(Mislabelled).unreadable
    assert reason.startswith("not graded: tool 'put' is declared as read but has changed counter: declare it @tool(")
    assert only(regraded(Corrected)).fresh.reward == 0


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("acceptable_outcomes", [{"actions": []}], "acceptable_outcomes"),
        ("strict", False, "strict"),
        ("actions", [{"action_id": "a", "name": "rename", "arguments": RENAME, "weight": 0.5}], "actions.weight"),
        ("env_assertions", [{**tiny.check("phone_on", "user"), "at": "end"}], "env_assertions.at"),
    ],
)
def test_a_task_with_criteria_of_another_program_is_named_and_not_graded(
    regrade: Regrade, field: str, value: Any, name: str
) -> None:
    foreign = tiny.raw_task("foreign", CRITERIA | {field: value})
    report = regrade(
        simulation(*RENAMED, SAID, task_id="foreign"),
        simulation(*RENAMED, SAID),
        tasks=[tiny.raw_task("t", CRITERIA), foreign],
    )
    assert len(report.results) == 1
    (unreadable,) = report.unreadable
    assert unreadable.entry == "entry 0 (task foreign, trial 0)"
    assert unreadable.reason == f"not graded: task 'foreign' has unknown evaluation criteria: {name}"


@pytest.mark.parametrize("value", [None, [], {}, ""])
def test_criteria_of_another_program_that_say_nothing_change_nothing(regrade: Regrade, value: Any) -> None:
    action = {"action_id": "a", "name": "rename", "arguments": RENAME, "weight": value}
    raw = tiny.raw_task("t", CRITERIA | {"actions": [action], "acceptable_outcomes": value})
    assert only(regrade(simulation(*RENAMED, SAID), tasks=[raw])).fresh.reward == 1.0


def test_today_s_tasks_are_graded_whatever_the_file_s_say(regrade: Regrade) -> None:
    raw = tiny.raw_task("t", CRITERIA | {"acceptable_outcomes": [1]})
    report = regrade(simulation(*RENAMED, SAID), tasks=[raw], fresh_tasks=True)
    assert "acceptable_outcomes" not in str(report.unreadable)


def test_a_file_of_an_unknown_domain_is_unreadable_as_a_whole(regrade: Regrade) -> None:
    report = regrade(simulation(SAID), simulation(SAID), named="banking")
    assert report.results == []
    assert report.unreadable == [
        (
            "all 2 simulations",
            "unknown domain 'banking'; --domain NAME grades all of the file's simulations on that domain",
        )
    ]


def test_a_named_domain_wins_over_the_file_s(regrade: Regrade) -> None:
    assert only(regrade(simulation(*RENAMED, SAID), named="banking", domain="tiny")).agrees


def test_a_file_without_simulations_says_so(regrade: Regrade) -> None:
    assert regrade().unreadable == [("the file", "has no simulations")]


def test_a_task_that_the_file_lacks_is_the_domain_s(regrade: Regrade) -> None:
    report = regrade(simulation(task_id="one", reward=1.0), tasks=[])
    assert only(report).agrees


def test_the_domain_s_tasks_of_today_may_be_taken(regrade: Regrade) -> None:
    mine = tiny.raw_task("one", {"actions": [tiny.action("remove", item_id="lamp")]})
    stored = simulation(SAID, task_id="one")
    assert only(regrade(stored, tasks=[mine])).fresh.reward == 0.0
    assert only(regrade(stored, tasks=[mine], fresh_tasks=True)).fresh.reward == 1.0


# Recognising a domain


def test_a_domain_is_recognised_by_what_was_called(domain: Domain, tmp_path: Path) -> None:
    from collections import Counter

    twin = tiny.spec(domain.folder, name="twin").load()
    fewer = tiny.spec(domain.folder, name="a_variant", user_tools=None).load()
    other = tiny.spec(
        Path(shutil.copytree(domain.folder, tmp_path / "other")),
        name="other",
        agent_tools=tiny.TinyUserTools,
        user_tools=None,
    ).load()
    shelf = Shelf(tiny=domain, twin=twin, other=other)
    variants = Shelf(tiny=domain, a_variant=fewer)
    assert [recognise_domain(Counter(calls), variants) for calls in (["rename"], ["rename", "switch"])] == [
        "a_variant",
        "tiny",
    ]
    assert recognise_domain(Counter(rename=1), shelf) == "tiny"  # variants with the same tools are one
    assert recognise_domain(Counter(rename=1, switch=3), shelf) == "tiny"
    assert recognise_domain(Counter(switch=1), shelf) is None
    assert recognise_domain(Counter(fly=1), shelf) is None
    assert recognise_domain(Counter(), shelf) is None


def test_a_list_names_no_domain_and_is_recognised(domain: Domain, tmp_path: Path) -> None:
    stored = simulation(*RENAMED, SAID) | {"task": tiny.raw_task("t", CRITERIA)}
    (tmp_path / "r.json").write_text(json.dumps([stored]))
    report = tiny.run(regrade_file(tmp_path / "r.json", RegradeSettings(), Shelf(tiny=domain)))
    assert report.domain == "tiny"
    assert only(report).agrees


def test_unrecognised_list_needs_a_format_name(domain: Domain, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(json.dumps([simulation(SAID)]))
    report = tiny.run(regrade_file(tmp_path / "r.json", RegradeSettings(), Shelf(tiny=domain)))
    assert "--domain NAME" in report.unreadable[0].reason


# τ-bench


def trial(reward: float, *messages: Any, outputs: Any = (), **fields: Any) -> dict[str, Any]:
    task = {"instruction": "…", "actions": [{"name": "rename", "kwargs": RENAME}], "outputs": list(outputs)}
    verdict = {"info": {"r_actions": reward}}
    info = {"task": task, "reward_info": verdict}
    return {"task_id": 0, "trial": 0, "reward": reward, "info": info, "traj": [*messages, STOP]} | fields


def chat(name: str, arguments: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    call = {"id": "x", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": content, "tool_calls": [call]}


def test_trials_of_tau_bench_are_replayed(domain: Domain, tmp_path: Path) -> None:
    result = {"role": "tool", "tool_call_id": "x", "content": LAMP}
    trials = [
        trial(1.0, chat("think", {"thought": "hm"}), {"role": "tool", "content": ""}, chat("rename", RENAME), result),
        trial(0.0, chat("rename", RENAME | {"name": "Old"}), result, trial=1),
        trial(0.0, chat("rename", RENAME, "5 in all"), result, outputs=["5"], task_id=1),
    ]
    (tmp_path / "r.json").write_text(json.dumps(trials))
    report = tiny.run(regrade_file(tmp_path / "r.json", RegradeSettings(), Shelf(tiny=domain)))
    assert (report.kind, report.domain, report.agreeing) == ("τ-bench", "tiny", 3)
    assert report.rates() == ({1: 0.25, 2: 0.0}, {1: 0.25, 2: 0.0})


# Rates


def test_rates_exclude_infrastructure_errors(regrade: Regrade) -> None:
    lost = simulation(SAID, reward=0.0, trial=2, termination_reason="infrastructure_error")
    report = regrade(simulation(*RENAMED, SAID), simulation(*RENAMED, SAID, reward=0.0, trial=1), lost)
    assert report.lost == 1
    assert report.rates() == ({1: 0.5, 2: 0.0}, {1: 1.0, 2: 1.0})


def test_a_task_with_fewer_trials_does_not_raise_pass_hat_k(regrade: Regrade, capsys: Any) -> None:
    """The first passes three times; the second lost its third trial."""
    first = [passed(f"a.tau.json::t[trial-{number}]", trial=number) for number in range(3)]
    ran = regrade(*first, *(failed(f"b.tau.json::t[trial-{number}]", trial=number) for number in range(2)))
    assert ran.rates() == both(k1=0.5, k2=0.5, k3=0.5)
    note = "1 task with fewer than 3 trials: for a greater k, 0 if one failed, else open"
    assert ran.fewer_trials() == note
    TextReport(verbose=False, strict=False, bundled=()).file(ran)
    assert note in " ".join(capsys.readouterr().out.split())
    open_ = regrade(*first, *(passed(f"b.tau.json::t[trial-{number}]", trial=number) for number in range(2)))
    assert open_.rates()[1] == {1: 1.0, 2: 1.0, 3: Range(0.5, 1.0)}
    TextReport(verbose=False, strict=False, bundled=()).file(open_)
    assert "pass^3 0.500 to 1.000" in " ".join(capsys.readouterr().out.split())


def passed(test: str, **fields: Any) -> dict[str, Any]:
    """A simulation of a test that passes, as stored and as graded."""
    return simulation(*RENAMED, SAID, test=test, **fields)


def failed(test: str, **fields: Any) -> dict[str, Any]:
    return simulation(SAID, test=test, reward=0.0, **fields)


def both(**rates: float) -> tuple[dict[int, float], dict[int, float]]:
    """Rates that are the same as stored and as graded."""
    found = {int(name.removeprefix("k")): rate for name, rate in rates.items()}
    return found, found


def test_a_simulation_that_a_later_one_of_the_test_replaces_is_graded_and_not_counted(regrade: Regrade) -> None:
    runs = [failed("t[trial-0]"), failed("t[trial-1]", trial=1), passed("t[trial-0]"), passed("t[trial-0]")]
    report = regrade(*runs)
    assert (report.agreeing, len(report.results)) == (4, 4)
    assert report.rates() == both(k1=0.5, k2=0.0)
    assert report.tally.uncounted == {"replaced by later ones": 2}
    assert [bool(result.uncounted) for result in report.results] == [True, False, True, False]


def test_simulations_of_no_test_replace_none(regrade: Regrade) -> None:
    report = regrade(simulation(SAID, reward=0.0), simulation(*RENAMED, SAID))
    assert report.rates() == both(k1=0.5, k2=0.0)
    assert not report.tally.uncounted


@pytest.mark.parametrize("of", [1, 2, 3, 5])
def test_parts_of_a_file_count_what_the_whole_file_counts(domain: Domain, tmp_path: Path, of: int) -> None:
    runs = [failed("a.tau.json::t[trial-0]"), passed("a.tau.json::t[trial-1]"), failed("b.tau.json::t[trial-0]")]
    runs += [passed("a.tau.json::t[trial-0]"), failed("b.tau.json::t[trial-1]")]
    task = tiny.raw_task("t", CRITERIA)
    lines = [json.dumps(run | {"domain": "tiny", "task": task}) for run in runs]
    (tmp_path / "simulations.jsonl").write_text("\n".join(lines) + "\n")

    def regraded(part: Part) -> FileReport:
        return tiny.run(regrade_file(tmp_path / "simulations.jsonl", RegradeSettings(), Shelf(tiny=domain), part))

    first, *others = [regraded(Part(number, of)) for number in range(of)]
    for other in others:
        first.extend(other)
    assert first.rates() == both(k1=0.5, k2=0.5)
    assert first.tally.uncounted == {"replaced by later ones": 1}


def test_a_simulation_in_a_later_file_of_the_run_replaces_one(domain: Domain, tmp_path: Path) -> None:
    task = tiny.raw_task("t", CRITERIA)
    for name, run in (("simulations-gw0", failed("t[trial-0]")), ("simulations-gw1", passed("t[trial-0]"))):
        first = {"test": run.pop("test"), "domain": "tiny"}  # as a run writes it
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(first | run | {"task": task}) + "\n")
    reports = [
        tiny.run(regrade_file(file, RegradeSettings(), Shelf(tiny=domain))) for file in sorted(tmp_path.iterdir())
    ]
    assert [report.rates() for report in reports] == [({}, {}), both(k1=1.0)]


def test_each_variant_has_its_rates(regrade: Regrade) -> None:
    runs = [passed(f"test_it.py::test_it[old-t-trial-{trial}]", trial=trial) for trial in (0, 1)]
    runs += [failed(f"test_it.py::test_it[new-t-trial-{trial}]", trial=trial) for trial in (0, 1)]
    report = regrade(*runs)
    assert report.rates() == ({}, {})
    assert report.rates_of_parts() == {"new": both(k1=0.0, k2=0.0), "old": both(k1=1.0, k2=1.0)}


def test_each_domain_has_its_rates(domain: Domain, tmp_path: Path) -> None:
    task = tiny.raw_task("t", CRITERIA)
    runs = [passed("tiny::t") | {"domain": "tiny"}, failed("other::t") | {"domain": "other"}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(run | {"task": task}) + "\n" for run in runs))
    shelf = Shelf(tiny=domain, other=domain)
    report = tiny.run(regrade_file(tmp_path / "r.jsonl", RegradeSettings(), shelf))
    assert report.rates_of_parts() == {"tiny": both(k1=1.0), "other": both(k1=0.0)}


def test_errors_and_excluded_trials_of_a_run_are_not_counted(regrade: Regrade) -> None:
    error = failed("t[trial-1]", trial=1, termination_reason="user_error")
    excluded = failed("t[trial-2]", trial=2, excluded="fault of the user")
    report = regrade(passed("t[trial-0]"), error, excluded)
    assert report.rates() == both(k1=1.0)
    assert report.tally.uncounted == {"other errors": 1, "not counted by the run": 1}
    # The file of another program keeps them.
    del error["test"]
    assert regrade(simulation(*RENAMED, SAID), error).rates() == both(k1=0.5, k2=0.0)


def test_a_part_on_other_data_makes_the_file_one(tmp_path: Path, domain: Domain) -> None:
    gone = simulation(*calls(("look", {"item_id": "sofa"}, "A sofa.")), trial=1)
    info = {"environment_info": {"domain_name": "tiny"}}
    tasks = [tiny.raw_task("t", CRITERIA)]
    document = {"info": info, "tasks": tasks, "simulations": [simulation(*RENAMED, SAID), gone]}
    (tmp_path / "r.json").write_text(json.dumps(document))
    settings = RegradeSettings(bundled=frozenset({"tiny"}))
    parts = [
        tiny.run(regrade_file(tmp_path / "r.json", settings, Shelf(tiny=domain), Part(number, 2))) for number in (0, 1)
    ]
    assert parts[0].other_data == ""
    parts[0].extend(parts[1])
    assert parts[0].other_data == (
        "entry 1 (task t, trial 1): message 0, look: succeeded, now fails with 'Error: no item sofa'"
    )


# Judges

JUDGED = CRITERIA | {"nl_assertions": ["It is polite."], "reward_basis": ["DB", "NL_ASSERTION"]}


@pytest.mark.parametrize(
    ("reward", "stored", "agrees"),
    [
        (1.0, {}, True),
        (0.0, {"reward_breakdown": {"DB": 1.0, "NL_ASSERTION": 0.0}}, True),
        (0.0, {"reward_breakdown": {"DB": 0.0, "NL_ASSERTION": 0.0}}, False),
        (0.0, {}, None),
    ],
)
def test_without_a_judge_both_leave_the_statements_out(
    regrade: Regrade, reward: float, stored: dict[str, Any], agrees: bool | None
) -> None:
    result = only(regrade(simulation(*RENAMED, reward=reward, stored=stored), criteria=JUDGED))
    assert result.without_judge
    assert (result.fresh.reward, result.fresh.reward_basis, result.agrees) == (1.0, ["DB"], agrees)


def test_without_a_judge_a_conversation_that_was_cut_off_is_compared_as_a_whole(regrade: Regrade) -> None:
    cut = simulation(*RENAMED, reward=0.0, termination_reason="timeout")
    assert only(regrade(cut, criteria=JUDGED)).agrees


@pytest.mark.parametrize(("name", "reward"), [("accept", 1.0), ("reject", 0.0)])
def test_a_judge_is_asked(regrade: Regrade, name: str, reward: float) -> None:
    result = only(regrade(simulation(*RENAMED, reward=reward), criteria=JUDGED, judge=BUILT_IN_JUDGES[name]))
    assert (result.fresh.reward, result.without_judge, result.agrees) == (reward, False, True)


def test_judge_error_is_reported_with_the_entry(regrade: Regrade) -> None:
    report = regrade(simulation(*RENAMED), criteria=JUDGED, judge=ScriptedJudge({}))
    assert report.results == []
    assert report.unreadable[0].reason.startswith("not judged: the script has no verdict")


# Grading profiles


def test_each_rule_is_tried_alone() -> None:
    rules = differing_rules(STRICT)
    assert set(rules) == {
        "stop_beats_limit",
        "union_of_arguments",
        "requestor_counts",
        "one_call_one_action",
        "whole_phrases",
        "mark_null_pass",
    }
    assert all(rules[name] == Grading(**OFFICIAL.__dict__ | {"name": name, name: True}) for name in rules)
    assert differing_rules(OFFICIAL) == {}


@pytest.mark.parametrize(
    ("criteria", "messages", "rule"),
    [
        ({"communicate_info": ["5"]}, [{"role": "assistant", "content": "It is 51."}], "whole_phrases"),
        (
            {"actions": [tiny.action("look", item_id="lamp")], "reward_basis": ["ACTION"]},
            calls(("look", {}, "Error: …")),
            "union_of_arguments",
        ),
        (
            {"actions": [tiny.action("look", item_id="lamp")] * 2, "reward_basis": ["ACTION"]},
            calls(("look", {"item_id": "lamp"}, LAMP)),
            "one_call_one_action",
        ),
        (
            {"actions": [tiny.action("look", item_id="lamp")], "reward_basis": ["ACTION"]},
            calls(("look", {"item_id": "lamp"}, "Error: …"), requestor="user"),
            "requestor_counts",
        ),
    ],
)
def test_a_verdict_that_a_profile_changes_names_the_rule(
    regrade: Regrade, criteria: Any, messages: list[Any], rule: str
) -> None:
    assert only(regrade(simulation(*messages), criteria=criteria)).rules == []
    result = only(regrade(simulation(*messages), criteria=criteria, grading=STRICT))
    assert (result.fresh.reward, result.rules) == (0.0, [rule])
    assert result.reasons[0] == f"by the rule {rule}"


def test_a_stop_on_the_last_hop_is_a_rule_of_its_own(regrade: Regrade) -> None:
    result = only(regrade(simulation(*RENAMED, SAID, reward=0.0, termination_reason="max_steps"), grading=STRICT))
    assert (result.fresh.reward, result.rules) == (1.0, ["stop_beats_limit"])


def test_rules_that_change_a_verdict_only_together_are_reported(regrade: Regrade) -> None:
    """Neither rule alone changes the verdict; both together do."""
    criteria = {"actions": [tiny.action("look", item_id="lamp")] * 2, "reward_basis": ["ACTION"]}
    # Two calls of which one lacks its argument: either rule alone leaves a call for each action.
    messages = calls(("look", {"item_id": "lamp"}, LAMP), ("look", {}, "Error: …"))
    result = only(regrade(simulation(*messages), criteria=criteria, grading=STRICT))
    assert (result.fresh.reward, result.rules) == (0.0, [TOGETHER])


# Reasons


def test_equal_checks_are_numbered() -> None:
    def info(*met: bool) -> RewardInfo:
        checks = [{"info": "5", "met": one, "justification": ""} for one in met]
        return RewardInfo.model_validate({"reward": 0.0, "reward_basis": ["COMMUNICATE"], "communicate_checks": checks})

    assert reward_differences(info(True, True), info(True, False)) == ["phrase '5' (2): met as stored, not met now"]


def test_many_differences_are_cut_short(regrade: Regrade) -> None:
    criteria = {"actions": [tiny.action("add", item_id=f"i{n}", tags=[]) for n in range(9)]}
    reasons = only(regrade(simulation(SAID), criteria=criteria)).reasons
    assert reasons[0] == "DB: not met"
    assert len(reasons) == 6
    assert reasons[-1] == "  and 5 more"


def test_every_kind_of_check_has_a_label() -> None:
    assertion = {"env_type": "assistant", "func_name": "named", "arguments": {"item_id": "lamp"}, "assert_value": False}
    action = {"action_id": "a", "name": "rename", "arguments": {"name": "New"}}
    fresh = RewardInfo.model_validate(
        {
            "reward": 0.0,
            "reward_basis": ["ENV_ASSERTION", "ACTION", "NL_ASSERTION"],
            "env_assertions": [{"env_assertion": assertion, "met": False, "reward": 0.0}],
            "action_checks": [{"action": action, "action_match": False, "action_reward": 0.0}],
            "nl_assertions": [{"nl_assertion": "It is polite.", "met": False, "justification": ""}],
            "communicate_checks": [{"info": "5", "met": False, "justification": ""}],
        }
    )
    assert reward_differences(None, fresh) == [
        'assertion named(item_id="lamp") is false: not met',
        'action rename(name="New"): not met',
        "statement 'It is polite.': not met",
    ]


# Files with fresh rewards


def rewritten(tmp_path: Path, domain: Domain, content: Any, **settings: Any) -> tuple[Any, Rewritten]:
    """Regrade a file, write it again, and return what is in it; the second file agrees with itself."""
    path, target = tmp_path / "r.json", tmp_path / "out" / "r.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    report = tiny.run(regrade_file(path, RegradeSettings(**settings), Shelf(tiny=domain)))
    result = rewrite(report, target)
    again = tiny.run(regrade_file(target, RegradeSettings(**settings), Shelf(tiny=domain)))
    assert not again.differing
    assert len(again.unreadable) == len(report.unreadable)
    return json.loads(target.read_text(encoding="utf-8")), result


def test_a_file_is_written_again_with_fresh_rewards(tmp_path: Path, domain: Domain) -> None:
    kept: list[Any] = [{"task_id": "t", "messages": None, "é": 1}, 17]
    content = {
        "info": {"environment_info": {"domain_name": "tiny"}, "more": "é"},
        "tasks": [tiny.raw_task("t", CRITERIA)],
        "simulations": [simulation(*RENAMED, SAID, reward=0.0), kept[0], simulation(SAID, reward=1.0), kept[1]],
    }
    found, result = rewritten(tmp_path, domain, content)
    assert (result.fresh, result.unjudged) == (2, [])
    assert [found["info"], found["tasks"]] == [content["info"], content["tasks"]]
    assert [found["simulations"][1], found["simulations"][3]] == kept
    assert [found["simulations"][place]["reward_info"]["reward"] for place in (0, 2)] == [1.0, 0.0]
    for place in (0, 2):
        before = content["simulations"][place]
        assert {**found["simulations"][place], "reward_info": None} == {**before, "reward_info": None}


def test_statements_keep_their_stored_verdict_without_a_judge(tmp_path: Path, domain: Domain) -> None:
    criteria = CRITERIA | {"nl_assertions": ["It is polite."], "reward_basis": ["DB", "NL_ASSERTION"]}
    stored = {"reward": 0.0, "reward_breakdown": {"DB": 0.0, "NL_ASSERTION": 1.0}}
    judged, unjudged = (simulation(*RENAMED, SAID) | {"reward_info": info} for info in (stored, {"reward": 0.0}))
    content = {
        "info": {"environment_info": {"domain_name": "tiny"}},
        "tasks": [tiny.raw_task("t", criteria)],
        "simulations": [judged, unjudged],
    }
    found, result = rewritten(tmp_path, domain, content)
    assert result.unjudged == ["entry 1 (task t, trial 0)"]
    assert found["simulations"][0]["reward_info"]["reward"] == 1.0
    assert found["simulations"][1] == unjudged


def test_a_broken_entry_is_copied_as_it_was(tmp_path: Path, domain: Domain) -> None:
    entry = simulation(*RENAMED, SAID, reward=0.0) | {"task": tiny.raw_task("t", CRITERIA)}
    path = tmp_path / "r.jsonl.gz"
    path.write_bytes(gzip.compress(f'{json.dumps(entry)}\n{{"task_id": oh}}\n\n{json.dumps(entry)}\n{{"cut'.encode()))
    report = tiny.run(regrade_file(path, RegradeSettings(domain="tiny"), Shelf(tiny=domain)))
    assert rewrite(report, tmp_path / "out" / "r.jsonl.gz").fresh == 2
    lines = gzip.decompress((tmp_path / "out" / "r.jsonl.gz").read_bytes()).decode().split("\n")
    assert [lines[1], lines[2], lines[4]] == ['{"task_id": oh}', "", '{"cut']
    assert [json.loads(lines[place])["reward_info"]["reward"] for place in (0, 3)] == [1.0, 1.0]


def test_no_input_is_written_over(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "r.json", tmp_path / "b" / "r.json"
    assert targets([(one, tmp_path / "out" / "r.json")]) == {one: tmp_path / "out" / "r.json"}
    with pytest.raises(ConfigurationError, match="is an input; give another folder"):
        targets([(one, tmp_path / "x" / ".." / "a" / "r.json")])
    with pytest.raises(ConfigurationError, match="would both be written to"):
        targets([(one, tmp_path / "out" / "r.json"), (two, tmp_path / "out" / "r.json")])


# Parts of a file, for several processes


@pytest.mark.parametrize("size", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("of", [1, 2, 3, 8])
def test_the_parts_of_a_file_are_the_file(size: int, of: int) -> None:
    positions = [place for number in range(of) for place in Part(number, of).positions(size)]
    assert positions == list(range(size))


@pytest.mark.parametrize("form", ["one file", "lines", "folder"])
def test_reports_of_parts_are_the_report_of_the_file(form: str, domain: Domain, tmp_path: Path) -> None:
    entries = [simulation(*RENAMED, SAID, id=f"s{trial}", trial=trial) for trial in range(5)]
    entries[1] |= {"messages": 3}
    info = {"environment_info": {"domain_name": "tiny"}}
    document = {"info": info, "tasks": [tiny.raw_task("t", CRITERIA)], "simulations": entries}
    path = tmp_path / "results.json"
    if form == "lines":
        path = tmp_path / "simulations.jsonl"
        own = {"task": document["tasks"][0], "domain": "tiny"}
        path.write_text("\n".join(json.dumps(entry | own) for entry in entries), encoding="utf-8")
    elif form == "folder":
        (tmp_path / "simulations").mkdir()
        for entry in entries:
            (tmp_path / "simulations" / f"{entry['id']}.json").write_text(json.dumps(entry), encoding="utf-8")
        path.write_text(json.dumps(document | {"simulations": []}), encoding="utf-8")
        path = tmp_path
    else:
        path.write_text(json.dumps(document), encoding="utf-8")

    def regraded(part: Part) -> FileReport:
        return tiny.run(regrade_file(path, RegradeSettings(), Shelf(tiny=domain), part))

    whole = regraded(Part())
    first, *others = [regraded(Part(number, 3)) for number in range(3)]
    for other in others:
        first.extend(other)
    assert (len(whole.results), len(whole.unreadable)) == (4, 1)
    assert first == whole
