"""What a suite touches: branches of tools, rows of the table, gates, runs, the page, proposals and the line of lint."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.capabilities.coverage import branches, measure
from pytest_tau.capabilities.coverage.branches import branch_lines, code_coverage, measured, play
from pytest_tau.capabilities.coverage.exercised import reference_calls
from pytest_tau.capabilities.coverage.functions import tool_sources
from pytest_tau.capabilities.coverage.measure import KINDS, Played, cover
from pytest_tau.capabilities.coverage.page import write_page
from pytest_tau.capabilities.coverage.propose import _greedy, propose
from pytest_tau.capability import LintView, bundled
from pytest_tau.cli import main
from pytest_tau.environment import domain_of
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Task
from pytest_tau.policy import Tie, sentences_of_domain
from pytest_tau.runs import StrengthFacts, all_strength, store_strength, stored_strength

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_tau.environment import Domain

SHOP = '''
import asyncio


class Shop:
    def __init__(self):
        self.orders = {"o1": {"status": "open"}, "o2": {"status": "sent"}, "o3": {"status": "open"}}


def _check(shop, order_id):
    if order_id not in shop.orders:
        raise ValueError("no such order")


def unused(order_id):
    return order_id


async def close(shop: Shop, order_id: str, late: bool) -> str:
    """Close an order.

    Args:
        order_id: Its id.
        late: Whether it was late.
    """
    _check(shop, order_id)
    await asyncio.sleep(0)
    if late:
        shop.orders[order_id]["status"] = "refunded"
    return "closed"


def get(shop: Shop, order_id: str) -> str:
    """Return the status of an order.

    Args:
        order_id: Its id.
    """
    return shop.orders[order_id]["status"]
'''
MOCK = load_domain("mock")


def task(task_id: str, *actions: tuple[str, dict[str, object]], **fields: object) -> Task:
    calls = [{"action_id": str(at), "name": name, "arguments": given} for at, (name, given) in enumerate(actions)]
    criteria = {"actions": calls, "reward_basis": ["DB"]}
    scenario = {"instructions": f"Close an order, please ({task_id})."}
    return Task.model_validate({"id": task_id, "user_scenario": scenario, "evaluation_criteria": criteria, **fields})


LATE = task("late", ("close", {"order_id": "o1", "late": True}))
WRONG = task("wrong", ("close", {"order_id": "o9", "late": False}))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Domain]:
    """Makes a domain over the functions of a module in a folder whose name has the characters of patterns."""
    folder = tmp_path / "a [b] folder"
    folder.mkdir()
    (folder / "tau_shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "tau_shop", raising=False)
    import tau_shop

    def make(policy: str = "Close late orders only.", **keywords: object) -> Domain:
        tools = [tau_shop.close, tau_shop.get]
        spec = domain_of("shop", tools=tools, make=tau_shop.Shop, snapshot=vars, policy=policy, **keywords)
        return spec.load()

    return make


def rows(domain: Domain, *tasks: Task) -> dict[str, tuple[int, int, tuple[str, ...]]]:
    found = cover(domain, [Played(each) for each in tasks], "tasks")
    return {row.kind: (row.touched, row.total, row.missing) for row in found.rows}


# branches


def test_branches_are_those_of_tools_and_of_what_they_call(shop: Callable[..., Domain]) -> None:
    sources = tool_sources(shop())
    assert sorted(function.name for function in sources.functions) == ["_check", "close", "get"]
    assert sources.without_source == []
    found = rows(shop(), LATE)
    taken, total, missing = found["branches"]
    place = "tau_shop.py"
    assert (taken, total) == (4, 6)  # into two functions, past the check and into the condition
    assert [line.partition(place)[2] for line in missing] == [
        ":28 close: 'if late:' never leads to line 30, 'return \"closed\"'",
        ":33 get: never called",
    ]
    taken, total, missing = found["error-branches"]
    assert (taken, total) == (0, 1)
    assert "never leads to line 12, 'raise ValueError(" in missing[0]
    assert rows(shop(), LATE, WRONG)["error-branches"][:2] == (1, 1)


def test_a_tool_without_source_is_named(shop: Callable[..., Domain]) -> None:
    scope: dict[str, object] = {}
    exec('def made(order_id: str) -> str:\n    """Make."""\n    return order_id', scope)
    domain = domain_of("made", tools=[scope["made"]], reads={"made"}, policy="").load()
    found = cover(domain, [], "no tasks")
    assert found.notes == ["branches: no Python source of 1 tool: made"]
    unknown = {row.kind: row.unknown for row in found.rows if row.percent is None}
    assert unknown["branches"] == "no tool has Python source"
    assert unknown["sentences"] == "the policy is empty"
    assert set(unknown) >= {"values", "records", "documents", "rules", "pairs"}


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "coverage", None)
    found = cover(MOCK, [Played(each) for each in MOCK.tasks()], "tasks")
    row = next(row for row in found.rows if row.kind == "branches")
    assert (row.percent, row.unknown) == (None, branches.EXTRA)
    assert next(row for row in found.rows if row.kind == "tools").percent == 100
    with pytest.raises(ConfigurationError, match="pytest-tau\\[coverage\\]"):
        measured([], lambda: None)


def test_another_tracer_is_put_back() -> None:
    coverage = pytest.importorskip("coverage")
    seen: list[str] = []
    tasks = MOCK.tasks()

    def tracer(frame: object, event: str, argument: object) -> None:
        seen.append(event)

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        found = rows(MOCK, *tasks)["branches"]
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    outer = coverage.Coverage(data_file=None, config_file=False, branch=True, include=[__file__])
    outer.start()
    try:
        assert rows(MOCK, *tasks)["branches"] == found
        task("after")
    finally:
        outer.stop()
    first = task.__code__.co_firstlineno + 1
    assert first in outer.get_data().lines(__file__)


def test_a_file_that_nothing_runs_has_branches() -> None:
    sources = tool_sources(MOCK)
    found = code_coverage(sources.functions, lambda: None)
    assert found.taken == []
    lines = branch_lines(found.missing, Path.cwd())
    assert len([line for line in lines if line.endswith("never called")]) == len(sources.functions)


@pytest.mark.parametrize(
    ("name", "file", "share"),
    [
        pytest.param("airline", "tools.py", 94, id="airline"),
        pytest.param("retail", "tools.py", 81, id="retail", marks=pytest.mark.exhaustive),
        pytest.param("telecom", "user_tools.py", 51, id="telecom", marks=pytest.mark.exhaustive),
    ],
)
def test_files_have_the_share_that_coverage_reports_of_a_whole_process(name: str, file: str, share: int) -> None:
    domain = load_domain(name)

    def run() -> None:
        for each in domain.tasks():
            play(each, reference_calls(each, domain), domain)

    found = code_coverage(tool_sources(domain).functions, run)
    assert {path.name: round(percent) for path, percent in found.files.items()}[file] == share


# rows


def test_what_the_tasks_of_a_domain_touch() -> None:
    found = rows(MOCK, *MOCK.tasks())
    assert list(found) == list(KINDS)
    assert found["tools"] == (6, 6, ())
    assert found["rules"][:2] == (3, 4)
    assert found["rules"][2][0].startswith("deletion: Not allowed")
    assert found["sentences"][:2] == (4, 11)
    assert all(line.startswith("line ") for line in found["sentences"][2])


def test_a_task_that_cannot_be_carried_out_is_named_and_the_others_count(shop: Callable[..., Domain]) -> None:
    call = {"env_type": "assistant", "func_name": "gone", "arguments": {}}
    broken = task("broken", initial_state={"initialization_actions": [call]})
    unknown = task("unknown", ("sell", {}))
    found = cover(shop(), [Played(each) for each in (broken, unknown, LATE)], "tasks")
    assert next(row for row in found.rows if row.kind == "tools").touched == 1
    assert [note for note in found.notes if "broken" in note and "'gone'" in note]
    assert "task unknown: there is no tool 'sell'" in found.notes
    assert len(found.notes) == 2


def test_documents_are_those_that_tasks_require_or_conversations_have_found() -> None:
    domain = load_domain("banking_knowledge")
    wanted = next(each for each in domain.tasks() if each.required_documents)
    (name,) = {*wanted.required_documents[:1]}
    documents = {
        what: next(row for row in cover(domain, [played], what).rows if row.kind == "documents")
        for what, played in {
            "gold": Played(wanted),
            "found": Played(wanted, [], frozenset({name, "no such document"})),
            "unrecorded": Played(wanted, []),
        }.items()
    }
    assert documents["gold"].touched == len({*wanted.required_documents})
    assert documents["found"].touched == 1
    assert name not in documents["found"].missing
    assert documents["unrecorded"].unknown == "the conversations have no facts about searches"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "telecom-workflow", "banking_knowledge"])
def test_a_bundled_domain_has_figures_and_each_list_has_the_rest(name: str) -> None:
    domain = load_domain(name)
    found = cover(domain, [Played(each) for each in domain.tasks()], "tasks")
    assert found.notes == []
    for row in found.rows:
        assert row.unknown or 0 <= row.touched <= row.total
        if row.kind not in ("branches", "error-branches"):  # one line for all branches of a function that is not called
            assert len(row.missing) == row.total - row.touched, row.kind
    assert {row.kind for row in found.rows if row.touched} >= {"tools", "parameters", "branches", "pairs", "rules"}


def test_rules_that_cannot_be_loaded_are_named(shop: Callable[..., Domain]) -> None:
    found = cover(shop(rules="no_such_module:RULES"), [Played(LATE)], "tasks")
    assert [note for note in found.notes if note.startswith("rules: ") and "no_such_module" in note]


# the command


def tau(*args: str) -> int:
    return main(["coverage", *args])


def test_the_table_and_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert tau("--domain", "mock", "--max", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mock: 16 tasks, by their reference actions"
    assert lines[1].split() == ["tools", "6", "of", "6", "100.0", "%"]
    assert "  documents       no figure: the domain has no documents" in lines
    assert "nothing touches" in lines
    assert [line for line in lines if "and 1 more (--max 0 shows all)" in line]


def test_a_share_that_is_too_low_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert tau("--domain", "mock", "--fail-under", "tools=100", "--fail-under", "pairs=50") == 1
    assert capsys.readouterr().out.splitlines()[-1] == "too low: mock: pairs: 1 of 3 (33.3 %) is below 50 %"
    assert tau("--domain", "mock", "--fail-under", "pairs=33.3", "--json") == 0
    assert json.loads(capsys.readouterr().out)["too_low"] == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("branch=9", "unknown kind 'branch'"),
        ("tools=120", "expected tools=PERCENT with a number from 0 to 100"),
        ("tools", "expected tools=PERCENT"),
        ("tools=nan", "expected tools=PERCENT"),
        ("documents=9", "--fail-under documents: domain 'mock': the domain has no documents"),
    ],
)
def test_a_gate_that_cannot_be_decided_is_an_error(
    given: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = tau("--domain", "mock", "--fail-under", given)
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert problem in capsys.readouterr().err


def test_the_json_document_has_ties_and_missing_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert tau("--domain", "mock", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["domains"]
    assert found["kinds"]["pairs"]["missing"] == [
        "create_task + create_task",
        "update_task_status + update_task_status",
    ]
    assert {"kind": "rule", "name": "titles"} in [tie for each in found["policy"] for tie in each["ties"]]
    assert "titles" in found["broken_rules"]


def test_the_page_has_the_policy_in_colours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "pages" / "page.html"
    assert tau("--domain", "mock", "--html", str(page)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"page: {page}"
    text = page.read_text(encoding="utf-8")
    assert '<mark class="checked" title="rule titles">' in text
    assert '<mark class="idle" title="rule deletion">' in text
    assert '<mark class="bare" title="nothing is tied to it">' in text
    assert "<script" not in text


def test_sentences_are_tied_to_the_values_that_they_state() -> None:
    from pytest_tau.policy.ties import sentences_of_domain

    airline = load_domain("airline")
    tied = {tie.name: each.text for each in sentences_of_domain(airline, ()) for tie in each.ties}
    assert {"extra_bag_fee", "max_passengers", "free_bags[gold][economy]"} <= tied.keys()
    assert str(airline.spec.values["extra_bag_fee"]) in tied["extra_bag_fee"]
    assert not any("{" in text for text in tied.values())
    mock = load_domain("mock")
    assert not any(each.ties for each in sentences_of_domain(mock, ())), "it declares no values"


def test_a_policy_cannot_write_into_the_page(tmp_path: Path, shop: Callable[..., Domain]) -> None:
    from pytest_tau.capabilities.coverage.page import write_page

    domain = shop(policy="Say <script>alert(1)</script> to nobody.")
    write_page(tmp_path / "page.html", [cover(domain, [Played(LATE)], "one <b>task</b>")])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "<b>task" not in text


def test_runs_have_what_agents_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played = [each for each in MOCK.tasks() if each.criteria.actions][:3]
    document = {
        "info": {"environment_info": {"domain_name": "mock"}},
        "tasks": [each.model_dump(mode="json") for each in played],
        "simulations": [
            simulate(each, domain=MOCK, agent="gold", user="gold").model_dump(mode="json") for each in played
        ],
    }
    monkeypatch.chdir(tmp_path)
    Path("results.json").write_text(json.dumps(document), encoding="utf-8")
    assert tau("results.json", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["domains"]
    assert found["of"] == "3 conversations of 3 tasks"
    by_gold = rows(MOCK, *played)
    same = ("tools", "parameters", "values", "branches", "error-branches", "records", "pairs")
    assert {kind: found["kinds"][kind]["touched"] for kind in same} == {kind: by_gold[kind][0] for kind in same}
    assert found["kinds"]["rules"]["touched"] == 0
    assert tau("results.json", "--propose-tasks", "2") == 2
    assert "--propose-tasks is for task sets" in capsys.readouterr().err


def test_without_a_domain_the_known_ones_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tau() == 2
    assert "add --domain NAME or a RUN" in capsys.readouterr().err
    assert tau("--domain", "mock", "--propose-tasks", "2") == 2
    assert "its DomainSpec has no generate" in capsys.readouterr().err


# proposals


def test_the_one_that_adds_most_comes_first_and_nothing_is_chosen_in_vain() -> None:
    sets = {"a": frozenset({1, 2}), "b": frozenset({1, 2, 3}), "c": frozenset({4}), "d": frozenset({3})}
    assert [*_greedy(sets, set(), lambda _: True)] == [("b", 3), ("c", 1)]
    assert [*_greedy(sets, {1, 2, 3}, lambda _: True)] == [("c", 1)]
    assert [*_greedy(sets, set(), lambda name: name != "b")] == [("a", 2), ("c", 1), ("d", 1)]


def test_proposed_tasks_touch_what_the_tasks_do_not() -> None:
    domain = load_domain("airline")
    tasks = domain.tasks("small")[:2]
    proposal = propose(domain, tasks, 2, seed=1)
    assert len(proposal.chosen) == 2
    gains = [gain for _, gain in proposal.chosen]
    assert gains == sorted(gains, reverse=True)
    more = rows(domain, *tasks, *(each for each, _ in proposal.chosen))
    assert more["branches"][0] > rows(domain, *tasks)["branches"][0]
    assert len(proposal.alone) == 2


# tau lint


def test_lint_has_a_line_with_the_figures(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    main(["lint", "mock"])
    line = (
        "coverage by reference actions: 5 of 6 tools, 7 of 7 parameters, 2 of 2 values of closed choices, 1 of 3 pairs "
        "of writes, a rule or a value for 4 of 11 sentences of the policy (tau coverage lists the rest)"
    )
    assert line in capsys.readouterr().out.splitlines()
    main(["lint", "mock", "--json"])
    (report,) = json.loads(capsys.readouterr().out)
    assert line in report["figures"]


@pytest.mark.parametrize("name", ["airline", "banking_knowledge", "retail-approvals", "telecom-workflow"])
def test_lint_has_a_line_for_each_measure_of_a_domain(name: str) -> None:
    view = LintView(load_domain(name), None, None, None, load_domain(name).tasks()[:5])
    lines = [line for each in bundled() if each.lint is not None for line in asyncio.run(each.lint(view))]
    starts = [line.partition(":")[0] for line in lines if isinstance(line, str)]
    assert starts == ["coverage by reference actions", "near misses", "mutants", "values of the policy"]


# what other commands have found out


def test_sentences_have_their_mutants_and_values_whether_a_task_notices_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    domain = load_domain("airline")
    first, second, third = sentences_of_domain(domain, ())[:3]
    store_strength(domain, "mutants", StrengthFacts(line="", sentences={first.text: True, second.text: False}))
    store_strength(domain, "vary", StrengthFacts(line="", values={"extra_bag_fee": True, "refund_days": False}))
    monkeypatch.setattr(measure, "is_installed", lambda: False)
    coverage = cover(domain, [], "no task")
    sentences = {sentence.text: sentence.ties for sentence in coverage.sentences}
    assert sentences[first.text][-1:] == (Tie("mutant", "killed"),)
    assert sentences[second.text][-1:] == (Tie("mutant", "survived"),)
    assert Tie("mutant", "killed") not in sentences[third.text]
    write_page(tmp_path / "page.html", [coverage])
    page = (tmp_path / "page.html").read_text("utf-8")
    assert re.search('<mark class="checked" title="[^"]*value extra_bag_fee: noticed', page)
    assert '<mark class="idle" title="value refund_days: no task notices it">' in page
    assert '<mark class="stated" title="value ' in page


def test_what_was_found_out_counts_until_the_domain_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spec = replace(load_domain("mock").spec, folder=tmp_path / "mock")
    shutil.copytree(load_domain("mock").folder, spec.folder)
    store_strength(spec.load(), "mutants", StrengthFacts(line="9 of 9"))
    assert [facts.line for facts in all_strength(spec.load())] == ["9 of 9"]
    with (spec.folder / "policy.md").open("a") as policy:
        policy.write("Another sentence.")
    assert stored_strength(spec.load(), "mutants") is None
