"""``--tau-edition`` and ``tau vary``: a domain with other values of its policy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_tau import load_domain
from pytest_tau.cli import main
from pytest_tau.commands import Project
from pytest_tau.regrade import StoredTrials
from pytest_tau.runs import open_run
from tests.unit.report_pages import Page

#: A domain with values: borrowing costs a fee, and at most so many books are lent to one person.
LIBRARY = '''
from pathlib import Path

from pytest_tau.environment import Database, DomainSpec, Toolkit, ToolError, declare_values, tool

VALUES = declare_values(
    {
        "fee": {"value": 2, "becomes": [5]},
        "days": {"value": 14, "becomes": [7]},
        "most": {"value": 3, "becomes": [4]},
    }
)


class Shelf(Database):
    paid: int = 0


class ShelfTools(Toolkit[Shelf]):
    tau_values = VALUES

    @tool("write")
    def pay(self, amount: int) -> str:
        """Take a payment; a book costs ${fee}.

        Args:
            amount: How much.
        """
        if amount % self.tau_values["fee"]:
            raise ToolError(f"a book costs {self.tau_values['fee']}")
        self.db.paid += amount
        return "paid"


class Clerk:
    """Reads the fee in its policy."""

    def __init__(self, policy, task):
        self.fee = int(policy.partition("$")[2].split()[0])
        self.books = {"one": 1, "two": 2, "none": 0, "odd": 5}[task.id]
        self.done = False

    def respond(self, message):
        if self.done or not self.books:
            return "Done."
        self.done = True
        return {"tool_calls": [{"name": "pay", "arguments": {"amount": self.fee * self.books}}]}


HERE = Path(__file__).parent / "library"
LIBRARY = DomainSpec("library", HERE, HERE / "tasks.json", Shelf, ShelfTools, values=VALUES)


def pytest_tau_domains(config):
    return [LIBRARY]
'''
SCRIPT = {"requests": [{"say": "Hello."}]}


def pays(task_id, amount, said="Borrow books, which cost ${fee} each."):
    action = {"action_id": "pay", "name": "pay", "arguments": {"amount": amount}}
    scenario = {"instructions": said, "script": SCRIPT}
    return {"id": task_id, "user_scenario": scenario, "evaluation_criteria": {"actions": [action]}}


@pytest.fixture
def library(project):
    """A project with the domain."""
    project.write("conftest.py", LIBRARY)
    project.write("library/db.json", '{"paid": 0}')
    project.write("library/policy.md", "A book costs ${fee} for {days} days.")
    project.tasks("library/tasks.json", [pays("one", "{fee}"), pays("two", "{fee * 2}")])
    return project


def run(project, *args):
    return project.run("--tau-domain", "library", "--tau-agent", "conftest.py:Clerk", "--tau-user", "scripted", *args)


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.exhaustive)], ids=["one", "two"])
def test_an_edition_of_an_own_domain_changes_policy_tools_and_tasks(library, workers):
    done = run(library, "--tau-edition", "1", *workers)
    done.outcomes(passed=2)
    done.line("tau: edition 1 of library: fee 5 (2), days 7 (14), most 4 (3)")


def test_without_an_edition_the_values_are_those_of_the_domain(library):
    done = run(library)
    done.outcomes(passed=2)
    done.lacks("tau: edition")


def test_a_file_names_some_values(library):
    library.write("my.toml", "[values]\nfee = 4\n")
    done = run(library, "--tau-edition", "my.toml")
    done.outcomes(passed=2)
    done.line("tau: edition my.toml of library: fee 4 (2)")


def test_tasks_that_do_not_carry_over_are_named(library):
    # A number in prose and arguments stays what it was.
    library.tasks("library/tasks.json", [pays("one", "{fee}"), pays("odd", 2 * 7, "Pay 14 dollars.")])
    done = run(library, "--tau-edition", "1")
    done.outcomes(passed=1)
    done.line("tau: edition 1 of library: task odd does not carry over: reference action 0 fails: pay: a book costs 5")


def test_a_file_of_tasks_is_filled_as_well(library):
    library.tasks("own.tau.json", [pays("two", "{fee * 2}")])
    done = run(library, "own.tau.json", "--tau-edition", "1")
    done.outcomes(passed=1)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[values]\nfee = 9\n", ("my.toml: value fee: expected a whole number from 2 to 5, got 9",)),
        ("[values]\nfees = 3\n", ("my.toml: unknown value 'fees'; did you mean 'fee'?",)),
        ("domain = 'airline'\n[values]\nfee = 3\n", ("an edition of domain 'airline', not of 'library'",)),
    ],
)
def test_a_file_that_does_not_fit_is_a_usage_error(library, text, parts):
    library.write("my.toml", text)
    run(library, "--tau-edition", "my.toml").usage_error(*parts)


def test_a_placeholder_that_is_not_declared_is_a_usage_error(library):
    library.write("library/policy.md", "A book costs ${fees} for {days} days.")
    run(library).usage_error("policy of domain 'library': {fees}: unknown value 'fees'; did you mean 'fee'?")
    library.write("library/policy.md", "A book costs ${fee} for {days} days.")
    library.tasks("library/tasks.json", [pays("one", "{cost}")])
    run(library).line("{cost}: unknown value 'cost'", "one", "evaluation_criteria.actions.arguments.amount")


def test_a_domain_without_values_is_a_usage_error(project, a_task):
    project.tasks("mock/t.tau.json", [a_task()])
    done = project.run("mock", "--tau-agent", "gold", "--tau-edition", "3")
    done.usage_error("domain 'mock' declares no values")


def test_a_run_in_an_edition_is_stored_and_compared_as_such(library, capsys):
    run(library, "--tau-results", "a")
    run(library, "--tau-results", "b", "--tau-edition", "1")
    header = next(Path("b").rglob("run.json"))
    assert json.loads(header.read_text())["settings"]["edition"] == "1"
    main(["compare", "a", "b"])
    assert "edition" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["regrade", "coverage"])
def test_a_stored_run_is_read_in_its_edition(library, capsys, command):
    run(library, "--tau-results", "b", "--tau-edition", "1").outcomes(passed=2)
    assert main([command, "b"]) == 0
    shown = capsys.readouterr().out
    assert "replay:" not in shown
    assert {
        "regrade": "2 simulations, 2 agree; pass^1 1.000",
        "coverage": "2 conversations of 2 tasks",
    }[command] in shown


def test_tasks_of_a_run_in_an_edition_are_of_the_edition(library, capsys):
    run(library, "--tau-results", "b", "--tau-edition", "1").outcomes(passed=2)
    assert main(["task-from", "b", "-o", "made.tau.json"]) == 0
    shown = capsys.readouterr().out
    assert "replay:" not in shown
    assert "run: pytest made.tau.json --tau-domain library --tau-edition=1 --tau-agent gold" in shown
    run(library, "made.tau.json", "--tau-edition", "1", "--tau-agent", "gold").outcomes(passed=2)


def test_an_export_has_the_policy_of_the_edition_and_is_graded_in_it(library, capsys):
    run(library, "--tau-results", "b", "--tau-edition", "1")
    assert main(["export", "b", "--format", "tau2", "--out", "b.json"]) == 0
    header = json.loads(Path("b.json").read_text(encoding="utf-8"))["info"]
    assert header["environment_info"]["policy"] == "A book costs $5 for 7 days."
    capsys.readouterr()
    assert main(["regrade", "b.json"]) == 0
    shown = capsys.readouterr().out
    assert "2 simulations, 2 agree" in shown
    assert "replay:" not in shown


def test_trials_of_stored_runs_have_the_domain_of_their_run(library):
    run(library, "--tau-results", "a")
    run(library, "--tau-results", "b", "--tau-edition", "1")
    trials = StoredTrials(Project(None), None, frozenset())
    fees = [placed.domain.spec.values.of("fee") for name in "aba" for placed in trials.of(open_run(name))]
    assert fees == [2, 2, 5, 5, 2, 2]


def test_the_page_of_a_stored_run_has_the_states_of_its_edition(library):
    run(library, "--tau-results", "b", "--tau-edition", "1", "--tau-html", "a.html")
    assert main(["view", "b", "-o", "b.html"]) == 0
    shown, of_run = (Page(Path(name)).conversation(0)["calls"] for name in ("b.html", "a.html"))
    assert shown == of_run
    assert "5" in str(shown[0]["changes"])


def test_settings_of_a_run_by_another_version_are_an_error(library, capsys):
    run(library, "--tau-results", "b", "--tau-edition", "1")
    header = next(Path("b").rglob("run.json"))
    header.write_text(header.read_text().replace('"edition": "1"', '"variant": "1"'))
    assert main(["regrade", "b"]) == 1
    assert "the run has other settings of editions" in capsys.readouterr().out


def test_vary_lists_the_values_that_no_task_notices(library, capsys):
    status = main(["vary", "library", "--tau-agent", "conftest.py:Clerk"])
    lines = capsys.readouterr().out.splitlines()
    assert status == 1
    assert lines == [
        "fee 2 -> 5: 2 tasks of 2: one, two",
        "days 14 -> 7: no task of 2 notices it",
        "1 of 2 values noticed",
        "not noticed by any task: days",
    ]
    assert main(["vary", "library", "--tau-agent", "conftest.py:Clerk", "--value", "fee", "--json"]) == 0
    (varied,) = json.loads(capsys.readouterr().out)["values"]
    assert (varied["name"], varied["old"], varied["new"], varied["failed"]) == ("fee", 2, 5, ["one", "two"])


def test_lint_has_the_values_that_are_noticed(library, capsys):
    main(["lint", "library"])
    assert "values of the policy: 2 can be changed (tau vary library lists" in capsys.readouterr().out
    main(["vary", "library", "--tau-agent", "conftest.py:Clerk"])
    main(["lint", "library"])
    assert "values of the policy: 1 of 2 values noticed" in capsys.readouterr().out
    library.write("library/policy.md", "A book costs $2 for 14 days. Be brief.")
    main(["lint", "library"])
    assert "values of the policy: none is declared; 1 sentence of the policy state" in capsys.readouterr().out


#: An agent that has the fee in its head.
KNOWS_BY_HEART = (
    LIBRARY
    + """

