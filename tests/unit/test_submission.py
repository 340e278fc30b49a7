"""``tau submit``: the folder of a submission, and everything that its check finds wrong."""

from __future__ import annotations

import builtins
import copy
import json
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.cli import main
from pytest_tau.models import RewardInfo
from pytest_tau.runs.reader import StoredTrial
from pytest_tau.submission.document import document_problems
from pytest_tau.submission.trajectories import Trajectories

from .test_export import keep, stored_trials, trial

if TYPE_CHECKING:
    from .commands import Ran, Tau

ROOT = Path(__file__).parents[2]
FIELDS = {
    "model_name": "examplecorp/heron-2",
    "model_organization": "ExampleCorp",
    "submitting_organization": "Institute of Examples",
    "contact_info.email": "evals@example.org",
}
GIVEN = [part for name, value in FIELDS.items() for part in ("--set", f"{name}={value}")]
SETTINGS = {"agent": "llm", "agent_llm": "examplecorp/heron-2", "user": "llm", "user_llm": "examplecorp/tern"}
#: The conditions of a run in which nothing was changed.
STANDARD = {
    "protocol": "tau2",
    "agent": "llm",
    "user": "llm",
    "agent_prompt": "official",
    "user_prompt": "official",
    "data": "official",
    "grading": "official",
}


@pytest.fixture(scope="module")
def trials() -> list[StoredTrial]:
    """Two trials of each task of the bundled airline domain's split base that needs no judge."""
    return stored_trials("airline", most=10_000, trials=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, trials: list[StoredTrial]) -> Path:
    """A run of the bundled airline domain, which no test changes."""
    domain = pytest_tau.load_domain("airline")
    assert {each.simulation.task_id for each in trials} == {task.id for task in domain.tasks()}
    info = {"started": "2026-11-20T03:04:05+00:00", "settings": SETTINGS}
    return keep(tmp_path_factory.mktemp("stored") / "run", trials, info).folder


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, run: Path) -> Path:
    """The folder of a submission; shared, so that a test changes a copy."""
    path = tmp_path_factory.mktemp("prepared")
    assert main(["submit", "prepare", str(run), "-o", str(path), *GIVEN]) == 0
    (found,) = path.iterdir()
    return found


@pytest.fixture
def folder(tmp_path: Path, prepared: Path) -> Path:
    """A copy of the folder of a submission."""
    return Path(shutil.copytree(prepared, tmp_path / "out" / prepared.name))


def document_of(folder: Path) -> Any:
    return json.loads((folder / "submission.json").read_text(encoding="utf-8"))


def change(file: Path, function: Callable[[Any], object]) -> None:
    document = json.loads(file.read_text(encoding="utf-8"))
    function(document)
    file.write_text(json.dumps(document), encoding="utf-8")


def test_a_prepared_folder_passes_its_check(tau: Tau, folder: Path) -> None:
    assert re.fullmatch(r"examplecorp-heron-2_examplecorp_\d{4}-\d\d-\d\d", folder.name)
    document = document_of(folder)
    assert document_problems(document) == []
    assert document["submission_type"] == "custom"
    assert document["results"]["airline"] == {
        "pass_1": 100.0,
        "pass_2": 100.0,
        "pass_3": None,
        "pass_4": None,
        "cost": None,
    }
    assert document["trajectory_files"] == {"airline": "airline_results.json"}
    assert document["methodology"]["evaluation_date"] == "2026-11-20"
    assert document["methodology"]["user_simulator"] == "examplecorp/tern"
    assert document["methodology"]["verification"] == {"modified_prompts": True, "omitted_questions": False}
    assert "agent gold" in document["methodology"]["notes"]
    ran = tau("submit", "check", folder)
    assert ran.status == 0, ran.out
    assert "every check has passed" in " ".join(ran.out.split())  # the line is wrapped, as it has the folder
    assert "2 trials of each task; submissions are expected to have 4" in ran.out


