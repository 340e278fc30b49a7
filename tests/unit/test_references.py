"""Where the values and required statements of a reference come from, and what its parts disagree about."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import Database, DomainSpec, Record, Table, ToolError, Toolkit, tool
from pytest_tau.knowledge import Knowledge
from pytest_tau.lint import lint_domain
from pytest_tau.references.amounts import Amounts, sum_of
from pytest_tau.references.values import unstated

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.lint import Finding

BILL = {"bill_id": "bill-1", "lines": [{"part": "p-1", "price": 20.5}, {"part": "p-2", "price": 30.25}, {"price": 7.0}]}


class Bill(Record):
    bill_id: str
    lines: list[dict[str, Any]]
    paid: float = 0.0


class Shop(Database):
    bills: Table[Bill]
    old_bills: Table[Bill]


class Till(Toolkit[Shop]):
    """A till."""

    @tool("read")
    def show(self, bill_id: str) -> Bill:
        """Show a bill."""
        if bill_id not in self.db.bills:
            raise ToolError("no such bill")
        return self.db.bills[bill_id]

    @tool("write")
    def refund(self, bill_id: str, part: str) -> str:
        """Refund a part of a bill."""
        if part == "p-9":
            return "Error: there is no such part"
        self.db.bills[bill_id].paid += 1
        return "refunded"

    @tool("write")
    def log(self, name: str, date_of_birth: str) -> str:
        """Write down who has called."""
        self.db.old_bills[name] = Bill(bill_id=name, lines=[{"born": date_of_birth}])
        return "logged"


def domain_of(folder: Path, task: dict[str, Any], documents: dict[str, str] | None = None) -> Domain:
    for name in ("tasks", "documents"):
        (folder / name).mkdir()
    (folder / "db.json").write_text(json.dumps({"bills": {"bill-1": BILL}, "old_bills": {}}))
    (folder / "policy.md").write_text("Serve.")
    for name, content in (documents or {}).items():
        (folder / "documents" / f"{name}.json").write_text(json.dumps({"id": name, "title": name, "content": content}))
    (folder / "tasks" / "tasks.json").write_text(json.dumps([{"id": "t", **task}]))
    tools: dict[str, Any] = {"agent_db": Shop, "agent_tools": Till, "knowledge": Knowledge() if documents else None}
    return DomainSpec(name="shop", folder=folder, tasks=folder / "tasks", **tools).load()


def calls(*actions: tuple[str, dict[str, Any]], **criteria: Any) -> dict[str, Any]:
    listed = [
        {"action_id": str(place), "name": name, "arguments": given} for place, (name, given) in enumerate(actions)
    ]
    return {"evaluation_criteria": {"actions": listed, **criteria}}


def said(text: str) -> dict[str, Any]:
    return {"user_scenario": {"instructions": f"It is about bill-1. {text}"}}


def findings(domain: Domain, rule: str) -> list[Finding]:
    return [each for each in asyncio.run(lint_domain(domain, None)).findings if each.rule == rule]


SHOW, REFUND = ("show", {"bill_id": "bill-1"}), ("refund", {"bill_id": "bill-1", "part": "p-1"})


@pytest.mark.parametrize(
    ("value", "given"),
    [
        (120, True),  # as it is
        (20, True),  # the difference of two prices
        (220, True),  # their sum
        (6, True),  # five per cent of one
        (80, False),  # the difference of a price and a weight
        (140, False),  # their sum
    ],
)
def test_amounts_follow_from_those_of_one_kind(value: float, given: bool) -> None:
    texts = ['[{"price": 120, "weight": 40}, {"price": 100}]', "You get 5% back."]
    assert Amounts(texts).give(value) is given


def test_a_sum_of_too_many_amounts_is_not_looked_for() -> None:
    assert sum_of([1.0] * 24, 3) == (1.0, 1.0, 1.0)
    assert sum_of([1.0] * 25, 3) is None


@pytest.mark.parametrize(
    ("statement", "known"),
    [("30.25", True), ("57.75", True), ("50.75", True), ("57.80", False), ("code KX-1", False), ("all done", True)],
)
@pytest.mark.parametrize(("basis", "severity"), [(["DB", "COMMUNICATE"], "warning"), (["DB"], "note")])
def test_a_required_statement_comes_from_somewhere(
    tmp_path: Path, statement: str, known: bool, basis: list[str], severity: str
) -> None:
    criteria = calls(SHOW, REFUND, communicate_info=[statement], reward_basis=basis)
    domain = domain_of(tmp_path, said("Have p-1 refunded.") | criteria)
    found = findings(domain, "communicate-unknown")
    assert [each.severity for each in found] == ([] if known else [severity])
    (task,) = domain.tasks(None)
    assert [fact.value for fact in unstated(task, domain)] == ([] if known else [statement])


@pytest.mark.parametrize(
    ("text", "actions", "statement", "done"),
    [
        ("How much do you get back in total?", [SHOW], "50.75", False),
        (
            "How much do you get back in total?",
            [SHOW, REFUND, ("refund", {"bill_id": "bill-1", "part": "p-2"})],
            "50.75",
            True,
        ),
        ("How much do you get back in total?", [SHOW], "30.25", True),  # an amount of the record
        ("What do the two cost in total?", [SHOW], "50.75", True),  # nothing is to be paid
    ],
)
def test_an_amount_to_get_is_brought_about(
    tmp_path: Path, text: str, actions: list[Any], statement: str, done: bool
) -> None:
    domain = domain_of(tmp_path, said(f"Refund p-1 and p-2. {text}") | calls(*actions, communicate_info=[statement]))
    found = findings(domain, "communicate-not-done")
    assert bool(found) is not done
    if not done:
        assert found[0].proof == "20.5 + 30.25, which show shows; no write of the reference is about these"
        assert found[0].change == "remove the statement, or add the write that brings the amount about"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Date of birth: 09/22/1991", "09/22/1991"),
        ("- **DOB:** 09/22/1991", "09/22/1991"),
        ("Your date of birth is 09/22/1991.", "09/22/1991"),
        ("Date of birth: 09/22/2001", None),
        ("You have moved on 09/22/1991.", None),
        ("", None),
    ],
)
def test_the_scenario_and_the_reference_agree(tmp_path: Path, text: str, stated: str | None) -> None:
    task = said(f"You are Ann.\n{text}") | calls(("log", {"name": "Ann", "date_of_birth": "09/22/2001"}))
    found = findings(domain_of(tmp_path, task), "contradicted-fact")
    expected = f"action 0 (log): date_of_birth is '09/22/2001', the scenario says '{stated}'"
    assert [each.text for each in found] == ([expected] if stated else [])


@pytest.mark.parametrize(
    ("sentence", "unread"),
    [
        ("Look up the caller in the old_bills table, then use show_bill.", False),  # a tool that nothing calls
        ("Look up the caller in the old_bills table, then use log_in.", True),
        ("The old_bills table is kept for log_in.", False),  # nothing to be looked up
        ("Look up log_in in the old_bills table or the new_bills table.", False),  # there is another way
    ],
)
def test_tables_that_a_procedure_needs_can_be_read(tmp_path: Path, sentence: str, unread: bool) -> None:
    class Named(Till):
        """A till with a tool that documents name."""

        @tool("write")
        def log_in(self, name: str) -> str:
            """Write down who is there."""
            self.db.old_bills[name] = Bill(bill_id=name, lines=[{"note": "there"}])
            return "logged"

    task = said("You are Ann-1.") | calls(("log_in", {"name": "Ann-1"})) | {"required_documents": ["steps"]}
    domain = domain_of(tmp_path, task, {"steps": sentence})
    object.__setattr__(domain.spec, "agent_tools", Named)
    found = findings(domain, "unread-table")
    assert bool(found) is unread
    if unread:
        assert found[0].proof == "old_bills has 'Ann-1' after the reference actions, which no reading tool shows"


@pytest.mark.parametrize(
    ("action", "severity", "text"),
    [
        (("show", {"bill_id": "bill-9"}), "note", "action 0 (show): "),
        (("refund", {"bill_id": "bill-9", "part": "p-1"}), "error", "action 0 (refund): "),
        (("refund", {"bill_id": "bill-1", "part": "p-9"}), "error", "action 0 (refund): Error: there is no such part"),
    ],
)
@pytest.mark.parametrize("basis", [["DB"], ["ACTION"]])
def test_a_write_that_is_refused_is_an_error_whatever_counts(
    tmp_path: Path, action: Any, severity: str, text: str, basis: list[str]
) -> None:
    domain = domain_of(tmp_path, said("p-1 or p-9 of bill-9.") | calls(action, REFUND, reward_basis=basis))
    (found,) = findings(domain, "action-raises")
    assert (found.severity, bool(found.proof), bool(found.change)) == (
        severity,
        severity == "error",
        severity == "error",
    )
    assert found.text.startswith(text)


def test_copies_of_tasks_that_are_not_read_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    task = {"id": "t", **said("Nothing."), **calls(SHOW)}
    domain = domain_of(tmp_path, task)
    (folder / "tasks").mkdir()
    (folder / "tasks" / "t.json").write_text(json.dumps([task]))
    assert not findings(domain.spec.load(), "unread-copy")
    (folder / "tasks" / "t.json").write_text(json.dumps([task | said("Something.")]))
    (found,) = findings(domain.spec.load(), "unread-copy")
    assert found.text == "tasks.json is not read, and has other versions of tasks (1): 't'"