class Old(Clerk):
    def __init__(self, policy, task):
        super().__init__("$2 ", task)
"""
)


def test_two_runs_are_compared_by_the_values_of_the_policy(library, capsys):
    library.write("conftest.py", KNOWS_BY_HEART)
    tasks = [pays("one", "{fee}"), pays("two", "{fee * 2}")]
    library.tasks("library/tasks.json", [*tasks, pays("odd", 2 * 5)])
    for folder, *edition in (("a",), ("b", "--tau-edition", "1")):
        old = ("--tau-domain", "library", "--tau-agent", "conftest.py:Old", "--tau-user", "scripted")
        library.run(*old, "--tau-results", folder, *edition)
    capsys.readouterr()
    compare = ["vary", "library", "--tau-agent", "conftest.py:Clerk", "--compare"]
    assert main([*compare, "a", "b"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "all values: pass^1 1.000 -> 0.333 (-0.667, 95 % interval -0.939 to +0.059) over 3 tasks",
        "fee 2 -> 5: pass^1 1.000 -> 0.000 (-1.000, 95 % interval -1.000 to -0.070) over 2 tasks: one, two",
        "days 14 -> 7: no task of both runs notices it",
    ]
    assert main([*compare, "a", "b", "--value", "fee", "--json"]) == 0
    total, fee = json.loads(capsys.readouterr().out)["rates"]
    assert (total["name"], fee["name"], fee["tasks"], fee["after"]) == ("", "fee", ["one", "two"], 0)
    assert main([*compare, "a", "a"]) == 2
    assert "expected a run with --tau-edition that changes a value" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["library", "--value", "fees"], "unknown value 'fees'; did you mean 'fee'?"),
        (["mock"], "domain 'mock': its policy has no placeholders of declared values"),
    ],
)
def test_vary_says_what_is_wrong(library, capsys, args, problem):
    assert main(["vary", *args]) == 2
    assert problem in capsys.readouterr().err


FUNCTIONS = '''
from pytest_tau.environment import declare_values, domain_of

VALUES = declare_values({"fee": {"value": 2, "becomes": [5]}})

class Till:
    def __init__(self):
        self.paid = []


def pay(till: Till, books: int, values: dict) -> str:
    """Take a payment; a book costs ${fee}.

    Args:
        books: How many.
    """
    till.paid.append(books * values["fee"])
    return f"paid {till.paid}"


TILL = domain_of(
    "till",
    tools=[pay],
    make=Till,
    snapshot=lambda till: {"paid": till.paid},
    policy="A book costs ${fee}.",
    tasks="till.tau.json",
    values=VALUES,
)


def pytest_tau_domains(config):
    return [TILL]
'''


def test_functions_are_given_the_values_that_they_ask_for(project):
    project.write("conftest.py", FUNCTIONS)
    action = {"action_id": "pay", "name": "pay", "arguments": {"books": 2}}
    task = {"id": "two", "user_scenario": {"instructions": "Borrow two books at ${fee}."}}
    project.tasks("till.tau.json", [task | {"evaluation_criteria": {"actions": [action]}}])
    test = """
        import pytest

        @pytest.mark.tau(domain="till")
        def test_paid(tau_env, tau_task):
            assert tau_env.call("pay", {"books": 2}).content == "paid [PAID]"
            assert tau_env.policy == "A book costs $FEE."
            (tool,) = tau_env.tools()
            assert list(tool.parameters["properties"]) == ["books"]
            assert "costs $FEE." in tool.description
            assert "at $FEE." in str(tau_task.user_scenario.instructions)
    """
    for args, fee in (((), 2), (("--tau-edition", "1"), 5)):
        project.write("test_till.py", test.replace("PAID", str(2 * fee)).replace("FEE", str(fee)))
        project.run("test_till.py", "--tau-agent", "gold", "--tau-user", "gold", *args).outcomes(passed=1)


@pytest.fixture
def checkout(project):
    """A small folder of official data, with airline_plus."""
    airline = load_domain("airline")
    home = project.path / "data" / "domains" / "airline_plus"
    home.mkdir(parents=True)
    (home / "db.json").write_text((airline.folder / "db.json").read_text())
    (home / "policy.md").write_text("An extra bag costs 65 dollars. {This} is no {placeholder}.")
    task = next(task for task in airline.tasks() if task.id == "book-new-card-refused")
    document = json.loads(task.model_dump_json(exclude_none=True))
    booking = document["evaluation_criteria"]["actions"][-1]["arguments"]
    booking["payment_methods"][0]["amount"] += 15  # insurance costs 45 instead of 30
    document["evaluation_criteria"]["communicate_info"] = []
    project.tasks("data/domains/airline_plus/tasks.json", [document])
    return project


PLUS = ("--tau-domain", "airline", "--tau-data=data", "--tau-agent", "gold")


def test_official_data_of_an_edition_are_run_with_its_values(checkout):
    done = checkout.run(*PLUS, "--tau-edition", "airline_plus")
    done.outcomes(passed=1)


def test_official_data_state_their_values_themselves(checkout):
    checkout.run(*PLUS, "--tau-edition", "3").usage_error(
        "name an edition that has such data (airline_plus, retail_plus)"
    )


def test_the_own_tasks_of_airline_are_made_anew(project):
    done = project.run(
        "--tau-domain", "airline", "--tau-agent", "rules", "--tau-task", "compensation-d*", "--tau-edition", "2"
    )
    done.outcomes(passed=2)  # a third one is about another cabin
    assert re.search(r"certificate_for_cancelled \d+ \(100\)", done.text)