def test_the_type_is_proposed_from_what_was_recorded(tau: Tau, tmp_path: Path, trials: list[StoredTrial]) -> None:
    trials = copy.deepcopy(trials)
    for each in trials:
        each.simulation.conditions = STANDARD
    keep(tmp_path / "plain", trials, {"settings": SETTINGS})
    ran = tau("submit", "prepare", "plain", "-o", "a", *GIVEN)
    assert "proposed type: standard (agent, user, texts, data, limits and grading are those of τ²-bench)" in ran.out
    trials[0].simulation.conditions = STANDARD | {"agent": "mine.py:Agent", "grading": "strict"}
    keep(tmp_path / "own", trials, {"settings": SETTINGS})
    ran = tau("submit", "prepare", "own", "-o", "b", *GIVEN)
    reasons = "agent mine.py:Agent in 1 trial; grading strict in 1 trial"
    assert f"proposed type: custom ({reasons})" in ran.out
    standard = ["--set", "submission_type=standard"]
    ran = tau("submit", "prepare", "own", "-o", "c", *GIVEN, *standard)
    assert (ran.status, f"these runs are custom ({reasons}); --force writes standard" in ran.err) == (2, True)
    assert not (tmp_path / "c").exists()
    assert tau("submit", "prepare", "own", "-o", "c", *GIVEN, *standard, "--force").status == 0
    (folder,) = (tmp_path / "c").iterdir()
    ran = tau("submit", "check", folder)
    assert (ran.status, f"standard, but airline_results.json is custom: {reasons}" in ran.out) == (1, True)


# Fields


def test_fields_are_given_by_a_file_and_by_options(tau: Tau, tmp_path: Path, run: Path) -> None:
    toml = 'model_organization = "A"\nsubmitting_organization = "B"\nis_new = true\n[contact_info]\nemail = "c@d.e"\n'
    (tmp_path / "fields.toml").write_text(toml, encoding="utf-8")
    reference = '[{"title": "Agent", "url": "https://example.org"}]'
    chosen = ["--set", "model_organization=Z", "--set", "contact_info.name=N", "--set", f"references={reference}"]
    ran = tau("submit", "prepare", run, "-o", "out", "--from", "fields.toml", *chosen)
    assert ran.status == 0, ran.err
    (folder,) = (tmp_path / "out").iterdir()
    document = document_of(folder)
    assert (document["model_name"], document["model_organization"]) == ("examplecorp/heron-2", "Z")
    assert document["contact_info"] == {"email": "c@d.e", "name": "N"}
    assert (document["is_new"], document["references"][0]["title"]) == (True, "Agent")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "missing: model_organization, submitting_organization, contact_info.email; give each by --set"),
        ([*GIVEN, "--set", "results={}"], "results: is computed from the runs"),
        ([*GIVEN, "--set", "modle=x"], "modle: not a field of submission.json"),
        ([*GIVEN, "--set", "contact_info.phone=1"], "contact_info.phone: unknown field"),
        ([*GIVEN, "--set", "submission_date=22.11.2026"], "submission_date: expected a date: YYYY-MM-DD"),
        ([*GIVEN, "--set", "model_release.announcement_url=x"], "announcement_url needs release_date"),
        ([*GIVEN, "--set", "novalue"], "--set: expected KEY=VALUE"),
        ([*GIVEN, "--set", "references=[1"], "--set references: not valid JSON"),
        ([*GIVEN, "--set", "model_name.x=1"], "model_name"),
        ([*GIVEN, "--from", "broken.toml"], "--from broken.toml: not valid TOML"),
    ],
)
def test_fields_that_cannot_be_used_are_reported(
    tau: Tau, tmp_path: Path, run: Path, arguments: list[str], problem: str
) -> None:
    (tmp_path / "broken.toml").write_text("a = ", encoding="utf-8")
    ran = tau("submit", "prepare", run, "-o", "out", *arguments)
    assert (ran.status, problem in ran.err) == (2, True), ran.err
    assert not (tmp_path / "out").exists()


