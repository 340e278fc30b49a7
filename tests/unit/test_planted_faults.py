"""Faults that are planted in right tasks: each is one, the same seed gives the same, and only what is about it counts."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import planted_faults
from benchmarks.planting.kinds import KINDS
from benchmarks.planting.right import Fault, Right
from benchmarks.planting.tally import Row
from benchmarks.planting.values import Records, leaves, replaced
from pytest_tau import load_domain
from pytest_tau.lint import Finding

REFERENCES = ("wrong-argument", "other-record", "refused-write", "forbidden-write", "dropped-write", "other-amount")
TEXTS = ("dropped-choice", "dropped-value", "two-variants", "budget")


@pytest.fixture
def initial(monkeypatch):
    monkeypatch.delitem(sys.modules, planted_faults.INITIAL, raising=False)
    yield
    monkeypatch.delitem(sys.modules, planted_faults.INITIAL, raising=False)


def sources(name, *ids):
    """Right tasks of a domain without scripts, or those of some ids."""
    domain = load_domain(name)
    tasks = domain.tasks(split=None)
    pool = [action for task in tasks for action in task.criteria.actions or []]
    chosen = [task for task in tasks if not ids or task.id in ids]
    return [Right(planted_faults._without_script(task), domain, pool) for task in chosen]


def faults(name, kind, *ids, seed=0):
    """The faults of a kind in tasks, by task."""
    planted = {each: next(KINDS[kind].plant(each, each.random(kind, seed)), None) for each in sources(name, *ids)}
    return {source: fault for source, fault in planted.items() if fault is not None}


@pytest.mark.parametrize(
    ("name", "kind", "ids"),
    [
        ("mock", "wrong-argument", ()),
        ("mock", "other-record", ()),
        ("retail", "refused-write", ("cancel-unneeded",)),
        ("mock", "forbidden-write", ()),
        ("airline", "forbidden-write", ("cancel-flown-business",)),
        ("mock", "dropped-write", ()),
        ("mock", "other-amount", ()),
        ("mock", "wrong-assertion", ()),
    ],
)
def test_who_does_what_the_right_reference_has_fails_by_the_wrong_one(name, kind, ids):
    planted = faults(name, kind, *ids)
    assert planted or (name, kind) == ("mock", "forbidden-write")
    for source, fault in planted.items():
        assert source.passes(source.task, source.actions)
        assert not source.passes(fault.task, source.actions), fault.what


@pytest.mark.parametrize(
    ("name", "kind", "ids"),
    [
        ("retail", "dropped-choice", ("cancel-unneeded", "address-and-payment")),
        ("mock", "dropped-value", ()),
        ("retail", "two-variants", ("cancel-by-product",)),
    ],
)
def test_where_the_text_leaves_a_value_open_another_one_is_possible_and_fails(name, kind, ids):
    planted = faults(name, kind, *ids)
    assert planted
    for source, fault in planted.items():
        assert source.passes(fault.task, source.actions)
        arguments = source.actions[fault.position].arguments
        (path, value) = next(leaf for leaf in leaves(arguments) if fault.argument in leaf[0])
        assert kind == "two-variants" or str(value) not in str(fault.task.user_scenario)
        others = [text for text in fault.what.split("'") if text != value]
        assert any(
            source.succeeds(actions, fault.task) and not source.passes(fault.task, actions)
            for other in [*others, fault.what.split()[1].rstrip(",")]
            for actions in [source.with_argument(fault.position, replaced(arguments, path, other))]
        )


def test_the_dropped_part_of_a_text_is_no_more_than_what_names_the_value():
    ((source, fault),) = faults("retail", "dropped-choice", "cancel-unneeded").items()
    left, right = (str(task.user_scenario).split("Task instructions:")[1] for task in (fault.task, source.task))
    assert "The things in it are no longer needed, that is your reason. " in right
    assert "reason" not in left
    assert "Before you agree, ask how much money you will get back" in left


def test_a_limit_is_below_what_the_reference_pays():
    ((source, fault),) = faults("airline", "budget", "cancel-refused-false-claim").items()
    assert "$279" in fault.task.user_scenario.instructions.task_instructions
    assert "349 is paid" in fault.what
    assert source.task.criteria == fault.task.criteria


def test_a_twin_is_like_its_record_and_wherever_that_one_is_listed():
    ((source, fault),) = faults("retail", "two-variants", "cancel-by-product").items()
    twin, record = fault.what.split()[1].rstrip(","), fault.what.split()[-1]
    data = source.domain.environment(fault.task).agent_db.dump()
    assert data["orders"][twin] == data["orders"][record] | {"order_id": twin}
    listed = data["users"][data["orders"][record]["user_id"]]["orders"]
    assert {twin, record} <= {*listed}


def test_the_same_seed_plants_the_same_faults():
    def texts(seed):
        return [fault.what for kind in KINDS for fault in faults("mock", kind, seed=seed).values()]

    assert texts(0) == texts(0)
    assert texts(0) != texts(1)


def test_records_are_found_by_their_keys_in_tables_lists_and_records():
    payments = {"card_1": {"id": "card_1"}, "card_2": {"id": "card_2"}}
    records = Records(
        {
            "users": {"u1": {"user_id": "u1", "cards": payments}, "u2": {"user_id": "u2", "cards": {}}},
            "orders": {f"o{n}": {"order_id": f"o{n}", "user_id": f"u{n % 2 + 1}"} for n in range(4)},
            "lines": [{"line_id": "L1"}, {"line_id": "L2"}],
        }
    )
    assert records.group_of("card_1").siblings("card_1", records.groups) == ["card_2"]
    assert records.group_of("o1").siblings("o1", records.groups) == ["o3"]
    assert records.group_of("L1").is_list
    assert records.group_of("nothing") is None
    assert records.near(["o0"]) == {"orders": ["o0"], "users": ["u1"]}


def test_arguments_in_a_text_are_changed_in_it():
    arguments = {"tool": "pay", "arguments": '{"amount": 1, "to": "u1"}'}
    assert dict(leaves(arguments))["arguments", "amount"] == 1
    assert replaced(arguments, ("arguments", "amount"), 2)["arguments"] == '{"amount": 2, "to": "u1"}'


@pytest.mark.parametrize(
    ("finding", "counted"),
    [
        (("gold-fails", "error", "it fails"), "found"),
        (("gold-fails", "note", "it fails"), "noted"),
        (("fact-missing", "warning", "action 2: the agent cannot know title"), "found"),
        (("fact-missing", "warning", "action 1: the agent cannot know name"), "missed"),
        (("in-no-split", "error", "it is in no split"), "missed"),
    ],
)
def test_only_findings_about_the_fault_count(finding, counted):
    row, (rule, severity, text) = Row(), finding
    fault = Fault(sources("mock")[0].task, "action 2: another title", 2, "title")
    row.add(KINDS["wrong-argument"], "t", fault, [Finding(rule, severity, "t", text)])
    assert (row.found, row.noted, len(row.missed)) == tuple(counted == name for name in ("found", "noted", "missed"))
    assert (rule in row.rules, rule in row.beside) == (counted != "missed", counted == "missed")


def test_faults_of_two_domains_are_shown_and_written(tmp_path, capsys, initial):
    file = tmp_path / "planted.json"
    arguments = ["--domain=mock", f"--domain={planted_faults.INITIAL}", "--tasks=5", "--json", str(file), "--show=1"]
    planted_faults.main(arguments)
    shown = capsys.readouterr().out
    found = json.loads(file.read_text(encoding="utf-8"))["domains"]
    assert [*found] == ["mock", planted_faults.INITIAL]
    for domain in found.values():
        assert domain["right"] == 2 * domain["tasks"]
        for row in domain["kinds"].values():
            assert row["planted"] == row["found"] + row["noted"] + len(row["missed"])
    assert found[planted_faults.INITIAL]["kinds"]["dropped-write"]["rules"] == {"passes-without-agent": 2}
    assert "no task has a statement about the final state" in shown
