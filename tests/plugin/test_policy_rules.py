"""Rules of a policy: the summary, failure reports, options, gates, CSV, the commands, and rules of one's own."""

from __future__ import annotations

import asyncio
import csv
import json
from dataclasses import replace

import pytest
from trial_records import trial_record

from pytest_tau import load_domain
from pytest_tau.analysis.gates import Gate
from pytest_tau.analysis.gates.metrics import by_task, metric_named
from pytest_tau.capabilities.policy_rules import capability
from pytest_tau.capabilities.policy_rules.lint import check_agent
from pytest_tau.capabilities.policy_rules.summary import comparison
from pytest_tau.capability.calls import columns_of
from pytest_tau.capability.views import Compared, Measured
from pytest_tau.cli import main
from pytest_tau.errors import ConfigurationError
from pytest_tau.evaluation import Evaluation
from pytest_tau.policy import PolicyReport, RecordedBreach
from pytest_tau.testing import ScriptedParticipant, call

WORKERS = [(), ("-n", "2")]

#: A domain over plain functions with rules, of which the test says which.
SHOP = """
import time
from pytest_tau import domain_of
from pytest_tau.evaluation import Evaluation
from pytest_tau.policy import Rule, one_call_at_a_time
from pytest_tau.runs.record import TrialRecord

stock = {{}}

def fill(item: str) -> str:
    "Fill the shelf of an item."
    stock[item] = stock.get(item, 0) + 1
    return "done"

def snapshot():
    return dict(stock)

def restore(state):
    stock.clear()
    stock.update(state)

def named(trajectory):
    "The agent names what it fills."
    for call in trajectory.writes:
        if not any(call.arguments["item"] in turn.text for turn in trajectory.agent_texts(before=call)):
            yield trajectory.breach(call, "not named before")

def raises(trajectory):
    raise LookupError("what is this?")

def endless(trajectory):
    while True:
        time.sleep(0.01)

NAMED = Rule("named", "Name what you fill.", named)
shop = domain_of("shop", tools=[fill], snapshot=snapshot, restore=restore,
                 policy="Name what you fill. One at a time.", tasks="tasks.json", rules={rules})

def pytest_tau_domains():
    return [shop]
"""
#: Fills the shelf, and names it before if the id is good.
AGENT = """
from pytest_tau.testing import ScriptedParticipant, call

class it(ScriptedParticipant):
    def __init__(self, task):
        before = ["I fill milk."] if "good" in task.id else []
        super().__init__([*before, call("fill", item="bad" if "failed" in task.id else "milk"), "Done."])

class user(ScriptedParticipant):
    def __init__(self, task):
        super().__init__(["Fill milk.", "Yes.", "###STOP###"] if "good" in task.id else ["Fill milk.", "###STOP###"])
"""

#: A test that runs each task twice.
_VARIANTS = """
import parts
import pytest

@pytest.mark.tau(domain="shop")
@pytest.mark.parametrize("tau_agent", [pytest.param(parts.it, id="one"), pytest.param(parts.it, id="two")])
def test_it(tau_simulation):
    assert tau_simulation.reward == 1
"""


@pytest.fixture
def run_shop(project):
    """Runs tasks of a small shop, whose agent breaks the rule unless the id is good."""

    def run(*args, rules="[NAMED]", ids=("bad-1", "good-1")):
        project.write("conftest.py", SHOP.format(rules=rules))
        project.write("parts.py", AGENT)
        action = {"action_id": "a", "name": "fill", "arguments": {"item": "milk"}}
        tasks = [
            {
                "id": one,
                "user_scenario": {"instructions": "Fill milk."},
                "evaluation_criteria": {"actions": [action], "reward_basis": ["DB"]},
            }
            for one in ids
        ]
        project.write("tasks.json", json.dumps(tasks))
        participants = ("--tau-agent", "parts.py:it", "--tau-user", "parts.py:user")
        return project.run("--tau-domain", "shop", *participants, *args)

    return run