def test_missing_fields_are_asked_for_on_a_terminal(
    tau: Tau, tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "x@example.org" if "mail" in question else "ExampleCorp"

    monkeypatch.setattr(builtins, "input", answer)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert "missing: model_organization" in tau("submit", "prepare", run, "-o", "out", "--yes").err
    assert asked == []
    assert tau("submit", "prepare", run, "-o", "out").status == 0
    assert [question.partition(":")[0] for question in asked] == [
        "model_organization",
        "submitting_organization",
        "contact_info.email",
    ]
    assert tau("submit", "prepare", run, "-o", "out").status == 2  # it is there already


def test_runs_that_cannot_be_submitted_are_refused(tau: Tau, tmp_path: Path, run: Path) -> None:
    keep(tmp_path / "mock", [trial("a")])
    assert "domain 'mock' is not on the leaderboard" in tau("submit", "prepare", "mock", "-o", "out", *GIVEN).err
    shutil.copytree(run, tmp_path / "again")
    ran = tau("submit", "prepare", run, "again", "-o", "out", *GIVEN)
    assert "run and again both have airline; join them by tau merge" in ran.err
    assert not (tmp_path / "out").exists()


def test_several_domains_are_a_file_each_and_can_be_trimmed(tau: Tau, tmp_path: Path, run: Path) -> None:
    keep(tmp_path / "other", stored_trials("retail", most=10_000), {"settings": SETTINGS})
    assert tau("submit", "prepare", run, "other", "-o", "out", "--trim", *GIVEN).status == 0
    (folder,) = (tmp_path / "out").iterdir()
    assert set(document_of(folder)["results"]) == {"airline", "retail"}
    assert sorted(file.name for file in (folder / "trajectories").iterdir()) == [
        "airline_results.json",
        "retail_results.json",
    ]
    simulations = json.loads((folder / "trajectories/airline_results.json").read_text(encoding="utf-8"))["simulations"]
    assert "pytest_tau" not in json.dumps(simulations)
    assert tau("submit", "check", folder).status == 0


# Checks


def set_in(document: Any, path: str, value: Any) -> None:
    *parents, name = path.split(".")
    for part in parents:
        document = document[int(part)] if part.isdecimal() else document[part]
    document[name] = value


DOCUMENT_FAULTS = [
    ("results.airline.pass_1", 99.99999, "metrics: results.airline.pass_1: 99.99999, but the trajectories give 100.0"),
    ("results.airline.pass_3", 1.0, "metrics: results.airline.pass_3: 1.0, but the trajectories give null"),
    ("results.airline.cost", 0.5, "metrics: results.airline.cost: 0.5, but the trajectories give null"),
    ("results.retail", {"pass_1": 1.0}, "domains: results.retail: has no trajectories"),
    ("trajectory_files.airline", "x.json", "files: trajectory_files.airline: x.json: there is no such file"),
    ("model_name", "Heron 2", "models: model_name: 'Heron 2', but agent_info.llm of the trajectories is"),
    ("methodology.user_simulator", "x", "models: methodology.user_simulator: 'x', but user_info.llm"),
    ("submission_type", "standard", "type: submission_type: standard, but airline_results.json is custom"),
    ("contact_info.phone", "1", "document: submission.json: contact_info.phone: unknown field"),
]
FILE_FAULTS = [
    ("info.num_trials", 3, "trials: airline_results.json: expected 3 trials of each task (info.num_trials)"),
    ("simulations.1.trial", 0, "trials: airline_results.json: more than once: trial 0 of"),
    ("tasks.0.user_scenario.instructions", "Other", "differs from the data: user_scenario.instructions"),
    ("simulations.0.reward_info.reward", 0.0, "replay: airline_results.json: entry 0"),
    ("info.agent_info.llm", "other", "models: model_name"),
]


def test_wrong_fields_of_the_document_are_found(tau: Tau, folder: Path) -> None:
    for path, value, _ in DOCUMENT_FAULTS:
        change(folder / "submission.json", partial(set_in, path=path, value=value))
    assert_found(tau("submit", "check", folder), *(finding for *_, finding in DOCUMENT_FAULTS))


def test_wrong_fields_of_the_trajectories_are_found(tau: Tau, folder: Path) -> None:
    for path, value, _ in FILE_FAULTS:
        change(folder / "trajectories/airline_results.json", partial(set_in, path=path, value=value))
    change(folder / "submission.json", partial(set_in, path="methodology.notes", value=None))
    notes = "type: methodology.notes: a custom submission describes what was changed"
    assert_found(tau("submit", "check", folder), *(finding for *_, finding in FILE_FAULTS), notes)


def assert_found(ran: Ran, *findings: str) -> None:
    text = " ".join(ran.out.split())
    assert (ran.status, [each for each in findings if each not in text]) == (1, []), ran.out


def test_a_conversation_under_the_id_of_another_task_is_found(tau: Tau, folder: Path) -> None:
    def exchange(document: Any) -> None:
        with_actions = [each for each in document["simulations"] if each["reward_info"]["action_checks"]]
        first = with_actions[0]
        first["task_id"] = next(each["task_id"] for each in with_actions if each["task_id"] != first["task_id"])
        first["info"] = None  # where the export keeps what belongs to the task

    change(folder / "trajectories/airline_results.json", exchange)
    ran = tau("submit", "check", folder)
    assert "the stored verdict is about other reference actions, those of task" in " ".join(ran.out.split())


def test_missing_tasks_and_trials_are_found(tau: Tau, folder: Path) -> None:
    def cut(document: Any) -> None:
        first = document["tasks"][0]["id"]
        document["tasks"] = document["tasks"][1:]
        document["simulations"] = [each for each in document["simulations"] if each["task_id"] != first][1:]

    change(folder / "trajectories/airline_results.json", cut)
    ran = tau("submit", "check", folder)
    assert "1 task of the split base missing" in ran.out
    assert "expected 2 trials of each task" in ran.out


def test_missing_files_and_twins_are_found(tau: Tau, tmp_path: Path, folder: Path) -> None:
    missing = tau("submit", "check", "nowhere")
    assert (missing.status, missing.out) == (2, "")
    assert "nowhere: there is no such folder" in missing.err
    results = folder / "trajectories/airline_results.json"
    shutil.copy(results, folder / "trajectories/more.json")
    change(folder / "trajectories/more.json", lambda document: set_in(document, "info.user_info.llm", "other"))
    ran = tau("submit", "check", folder)
    assert "domains: airline: is in 2 files" in ran.out
    assert "files: more.json: is not in trajectory_files" in ran.out
    assert "models: more.json: user_info.llm is 'other', 'examplecorp/tern' in airline_results.json" in ran.out
    (folder / "trajectories/more.json").write_text("{", encoding="utf-8")
    ran = tau("submit", "check", folder)
    assert "files: more.json: no simulation can be read" in ran.out
    shutil.rmtree(folder / "trajectories")
    (folder / "submission.json").unlink()
    ran = tau("submit", "check", folder, "--json")
    assert ran.status == 1
    assert [(each["check"], each["where"]) for each in ran.json["findings"]] == [
        ("folder", "submission.json"),
        ("folder", "trajectories"),
    ]


def test_trials_lost_to_infrastructure_are_shown_by_both_conventions(tmp_path: Path, tau: Tau) -> None:
    failed = RewardInfo(reward=0.0, reward_basis=["DB"], reward_breakdown={"DB": 0.0})
    stored = [trial("a", number, domain="airline", agent_cost=0.25) for number in range(4)]
    stored += [trial("b", number, domain="airline", agent_cost=0.75) for number in range(3)]
    stored[1].simulation.reward_info = failed
    stored.append(trial("b", 3, domain="airline", termination_reason="infrastructure_error", reward_info=None))
    keep(tmp_path / "run", stored)
    tau("export", "run", "--format", "tau2", "-o", "a.json")
    found = Trajectories.read(tmp_path / "a.json")
    assert found.lost == 1
    # Source: τ²-bench's validator excludes the trial, so that there is no pass^4.
    assert found.rates() == {"pass_1": 87.5, "pass_2": 75.0, "pass_3": 62.5, "pass_4": None}
    assert found.rates(lost_fail=True) == {"pass_1": 75.0, "pass_2": 50.0, "pass_3": 25.0, "pass_4": 0.0}
    assert found.cost == pytest.approx((4 * 0.25 + 3 * 0.75) / 7)
    assert tau("submit", "prepare", "run", "-o", "out", *GIVEN).status == 0
    (folder,) = (tmp_path / "out").iterdir()
    assert (
        "airline: 1 trial lost to infrastructure; counted as failures: pass_1 75.00"
        in (document_of(folder)["methodology"]["notes"])
    )


def test_the_fields_of_the_page_are_enough(tau: Tau, run: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "comparability.md").read_text(encoding="utf-8")
    (toml,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "fields.toml").write_text(toml, encoding="utf-8")
    ran = tau("submit", "prepare", run, "-o", "submissions", "--from", "fields.toml")
    assert ran.status == 0, ran.err
    (folder,) = (tmp_path / "submissions").iterdir()
    assert tau("submit", "check", folder).status == 0
