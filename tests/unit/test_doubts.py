"""Tasks in doubt: how ends are counted over agents, and what ``tau doubts`` shows of stored runs."""

from __future__ import annotations

import gc
import json
import weakref
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau import load_domain
from pytest_tau.capabilities.doubts.ends import EndFacts
from pytest_tau.capabilities.doubts.evidence import Evidence, TaskKey
from pytest_tau.capabilities.doubts.runs import StoredEvidence
from pytest_tau.domains import domain_names
from pytest_tau.runs.reader import open_run
from pytest_tau.testing import ScriptedParticipant, call

from .report_pages import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_tau import Domain
    from pytest_tau.models import Simulation
    from pytest_tau.runs.reader import StoredTrial

    from .commands import Tau

TASK = TaskKey("mock", "t")


def end(*parts: str, says_nothing: str = "") -> EndFacts:
    return EndFacts(end=" ".join(parts), parts=parts, differs=parts, says_nothing=says_nothing)


def evidence(*trials: tuple[str, EndFacts | None], task: TaskKey = TASK) -> Evidence:
    """Evidence of trials, each an agent and its end; None for a passed one."""
    found = Evidence()
    for number, (agent, ending) in enumerate(trials):
        found.add(task, agent, ending, passed=ending is None, example=f"s{number}")
    return found


@pytest.mark.parametrize(
    ("trials", "score"),
    [
        ([("a", end("x")), ("b", end("x")), ("c", None)], 1 / 3),
        ([("a", end("x")), ("b", end("x")), ("c", end("y"))], 2 / 3),
        # As many pass as end in the same other way.
        ([("a", end("x")), ("b", end("x")), ("c", None), ("d", None)], None),
        # One agent alone may be mistaken, unless it ends so again and again.
        ([("a", end("x")), ("b", end("y"))], None),
        ([("a", end("x")), ("a", end("x"))], None),
        ([("a", end("x")), ("a", end("x")), ("a", end("x")), ("a", None)], 1 / 2),
        # An agent with many trials counts as one.
        ([*[("a", end("x"))] * 8, ("b", end("x")), ("c", None), ("d", None), ("e", None)], None),
        ([*[("a", None)] * 8, ("b", end("x")), ("c", end("x"))], 1 / 3),
        # Ends that say nothing about the task count as failures, and as no evidence.
        ([("a", end("x", says_nothing="nothing was changed"))] * 4, None),
        ([("a", end("x")), ("b", end("x")), ("c", end("x", says_nothing="it broke a rule"))], 2 / 3),
    ],
)
def test_the_score_is_the_share_of_agents_with_one_end_minus_the_share_that_passed(
    trials: list[Any], score: float | None
) -> None:
    doubts = evidence(*trials).doubts()
    assert [doubt.score for doubt in doubts] == ([] if score is None else [pytest.approx(score)])


def test_a_doubt_tells_how_it_was_counted() -> None:
    (doubt,) = evidence(("a", end("x")), ("a", end("x")), ("b", end("x")), ("b", None), ("c", end("y"))).doubts()
    assert (doubt.trials, doubt.passed, doubt.agents, doubt.same) == (5, 1, 2, 3)
    assert (doubt.differs, doubt.examples) == (("x",), ("s0", "s1", "s2"))


def test_of_equal_scores_a_shared_difference_comes_first_and_then_the_fewest_places() -> None:
    found = Evidence()
    for name, ends in {
        "muddle": [end("x", "y"), end("x", "y"), end("z"), end("w")],
        "slot": [end("x"), end("x"), end("z"), end("w")],
        "shared": [end("x", "y"), end("x", "y"), end("x"), end("w")],
    }.items():
        for agent, ending in enumerate(ends):
            found.add(TaskKey("mock", name), str(agent), ending, passed=False, example="")
    assert [doubt.task.task_id for doubt in found.doubts()] == ["shared", "slot", "muddle"]


def test_memory_grows_with_ends_and_not_with_trials() -> None:
    found = evidence(*[(f"agent-{number % 3}", end("x")) for number in range(3000)])
    (doubt,) = found.doubts()
    assert (doubt.same, len(doubt.examples)) == (3000, 3)


@pytest.fixture
def _count_new_objects() -> None:
    """Leave what is alive before a test out of what is counted, and of the time that counting takes."""
    gc.collect()
    gc.freeze()


class Bundled:
    """The bundled domains."""

    def names(self) -> list[str]:
        return domain_names()

    def load(self, name: str, run: object = None) -> Domain:
        return load_domain(name)