@pytest.mark.parametrize("workers", WORKERS)
def test_breaches_of_passed_trials_are_shown_turn_by_turn(run_shop, workers):
    run = run_shop(*workers)
    run.outcomes(passed=2)
    run.line("policy         0.500", "1 of 2 trials broke a rule, 1 with reward 1")
    run.line("broken rules: named (1 trial, 1 breach)")
    run.line("rules broken in 1 trial with reward 1")
    run.line("    bad-1[trial-0]")
    run.line('      named, message 2: fill(item="milk"): not named before')


def test_breaches_of_a_variant_name_it(run_shop, project):
    project.write("test_variants.py", _VARIANTS)
    run = run_shop("test_variants.py", ids=("bad-1",))
    run.outcomes(passed=2)
    run.line("rules broken in 2 trials with reward 1")
    run.line("    bad-1[one-trial-0]")
    run.line("    bad-1[two-trial-0]")


def test_nothing_is_shown_if_every_rule_is_kept(run_shop):
    run = run_shop(ids=("good-1",))
    run.outcomes(passed=1)
    run.lacks("policy")
    run.lacks("rules broken")
    run_shop("-v", ids=("good-1",)).line("policy", "1.000")


def test_failures_have_their_breaches_in_their_report(run_shop):
    run = run_shop(ids=("bad-failed",))
    run.outcomes(failed=1)
    run.line("policy: broke named (message 2)")
    run.lacks("not named before")
    run.lacks("rules broken in")
    run_shop("-v", ids=("bad-failed",)).line('policy: named, message 2: fill(item="bad"): not named before')


def test_few_trials_are_shown_and_all_with_v(run_shop):
    ids = [f"bad-{number}" for number in range(5)]
    run = run_shop(ids=ids)
    run.line("rules broken in 5 trials with reward 1 (-v shows all)")
    assert run.text.count("not named before") == 3
    assert run_shop("-v", ids=ids).text.count("not named before") == 5


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("brevity", ["-q", "-qq"])
def test_what_broke_a_rule_is_shown_with_q(run_shop, brevity, workers):
    run = run_shop(brevity, *workers)
    run.line("policy         0.500", "1 of 2 trials broke a rule, 1 with reward 1")
    run.line("broken rules: named (1 trial, 1 breach)")
    run.line('      named, message 2: fill(item="milk"): not named before')
    run.lacks("partial credit")
    run_shop(brevity, *workers, ids=("good-1",)).lacks("policy")


@pytest.mark.parametrize("ini", [True, False])
def test_the_option_switches_rules_off(run_shop, project, ini):
    if ini:
        project.write("pytest.ini", "[pytest]\ntau_policy_rules = off\n")
    run = run_shop(*([] if ini else ["--tau-policy-rules", "off"]), "--tau-gate", "policy>=0.9")
    run.outcomes(passed=2)
    run.line("gate policy >= 0.9: not decided: no trial was checked against rules", "--tau-policy-rules is off")
    run.lacks("rules broken")


@pytest.mark.parametrize("workers", WORKERS)
def test_gates_on_all_rules_and_on_one(run_shop, workers):
    gates = ("policy>=0.95", "policy.named>=0.5", "policy.unknown>=0.5")
    run = run_shop(*(part for gate in gates for part in ("--tau-gate", gate)), *workers)
    assert run.ret == 1
    run.line("gate policy >= 0.95: 0.500", ": missed")
    run.line("gate policy.named >= 0.5: 0.500", ": met")
    run.line("gate policy.unknown >= 0.5: not decided: no trial was checked against this rule")


def test_a_gate_on_a_domain_without_rules_says_so(run_shop):
    run = run_shop("--tau-gate", "policy>=0.95", rules="()")
    run.outcomes(passed=2)
    run.line("gate policy >= 0.95: not decided: no trial was checked against rules: the domains have none")


@pytest.mark.parametrize("workers", WORKERS)
def test_a_rule_that_raises_is_named_and_no_trial_is_lost(run_shop, workers):
    run = run_shop(rules='[NAMED, Rule("odd", "One at a time.", raises)]', *workers)
    run.outcomes(passed=2)
    run.line("rule 'odd' could not be checked in 2 trials: LookupError: what is this?")
    run.line("broken rules: named (1 trial, 1 breach)")