def objects_of_reading(file: str) -> tuple[int, int]:
    """Return how many conversations are alive at once while a file is read, and how many objects are kept of it."""
    stored = StoredEvidence(Bundled(), None, frozenset())
    run, alive, read = open_run(file), 0, list[weakref.ref[pytest_tau.Simulation]]()
    trials = run.trials

    def watched() -> Iterator[StoredTrial]:
        nonlocal alive
        for trial in trials():
            read.append(weakref.ref(trial.simulation))
            yield trial
            alive = max(alive, sum(simulation() is not None for simulation in read))

    gc.collect()
    before = len(gc.get_objects())
    run.trials = watched  # type: ignore[method-assign]
    stored.read(run)
    read.clear()
    gc.collect()
    kept = len(gc.get_objects()) - before
    assert stored.evidence.tasks == 1
    return alive, kept


@pytest.mark.usefixtures("_count_new_objects")
def test_reading_ten_times_as_many_trials_keeps_no_more_objects(tmp_path: Path) -> None:
    ends = (play("Buy bread"), play("Buy jam"), play("Order new chairs"), play())
    few, many = write(tmp_path, "heron", *ends), write(tmp_path, "tern", *ends * 10)
    objects_of_reading(few)  # what is made once a process
    (alive, kept), (alive_of_many, kept_of_many) = objects_of_reading(few), objects_of_reading(many)
    assert alive_of_many == alive
    assert kept_of_many < kept + 9 * len(ends)  # less than one for each further trial


@pytest.mark.usefixtures("_count_new_objects")
def test_a_trial_that_ends_as_others_do_adds_no_objects() -> None:
    found = evidence(("heron", end("x")), ("tern", end("x")), ("heron", end("y", "z")))
    for number in range(10):
        found.add(TASK, "heron", end("x"), passed=False, example=str(number))
    gc.collect()
    before = len(gc.get_objects())
    for number in range(1000):
        found.add(TASK, "heron", end("x") if number % 2 else end("y", "z"), passed=False, example=str(number))
    gc.collect()
    assert len(gc.get_objects()) - before < 10


# Stored runs


def play(*titles: str, task_id: str = "create-task") -> Simulation:
    """A conversation about a task of mock with an agent that creates tasks of these titles."""
    domain = pytest_tau.load_domain("mock")
    task = next(task for task in domain.tasks() if task.id == task_id)
    agent = ScriptedParticipant([*(call("create_task", user_id="user_1", title=title) for title in titles), "Done."])
    user = ScriptedParticipant(["Please.", "###STOP###"])
    return pytest_tau.simulate(task, domain=domain, agent=agent, user=user)


def write(folder: Path, agent: str, *simulations: Simulation, **changes: Any) -> str:
    """A result file of τ²-bench, whose verdicts do not tell how a conversation ended; returns its path."""
    (task,) = (task for task in pytest_tau.load_domain("mock").tasks() if task.id == "create-task")
    rows = []
    for number, simulation in enumerate(simulations):
        row = simulation.model_dump(mode="json", exclude={"facts", "info", "conditions"}, exclude_none=True)
        row["reward_info"] = {"reward": row["reward_info"]["reward"]}
        rows.append(row | {"id": f"{agent}-{number}", "task_id": "create-task"})
    document = {
        "info": {
            "agent_info": {"implementation": "llm_agent", "llm": agent},
            "environment_info": {"domain_name": "mock"},
        },
        "tasks": [task.model_dump(mode="json", exclude_none=True) | changes],
        "simulations": rows,
    }
    file = folder / f"{agent}.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def test_facts_of_a_failed_trial_have_its_end() -> None:
    wrong, again, other, idle = play("Buy bread"), play("Buy bread"), play("Buy jam"), play()
    ends = [simulation.facts["doubts"] for simulation in (wrong, again, other, idle)]
    assert ends[0] == ends[1]
    assert ends[0]["end"] != ends[2]["end"]
    assert ends[0]["differs"] == ['tasks/task_3/title: expected "Order new chairs", got "Buy bread"']
    assert [each["says_nothing"] for each in ends] == ["", "", "", "nothing was changed"]
    assert "doubts" not in play("Order new chairs").facts


def test_runs_of_several_agents_are_compared(tau: Tau, tmp_path: Path) -> None:
    files = [
        write(tmp_path, "heron", play("Buy bread"), play("Buy bread")),
        write(tmp_path, "tern", play("Buy bread"), play("Order new chairs")),
        write(tmp_path, "wren", play(), play("Buy jam")),
    ]
    (doubt,) = tau("doubts", *files, "--json").json["tasks"]
    assert doubt == {
        "domain": "mock",
        "task_id": "create-task",
        "score": 0.3333,
        "trials": 6,
        "passed": 1,
        "agents": 2,
        "same": 3,
        "differs": ['tasks/task_3/title: expected "Order new chairs", got "Buy bread"'],
        "findings": [],
        "examples": ["heron-0", "heron-1", "tern-0"],
    }
    ran = tau("doubts", *files)
    assert ran.lines == [
        "create-task: 3 trials of 2 agents end in the same other way, 1 of 6 trials pass",
        '    tasks/task_3/title: expected "Order new chairs", got "Buy bread"',
        "  such as heron-0, heron-1, tern-0",
        "1 of 1 task in doubt, by the trials of 3 agents",
        "no evidence: nothing was changed: 1",
    ]


def test_tasks_of_one_id_that_differ_are_counted_apart(tau: Tau, tmp_path: Path) -> None:
    changed = {"user_scenario": {"instructions": "Create the task Buy bread for user_1."}}
    files = [
        write(tmp_path, "heron", play("Buy bread")),
        write(tmp_path, "tern", play("Buy bread"), **changed),
    ]
    ran = tau("doubts", *files)
    assert ran.lines[0] == "0 of 2 tasks in doubt, by the trials of 2 agents"
    assert "different tasks under one id, which are counted apart: create-task" in " ".join(ran.lines)


def test_a_run_on_other_data_is_refused(tau: Tau, tmp_path: Path) -> None:
    simulation = play("Order new chairs")
    text = simulation.model_dump_json().replace("user_1", "user_77")
    file = write(tmp_path, "heron", type(simulation).model_validate_json(text))
    ran = tau("doubts", file)
    assert ran.status == 2
    assert "was not made on the bundled data of mock: add --data DIR" in ran.err


# The HTML report


def shown_tasks(file: Path) -> list[dict[str, Any]]:
    """The blocks of tasks of a page."""
    blocks: list[dict[str, Any]] = Page(file).data["taskBlocks"]
    return blocks


def test_a_page_of_two_agents_shows_the_tasks_that_the_command_shows(tau: Tau, tmp_path: Path) -> None:
    files = [write(tmp_path, "heron", play(), play("Buy bread")), write(tmp_path, "tern", play("Buy bread"))]
    (doubt,) = tau("doubts", *files, "--json").json["tasks"]
    tau("view", *files, "-o", str(tmp_path / "page.html"))
    (block,) = shown_tasks(tmp_path / "page.html")
    assert (block["title"], block["note"]) == (
        "Task in doubt",
        "2 trials of 2 agents end in the same other way, 0 of 3 trials pass",
    )
    assert block["rows"][0][1].startswith(f"{doubt['score']:.2f}, ")
    assert [item["text"] for item in block["items"]] == [*doubt["differs"], *doubt["findings"]]
    assert block["simulations"] == [[0, 1], [1, 0]]


def test_a_page_of_a_run_with_many_trials_shows_a_task_in_doubt_and_what_lint_finds(tau: Tau, tmp_path: Path) -> None:
    (task,) = (task for task in pytest_tau.load_domain("mock").tasks() if task.id == "create-task")
    criteria = task.criteria.model_dump(mode="json", exclude_none=True) | {"communicate_info": ["3"]}
    file = write(tmp_path, "heron", *[play("Buy bread")] * 3, evaluation_criteria=criteria)
    tau("view", file, "-o", str(tmp_path / "page.html"))
    (block,) = shown_tasks(tmp_path / "page.html")
    assert block["simulations"] == [[0, 0], [0, 1], [0, 2]]
    rules = [item["text"].partition(":")[0] for item in block["items"] if item["head"] == "tau lint"]
    assert "communicate-one-character" in rules


@pytest.mark.parametrize("titles", [("Buy bread",), ("Buy bread", "Buy jam", "Order new chairs"), ("Buy bread",) * 2])
def test_a_page_without_a_doubt_shows_none(tau: Tau, tmp_path: Path, titles: tuple[str, ...]) -> None:
    tau("view", write(tmp_path, "heron", *map(play, titles)), "-o", str(tmp_path / "page.html"))
    assert shown_tasks(tmp_path / "page.html") == []


def test_a_page_of_a_run_on_other_data_is_written_without_doubts(tau: Tau, tmp_path: Path) -> None:
    text = play("Buy bread").model_dump_json().replace("user_1", "user_77")
    elsewhere = [pytest_tau.Simulation.model_validate_json(text)] * 3
    ran = tau("view", write(tmp_path, "heron", *elsewhere), "-o", str(tmp_path / "page.html"))
    assert ran.status == 0
    assert shown_tasks(tmp_path / "page.html") == []