def test_a_rule_that_does_not_end_is_named(run_shop, monkeypatch):
    monkeypatch.setattr("pytest_tau.policy.check.SECONDS", 0.2)
    monkeypatch.setattr("pytest_tau.policy.check.run_rules.__defaults__", (0.2,))
    run = run_shop(rules='[Rule("odd", "One at a time.", endless), NAMED]')
    run.outcomes(passed=2)
    run.line("rule 'odd' could not be checked in 2 trials: no end after 0.2 s")
    run.line("broken rules: named (1 trial, 1 breach)")


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ('"nowhere:RULES"', "domain 'shop': rules: cannot import 'nowhere:RULES': ModuleNotFoundError"),
        ("[42]", "domain 'shop': rules: expected Rule objects"),
        ("[NAMED, NAMED]", "domain 'shop': two rules are called 'named'"),
    ],
)
def test_rules_that_cannot_be_loaded_are_reported_before_any_conversation(run_shop, rules, problem):
    run = run_shop(rules=rules)
    assert run.ret != 0
    run.line(problem)
    run.lacks(" passed")


def test_breaches_are_stored_exported_and_compared(run_shop, project, capsys, monkeypatch):
    monkeypatch.chdir(project.path)
    run_shop("--tau-run-name", "one")
    run_shop("--tau-run-name", "two", ids=("bad-1", "good-1"), rules="[NAMED]")
    stored = [json.loads(line) for line in (project.path / ".tau/runs/one/simulations.jsonl").read_text().splitlines()]
    found = {each["task_id"]: each for each in (line.get("simulation", line) for line in stored)}
    policy = found["bad-1"]["facts"]["policy_rules"]
    assert policy["score"] == 0
    assert policy["breaches"][0]["rule"] == "named"
    assert found["good-1"]["facts"]["policy_rules"] == {
        "score": 1.0,
        "checked": ["named"],
        "breaches": [],
        "broken": "",
        "kept": {"named": 1.0},
    }
    assert main(["export", ".tau/runs/one", "--format", "csv", "-o", "one.csv"]) == 0
    lines = (project.path / "one.csv").read_text(encoding="utf-8").splitlines()
    rows = {row["task_id"]: row for row in csv.DictReader(lines)}
    assert (rows["bad-1"]["policy"], rows["bad-1"]["policy_breaches"]) == ("0", "named (1)")
    assert (rows["good-1"]["policy"], rows["good-1"]["policy_breaches"]) == ("1", "")
    capsys.readouterr()
    assert main(["regrade", ".tau/runs/one", "--check-policy"]) == 0
    assert "policy: 1 of 2 simulations broke a rule, 1 with reward 1: named 1" in capsys.readouterr().out
    assert main(["regrade", ".tau/runs/one", "--check-policy", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["files"][0]["results"]
    assert {each["task_id"]: each["policy"]["score"] for each in results} == {"bad-1": 0.0, "good-1": 1.0}


def test_comparisons_show_a_difference_and_nothing_if_there_is_none(run_shop, project, capsys, monkeypatch):
    monkeypatch.chdir(project.path)
    run_shop("--tau-run-name", "one", rules='[Rule("named", "One at a time.", lambda trajectory: [])]')
    run_shop("--tau-run-name", "two")
    capsys.readouterr()
    main(["compare", ".tau/runs/one", ".tau/runs/two"])
    out = capsys.readouterr().out
    assert "policy 1.000 -> 0.500: -0.500" in out
    assert "rules kept: named 1.000 -> 0.500" in out
    main(["compare", ".tau/runs/two", ".tau/runs/two"])
    assert "policy" not in capsys.readouterr().out


def test_markdown_and_html_have_the_breaches(run_shop, project):
    run_shop("--tau-markdown", "page.md", "--tau-html", "page.html")
    page = (project.path / "page.md").read_text(encoding="utf-8")
    assert "| policy | broken rules: named (1 trial, 1 breach) |" in page
    assert "1 of 2 trials broke a rule, 1 with reward 1" in page
    assert '"policy"' in (project.path / "page.html").read_text(encoding="utf-8")


def test_lint_runs_the_rules_over_gold(run_shop, project, capsys, monkeypatch):
    monkeypatch.chdir(project.path)
    run_shop(rules='[NAMED, Rule("odd", "No such sentence.", raises)]')
    capsys.readouterr()
    assert main(["lint", "shop"]) == 1
    out = capsys.readouterr().out
    assert "gold-breaks-rule: 2" in out
    assert 'named, message 2: fill(item="milk"): not named before' in out.replace("\n         ", " ")
    assert "rule-not-checked: 2" in out
    assert "rule-not-in-policy: 1" in out


@pytest.mark.parametrize(("told", "severity"), [("no longer needed", "error"), ("ordered by mistake", "note")])
def test_lint_runs_the_rules_over_the_own_agent(told, severity):
    """It is an error only if the agent does the task: else it may not have been told what the rule asks for."""
    retail = load_domain("retail")
    task = next(each for each in retail.tasks() if each.id.startswith("cancel-"))
    (action,) = [each for each in task.evaluation_criteria.actions if each.name == "cancel_pending_order"]
    cancel = call(action.name, **action.arguments | {"reason": told})

    class Rash(ScriptedParticipant):
        def __init__(self) -> None:
            super().__init__([cancel, " ".join(task.evaluation_criteria.communicate_info), "Done."])

    rash = replace(retail.spec, agents={"rules": Rash}).load()
    found = asyncio.run(check_agent(task, rash, Evaluation()))
    assert {(each.rule, each.severity) for each in found} == {("agent-breaks-rule", severity)}


def test_the_bundled_shop_says_what_a_saboteur_did(project):
    run = project.run("--tau-domain", "retail", "--tau-agent", "saboteur:skips-confirmation", "--tau-num-tasks", "6")
    run.outcomes(passed=6)
    run.line("broken rules", "confirmation (")
    run.line("confirmation, message", "cancel_pending_order(", "no yes before it: the user's last words were")


def measured(task, *, broken=False, checked="asks", **fields):
    """A trial in which a rule was checked."""
    breaches = (RecordedBreach(checked, 1, "x"),) if broken else ()
    found = PolicyReport((checked,), breaches)
    stored = found.as_dict() | {"kept": {checked: found.score}}
    record = trial_record(task, facts={capability.name: stored}, **fields)
    return Measured(record, found)


def test_rules_are_compared_over_the_trials_in_which_they_were_checked():
    """Half of the trials are of a task without the rule, and one is excluded from rates."""

    def tasks(broken):
        others = [[measured(name, checked="other")] for name in "dfg"]
        return [[measured("a")], [measured("b")], [measured("c", broken=broken), measured("c", excluded="x")], *others]

    pairs = [*zip(tasks(False), tasks(True), strict=True)]
    lines = comparison(Compared([], [], pairs))
    assert lines == ["policy 1.000 -> 0.833: -0.167", "rules kept: asks 1.000 -> 0.667"]


class TestOneRule:
    COLUMNS = columns_of([capability])

    def value(self, name, *trials):
        metric = metric_named(name, self.COLUMNS)
        tasks = list(by_task(each.record for each in trials).values())
        return metric.value(tasks), metric.lacking(tasks)

    def test_the_share_is_of_trials_in_which_it_was_checked(self):
        trials = (measured("a"), measured("b", broken=True), measured("c", checked="other"))
        assert self.value("policy.asks", *trials)[0] == 0.5
        assert self.value("policy.other", *trials)[0] == 1
        assert self.value("policy.never", *trials) == (None, "no trial was checked against this rule")

    def test_a_bound_out_of_reach_is_refused(self):
        assert Gate.parse("policy.ask>=1", self.COLUMNS) == Gate.parse("policy.ask>=1", self.COLUMNS)
        with pytest.raises(ConfigurationError, match=r"as policy.ask is from 0 to 1: write 0.5 for 50 %"):
            Gate.parse("policy.ask>=50", self.COLUMNS)


@pytest.mark.parametrize("foreign", ["text", 7, {}, {"checked": "x", "breaches": []}, {"checked": [], "breaches": [1]}])
def test_facts_of_another_form_are_none(foreign):
    assert capability.read({capability.name: foreign}) is None
