"""``tau export``: a run as τ²-bench's results file, as a table, as JSON lines; and what reads them again."""

from __future__ import annotations

import csv
import gzip
import io
import json
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pytest

import pytest_tau
from pytest_tau import Capability, ExportFormat
from pytest_tau.analysis.columns import COLUMNS
from pytest_tau.capability import installed
from pytest_tau.files import digest
from pytest_tau.models import CustomCheck, RewardInfo, Simulation, Task
from pytest_tau.reports.export import write_jsonl
from pytest_tau.runner import SimulationSettings
from pytest_tau.runs.reader import Run, StoredTrial
from pytest_tau.runs.results.entries import Unreadable
from pytest_tau.runs.results.files import ResultFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .commands import Tau

DOMAINS = ("mock", "airline", "retail", "telecom")


class Kept(NamedTuple):
    """A run's folder, and what is in it."""

    folder: Path
    trials: list[StoredTrial]


def keep(folder: Path, trials: list[StoredTrial], info: dict[str, Any] | None = None) -> Kept:
    """Lay out a run's folder as a run does."""
    folder.mkdir(parents=True)
    lines = []
    for trial in trials:
        entry = {"test": trial.test, "domain": trial.domain, **trial.simulation.model_dump(mode="json")}
        if trial.task:
            entry["task"] = trial.task.model_dump(mode="json", exclude_none=True)
        lines.append(json.dumps(entry) + "\n")
    (folder / "simulations.jsonl").write_text("".join(lines), encoding="utf-8")
    if info is not None:
        (folder / "run.json").write_text(json.dumps({"format": 1, **info}), encoding="utf-8")
    return Kept(folder, trials)


def stored_trials(name: str, agent: str = "gold", most: int = 6, trials: int = 1) -> list[StoredTrial]:
    """Simulations of a bundled domain's tasks."""
    domain = pytest_tau.load_domain(name)
    tasks = [task for task in domain.tasks() if not task.needs_judge][:most]
    found = []
    for task in tasks:
        for trial in range(trials):
            simulation = pytest_tau.simulate(task, domain=domain, agent=agent, trial=trial, seed=7 + trial)
            found.append(StoredTrial(name, simulation, task, f"{name}::{task.id}[trial-{trial}]"))
    return found


def essence(simulation: Simulation) -> dict[str, Any]:
    """All fields of a simulation except for facts and the numbers of its turns, which an export adds."""
    found = simulation.model_dump(mode="json", exclude={"facts"})
    for message in found["messages"]:
        message.pop("turn_idx", None)
    return found


def plain(task: Task | None) -> dict[str, Any] | None:
    return task.model_dump(mode="json", exclude={"user_scenario": {"script"}}) if task else None


def trial(task_id: str = "t", number: int = 0, *, domain: str = "mock", basis: Any = (), **fields: Any) -> StoredTrial:
    """A made-up trial."""
    criteria = {"reward_basis": list(basis)} if basis else None
    task = Task.model_validate({"id": task_id, "user_scenario": {"instructions": "x"}, "evaluation_criteria": criteria})
    verdict = RewardInfo(reward=1.0, reward_basis=["DB"], reward_breakdown={"DB": 1.0})
    given = {"termination_reason": "user_stop", "reward_info": verdict} | fields
    simulation = Simulation(id=f"{task_id}-{number}", task_id=task_id, trial=number, **given)
    return StoredTrial(domain, simulation, task, f"{domain}::{task_id}[trial-{number}]")


# τ²-bench's format


@pytest.mark.parametrize("agent", ["gold", "noop"])
@pytest.mark.parametrize("name", DOMAINS)
def test_a_run_is_the_same_once_it_is_read_back(tau: Tau, tmp_path: Path, name: str, agent: str) -> None:
    kept = keep(tmp_path / "run", stored_trials(name, agent))
    assert tau("export", "run", "--format", "tau2", "--out", "results.json").status == 0
    again = ResultFile.scan(tmp_path / "results.json")
    assert (again.kind, again.domain, again.problems) == ("τ²-bench", name, [])
    runs: list[Any] = list(again.simulations())
    assert [essence(run.simulation) for run in runs] == [essence(each.simulation) for each in kept.trials]
    assert [plain(run.task) for run in runs] == [plain(each.task) for each in kept.trials]
    assert [run.simulation.reward for run in runs] == [each.simulation.reward for each in kept.trials]


@pytest.mark.parametrize("agent", ["gold", "noop"])
@pytest.mark.parametrize("name", DOMAINS)
def test_everything_but_a_table_can_be_graded_again(tau: Tau, tmp_path: Path, name: str, agent: str) -> None:
    kept = keep(tmp_path / "run", stored_trials(name, agent, most=3))
    for suffix, form in (("json", "tau2"), ("json.gz", "tau2"), ("jsonl", "jsonl"), ("jsonl.gz", "jsonl")):
        assert tau("export", "run", "--format", form, "-o", f"out.{suffix}").status == 0
    done = tau("regrade", "run", "out.json", "out.json.gz", "out.jsonl", "out.jsonl.gz")
    assert done.status == 0, done.out
    assert f"{5 * len(kept.trials)} simulations, {5 * len(kept.trials)} agree" in done.out


def test_a_run_that_was_merged_is_graded_again_and_exported(tau: Tau, tmp_path: Path) -> None:
    trials = stored_trials("mock", most=4)
    keep(tmp_path / "a", trials[:2])
    keep(tmp_path / "b", trials[2:])
    assert tau("merge", "a", "b", "-o", "both").status == 0
    assert "4 simulations, 4 agree" in tau("regrade", "both").out
    assert tau("export", "both", "--format", "jsonl", "-o", "c/simulations.jsonl").status == 0
    assert tau("merge", "both", "c", "-o", "all").status == 0
    assert "4 simulations, 4 agree" in tau("regrade", "all").out


def test_the_file_has_the_fields_of_the_format_and_no_others(tau: Tau, tmp_path: Path) -> None:
    settings = {
        "agent": "llm",
        "agent_llm": "openai/m",
        "agent_llm_args": {"temperature": 0.0},
        "user": "llm",
        "max_steps": 50,
        "max_errors": 5,
        "seed": 11,
    }
    info = {"started": "2026-01-02T03:04:05+00:00", "commit": "abc", "settings": settings}
    keep(tmp_path / "run", stored_trials("mock", trials=2), info)
    tau("export", "run", "--format", "tau2", "-o", "results.json")
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert list(document) == ["timestamp", "info", "tasks", "simulations"]
    assert document["timestamp"] == info["started"]
    told = document["info"]
    assert (told["git_commit"], told["num_trials"], told["max_steps"], told["max_errors"]) == ("abc", 2, 50, 5)
    assert told["agent_info"]["llm"] == "openai/m"
    assert (told["user_info"]["implementation"], told["user_info"]["llm"]) == ("llm", None)
    assert told["environment_info"] == {"domain_name": "mock", "policy": "", "tool_defs": None}
    simulation, task = document["simulations"][0], document["tasks"][0]
    assert set(simulation) == {
        *("id", "task_id", "timestamp", "start_time", "end_time", "duration", "termination_reason"),
        *("agent_cost", "user_cost", "reward_info", "messages", "trial", "seed", "mode", "info"),
    }
    conditions = simulation["info"]["pytest_tau"].pop("conditions")
    assert (conditions["agent"], conditions["user"], conditions["data"]) == ("gold", "gold", "bundled")
    assert simulation["info"] == {
        "saw_reference": ["agent", "user"],
        "pytest_tau": {"test": "mock::create-task[trial-0]", "stop_token": "###STOP###"},
    }
    assert "db_diff" not in simulation["reward_info"]
    assert "script" not in task["user_scenario"]
    assert [message["turn_idx"] for message in simulation["messages"]] == list(range(len(simulation["messages"])))
    assert len(document["tasks"]) * 2 == len(document["simulations"])


def test_policy_is_exported_if_it_is_still_that_of_the_run(tau: Tau, tmp_path: Path) -> None:
    policy = pytest_tau.load_domain("mock").environment().policy
    for folder, recorded in (("same", digest(policy)), ("other", "0" * 16)):
        keep(tmp_path / folder, stored_trials("mock", most=1), {"hashes": {"domains": {"mock": {"policy": recorded}}}})
        tau("export", folder, "--format", "tau2", "-o", f"{folder}.json")
    told = [json.loads((tmp_path / name).read_text(encoding="utf-8")) for name in ("same.json", "other.json")]
    assert [one["info"]["environment_info"]["policy"] for one in told] == [policy, ""]
    assert told[1]["info"]["pytest_tau"] == {
        "policy_hash": "0" * 16,
        "unknown": [
            *("git_commit", "max_steps", "max_errors"),
            *("user_info.implementation", "agent_info.implementation", "environment_info.policy"),
        ],
    }


def test_the_template_of_the_user_is_exported_if_the_user_is_a_model(tau: Tau, tmp_path: Path) -> None:
    prompts = {"user_prompts": {"user": "Play {{scenario}}", "user_tools": "Play {{scenario}} with tools"}}
    for name in ("mock", "telecom"):
        keep(tmp_path / name, stored_trials(name, most=1), prompts)
        tau("export", name, "--format", "tau2", "-o", f"{name}.json")
    headers = [
        json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))["info"] for name in ("mock", "telecom")
    ]
    has_tools = [pytest_tau.load_domain(name).spec.user_tools is not None for name in ("mock", "telecom")]
    texts = ["Play {{scenario}} with tools" if tools else "Play {{scenario}}" for tools in has_tools]
    assert [header["user_info"]["global_simulation_guidelines"] for header in headers] == texts
    assert has_tools[1]


def test_errors_are_excluded_from_rates_there_as_here(tau: Tau, tmp_path: Path) -> None:
    verdict = RewardInfo(reward=0.0, reward_basis=["DB"], reward_breakdown={"DB": 0.0})
    failed = trial("a", termination_reason="agent_error", reward_info=verdict)
    broken = trial("a", 1, termination_reason="user_error", reward_info=verdict, error="the user raised")
    unjudged = trial("b", reward_info=None)
    lost = trial("b", 1, termination_reason="infrastructure_error", reward_info=None)
    kept = keep(tmp_path / "run", [failed, broken, unjudged, lost])
    ran = tau("export", "run", "--format", "tau2", "-o", "a.json")
    assert "mock: 2 trials that ended in an error: written as infrastructure_error" in ran.err
    written = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["simulations"]
    found = [(each["termination_reason"], each["reward_info"] is None) for each in written]
    assert found == [("agent_error", False), *[("infrastructure_error", True)] * 3]
    again: list[Any] = list(ResultFile.scan(tmp_path / "a.json").simulations())
    assert [essence(run.simulation) for run in again] == [essence(each.simulation) for each in kept.trials]
    # A second export of the export is the same.
    tau("export", "a.json", "--format", "tau2", "-o", "b.json")
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["simulations"] == written
    ran = tau("export", "run", "--format", "tau2", "-o", "c.json", "--errors", "as-is")
    assert "infrastructure_error" not in ran.err
    written = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))["simulations"]
    reasons = [each["termination_reason"] for each in written]
    assert reasons == ["agent_error", "user_error", "user_stop", "infrastructure_error"]


def test_a_trimmed_file_has_nothing_of_ours(tau: Tau, tmp_path: Path) -> None:
    (failed,) = stored_trials("mock", "noop", most=1)
    failed.simulation.messages[0].raw_data = {"provider": "x"}  # type: ignore[union-attr]
    keep(tmp_path / "run", [failed], {"comparability": {"kind": "custom"}})
    tau("export", "run", "--format", "tau2", "-o", "whole.json")
    tau("export", "run", "--format", "tau2", "-o", "trimmed.json", "--trim")
    whole, text = ((tmp_path / name).read_text(encoding="utf-8") for name in ("whole.json", "trimmed.json"))
    assert "pytest_tau" in whole
    assert '"raw_data": {"provider"' in whole
    assert "raw_data" not in text
    document = json.loads(text)
    document["tasks"] = None
    assert "pytest_tau" not in json.dumps(document)
    assert tau("regrade", "trimmed.json").status == 0


# τ²-bench's folder


@pytest.mark.parametrize("name", ["mock", "telecom"])
def test_a_folder_has_a_file_for_each_simulation(tau: Tau, tmp_path: Path, name: str) -> None:
    kept = keep(tmp_path / "run", stored_trials(name, "noop", most=3))
    ran = tau("export", "run", "--format", "tau2-dir", "-o", "out")
    assert (ran.status, "out: 3 simulations" in ran.err) == (0, True)
    document = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    assert document["simulations"] == []
    files = {file.stem for file in (tmp_path / "out/simulations").iterdir()}
    assert {entry["id"] for entry in document["simulation_index"]} == files
    assert document["simulation_index"][0] == {
        "id": kept.trials[0].simulation.id,
        "task_id": kept.trials[0].simulation.task_id,
        "trial": 0,
        "termination_reason": kept.trials[0].simulation.termination_reason,
        "agent_cost": None,
        "duration": kept.trials[0].simulation.duration,
        "reward": 0.0,
    }
    again: list[Any] = list(ResultFile.scan(tmp_path / "out").simulations())
    assert [essence(run.simulation) for run in again] == [essence(each.simulation) for each in kept.trials]
    assert tau("regrade", "out").status == 0


def test_a_folder_is_not_mixed_with_another_one(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", [trial("a"), trial("b")])
    assert "give it with --out DIR" in tau("export", "run", "--format", "tau2-dir").err
    assert tau("export", "run", "--format", "tau2-dir", "-o", "out").status == 0
    ran = tau("export", "run", "--format", "tau2-dir", "-o", "out")
    assert (ran.status, "out already has results.json or simulations/" in ran.err) == (2, True)
    keep(tmp_path / "two", [trial("a"), trial("b", domain="other")])
    assert tau("export", "two", "--format", "tau2-dir", "-o", "both").status == 0
    assert (tmp_path / "both-mock/results.json").is_file()
    assert (tmp_path / "both-other/results.json").is_file()


def test_ids_that_name_no_file_are_read_back(tau: Tau, tmp_path: Path) -> None:
    odd = trial("a")
    odd.simulation.id = "../x y"
    keep(tmp_path / "run", [odd])
    assert tau("export", "run", "--format", "tau2-dir", "-o", "out").status == 0
    (file,) = (tmp_path / "out/simulations").iterdir()
    assert json.loads(file.read_text(encoding="utf-8"))["id"] == file.stem
    (again,) = ResultFile.scan(tmp_path / "out").simulations()
    assert not isinstance(again, Unreadable)
    assert again.simulation.id == "../x y"
    keep(tmp_path / "twice", [trial("a"), trial("a")])
    (tmp_path / "twice/simulations.jsonl").write_text(
        (tmp_path / "twice/simulations.jsonl").read_text(encoding="utf-8").replace("mock::a[", "mock::b[", 1),
        encoding="utf-8",
    )
    ran = tau("export", "twice", "--format", "tau2-dir", "-o", "refused")
    assert "two simulations have the id 'a-0'" in ran.err


def test_what_tau2_has_no_field_for_stands_under_our_name(tau: Tau, tmp_path: Path) -> None:
    (failed,) = stored_trials("mock", "noop", most=1)
    failed.simulation.reward_info.custom_checks = [CustomCheck(name="tone", reward=0.5)]
    failed.simulation.error = "it broke"
    keep(tmp_path / "run", [failed])
    tau("export", "run", "--format", "tau2", "-o", "results.json")
    (simulation,) = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["simulations"]
    own = simulation["reward_info"]["info"]["pytest_tau"]
    assert own["custom_checks"] == [{"name": "tone", "reward": 0.5, "justification": ""}]
    assert own["db_diff"][0]["path"].startswith("tasks/")
    assert simulation["info"]["pytest_tau"]["error"] == "it broke"


def test_secrets_of_a_foreign_file_are_not_passed_on(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", stored_trials("mock", most=1))
    tau("export", "run", "--format", "tau2", "-o", "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    document["info"]["agent_info"]["llm_args"] = {"api_key": "sk-1", "temperature": 0.0}
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    tau("export", "a.json", "--format", "tau2", "-o", "b.json")
    text = (tmp_path / "b.json").read_text(encoding="utf-8")
    assert "sk-1" not in text
    assert json.loads(text)["info"]["agent_info"]["llm_args"] == {"temperature": 0.0}


def test_several_domains_are_a_file_each(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", [trial("a"), trial("b", domain="other"), trial("c")])
    ran = tau("export", "run", "--format", "tau2", "-o", "out/results.json")
    assert ran.status == 0
    assert "results-mock.json: 2 simulations" in ran.err
    names = {file.name: ResultFile.scan(file).domain for file in (tmp_path / "out").iterdir()}
    assert names == {"results-mock.json": "mock", "results-other.json": "other"}
    ran = tau("export", "run", "--format", "tau2")
    assert (ran.status, ran.out) == (2, "")
    assert "a τ²-bench file has one domain, and the run has mock, other" in ran.err
    ran = tau("export", "run", "--format", "tau2", "--domain", "other")
    assert [task["id"] for task in json.loads(ran.out)["tasks"]] == ["b"]


def test_unsupported_results_are_refused_with_a_format_that_supports_them(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "tone", [trial(basis=["DB", "tone"])])
    ran = tau("export", "tone", "--format", "tau2", "-o", "x.json")
    assert ran.status == 2
    assert "the reward of task 't' depends on 'tone', which τ²-bench does not have" in ran.err
    keep(tmp_path / "two", [trial(basis=["DB"]), trial(number=1, basis=["ACTION"])])
    ran = tau("export", "two", "--format", "tau2", "-o", "x.json")
    assert "task 't' of domain 'mock' has two versions" in ran.err
    assert "--format jsonl" in ran.err
    assert not list(tmp_path.glob("x.json*"))
    assert tau("export", "two", "--format", "jsonl").out.count("\n") == 2


def test_an_agent_that_worked_alone_did_so_in_every_format(tau: Tau, tmp_path: Path) -> None:
    domain = pytest_tau.load_domain("telecom")
    task = next(task for task in domain.tasks() if task.ticket)
    simulation = pytest_tau.simulate(task, domain=domain, agent="gold", settings=SimulationSettings(solo=True))
    keep(tmp_path / "run", [StoredTrial("telecom", simulation, task, "telecom::x[trial-0]")])
    tau("export", "run", "--format", "tau2", "-o", "a.json")
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    document["simulations"][0]["info"] = None  # τ²-bench has it for the run only
    document["info"]["user_info"]["implementation"] = "dummy_user"
    (tmp_path / "a.json").write_text(json.dumps(document), encoding="utf-8")
    tau("export", "a.json", "--format", "tau2", "-o", "b.json")
    tau("export", "a.json", "--format", "jsonl", "-o", "c.jsonl")
    assert ResultFile.scan(tmp_path / "b.json").solo
    (line,) = (tmp_path / "c.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["info"]["solo"] is True
    assert "3 simulations, 3 agree" in tau("regrade", "a.json", "b.json", "c.jsonl").out


# JSON lines


def test_json_lines_have_everything_that_the_run_stored(tau: Tau, tmp_path: Path) -> None:
    kept = keep(tmp_path / "run", stored_trials("mock", "noop", most=3))
    tau("export", "run", "--format", "jsonl", "-o", "out.jsonl")
    again = list(Run(tmp_path / "out.jsonl").trials())
    assert [each.simulation for each in again] == [each.simulation for each in kept.trials]
    assert [(each.domain, each.test, each.task) for each in again] == [
        (each.domain, each.test, each.task) for each in kept.trials
    ]


def test_simulations_are_written_one_at_a_time() -> None:
    alive: list[weakref.ref[Simulation]] = []
    most = 0

    class Many:
        info: dict[str, Any] = {}

        def trials(self) -> Iterator[StoredTrial]:
            nonlocal most
            for number in range(50):
                each = trial(number=number)
                alive.append(weakref.ref(each.simulation))
                most = max(most, sum(ref() is not None for ref in alive))
                yield each
                del each

    file = io.StringIO()
    assert write_jsonl(Many(), file) == 50  # type: ignore[arg-type]
    assert most <= 3


# Tables


def test_a_table_has_a_row_a_simulation(tau: Tau, tmp_path: Path) -> None:
    used = {"agent": {"model": "m", "calls": 3, "prompt_tokens": 100, "completion_tokens": 7, "known_cost": 0.25}}
    blamed = {"blame": {"party": "agent", "reason": "it never wrote", "message_idx": 3, "evidence": "x"}}
    failed = trial(
        "a",
        1,
        seed=5,
        duration=1.5,
        agent_cost=0.25,
        model_usage=used,
        info=blamed,
        reward_info=RewardInfo(reward=0.0, reward_basis=["DB"], reward_breakdown={"DB": 0.0}),
    )
    lost = trial("b", termination_reason="infrastructure_error", reward_info=None, error="no answer,\rthrice")
    keep(tmp_path / "run", [failed, lost])
    ran = tau("export", "run", "--format", "csv")
    first, second = csv.DictReader(io.StringIO(ran.out))
    assert list(first) == [each.name for each in COLUMNS if each.exported]
    assert {name: value for name, value in first.items() if value} == {
        "domain": "mock",
        "task_id": "a",
        "trial": "1",
        "seed": "5",
        "outcome": "failed",
        "reward": "0",
        "reward_db": "0",
        "termination_reason": "user_stop",
        "messages": "0",
        "turns": "0",
        "calls": "0",
        "failed_calls": "0",
        "seconds": "1.5",
        "agent_cost": "0.25",
        "agent_model": "m",
        "model_calls": "3",
        "unpriced_calls": "0",
        "prompt_tokens": "100",
        "completion_tokens": "7",
        "cached_tokens": "0",
        "cut_replies": "0",
        "filtered_replies": "0",
        "timeouts": "0",
        "reference_actions": "0",
        "excluded": "false",
        "attempts": "1",
        "blame": "agent",
        "blame_reason": "it never wrote",
        "simulation_id": "a-1",
        "test": "mock::a[trial-1]",
    }
    assert (second["outcome"], second["reward"], second["seconds"]) == ("error", "", "")
    assert second["error"] == "no answer,\nthrice"


#: As a keyboard for Chinese or Japanese types them.
FULL_WIDTH = ["\N{FULLWIDTH EQUALS SIGN}1", "\N{FULLWIDTH PLUS SIGN}1", "\N{FULLWIDTH HYPHEN-MINUS}1"]
FULL_WIDTH += ["\N{FULLWIDTH COMMERCIAL AT}A1", "\u3000\N{FULLWIDTH EQUALS SIGN}1", "\N{SMALL EQUALS SIGN}1"]
UNSEEN = ["\u200b=1", "\ufeff=1", "\xa0=1", "\u2060\u200b +1", "\u202e@A1", "\x01=1", "\x0b=1", "\n=1", "\n"]


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "  =1", "\t=1", "\t", "-", *FULL_WIDTH, *UNSEEN]
TEXTS = ["a=1", "1 - 2", "\u200bhidden", "Grüße", "a\n=1"]


def test_no_text_is_a_formula_and_others_stay(tau: Tau, tmp_path: Path) -> None:
    texts = [*FORMULAS, *TEXTS]
    keep(tmp_path / "run", [trial(each, termination_reason="agent_error", error=each) for each in texts])
    assert tau("export", "run", "--format", "csv", "-o", "out.csv").status == 0
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = [(row["task_id"], row["error"]) for row in csv.DictReader(file)]
    assert rows == [(each, each) for each in (*(f"'{text}" for text in FORMULAS), *TEXTS)]


def test_a_carriage_return_before_a_formula_is_the_end_of_a_line(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", [trial("a", termination_reason="agent_error", error="\r=1")])
    tau("export", "run", "--format", "csv", "-o", "out.csv")
    assert '"\'\n=1"' in (tmp_path / "out.csv").read_bytes().decode()


def test_numbers_and_other_texts_are_left_as_they_are(tau: Tau, tmp_path: Path) -> None:
    verdict = RewardInfo(reward=-0.5, reward_basis=[], reward_breakdown={})
    keep(tmp_path / "run", [trial("a-b", reward_info=verdict)])
    (row,) = csv.DictReader(io.StringIO(tau("export", "run", "--format", "csv").out))
    assert (row["task_id"], row["reward"]) == ("a-b", "-0.5")


# The command


def test_the_latest_run_is_exported_unless_another_is_named(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / ".tau/runs/20260101-000000-mock", [trial("old")])
    keep(tmp_path / ".tau/runs/20260102-000000-mock", [trial("new")])
    assert '"task_id": "new"' in tau("export", "--format", "jsonl").out
    assert '"task_id": "old"' in tau("export", "20260101-000000-mock", "--format", "jsonl").out


def test_files_are_compressed_and_written_whole_or_not_at_all(tau: Tau, tmp_path: Path) -> None:
    keep(tmp_path / "run", [trial("ä\ud800")])
    assert tau("export", "run", "--format", "csv", "-o", "out.csv.gz").status == 0
    text = gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode()
    assert "ä\\ud800" in text
    before = (tmp_path / "out.csv.gz").read_bytes()
    assert tau("export", "run", "--format", "csv", "-o", "out.csv.gz").status == 0
    assert (tmp_path / "out.csv.gz").read_bytes() == before
    assert not list(tmp_path.glob("*.draft"))


def test_unusable_input_is_reported(tau: Tau, tmp_path: Path) -> None:
    kept = keep(tmp_path / "run", [trial()])
    assert "unknown run 'runn'" in tau("export", "runn", "--format", "csv").err
    assert "unknown domain of the run 'mokc'" in tau("export", "run", "--format", "csv", "--domain", "mokc").err
    own = kept.folder / "simulations.jsonl"
    before = own.read_bytes()
    ran = tau("export", "run", "--format", "jsonl", "-o", own)
    assert (ran.status, own.read_bytes()) == (2, before)
    assert "belongs to the run that is exported" in ran.err
    keep(tmp_path / "empty", [])
    assert "no simulation can be read in" in tau("export", "empty", "--format", "csv", "-o", "x.csv").err
    assert not (tmp_path / "x.csv").exists()


def test_unreadable_entries_are_reported_and_the_others_written(tau: Tau, tmp_path: Path) -> None:
    kept = keep(tmp_path / "run", [trial("a"), trial("b")])
    with (kept.folder / "simulations.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"test": "mock::c", "task_id": "c"}\n{"test": "mo')
    ran = tau("export", "run", "--format", "csv")
    assert ran.status == 1
    assert len(ran.out.splitlines()) == 3
    assert ran.err.count("excluded: simulations.jsonl: entry") == 2


@pytest.mark.parametrize("form", ["jsonl", "tau2"])
def test_criteria_that_are_not_known_here_are_kept(tau: Tau, tmp_path: Path, form: str) -> None:
    (found,) = keep(tmp_path / "run", [trial(basis=["DB"])]).trials
    file = tmp_path / "run" / "simulations.jsonl"
    entry = json.loads(file.read_text(encoding="utf-8"))
    entry["task"]["evaluation_criteria"]["acceptable_outcomes"] = [{"x": 1}]
    file.write_text(json.dumps(entry) + "\n", encoding="utf-8")
    assert tau("export", "run", "--format", form, "--out", "out.json").status == 0
    (again,) = ResultFile.scan(tmp_path / "out.json").simulations()
    assert not isinstance(again, Unreadable)
    assert again.task is not None
    assert again.task.unknown_criteria == ["acceptable_outcomes"]
    assert found.task is not None
    assert found.task.unknown_criteria == []


def test_a_capability_adds_a_format(tmp_path: Path, tau: Tau, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(run: Run, file: IO[str], domain: str | None) -> int:
        found = [trial for trial in run.trials() if domain in (None, trial.domain)]
        file.write("".join(f"{trial.simulation.task_id}\n" for trial in found))
        return len(found)

    ids = Capability("ids", exports=(ExportFormat("ids", "ids for the ids of tasks", write),))
    monkeypatch.setattr("pytest_tau.cli.export.installed", lambda: (*installed(), ids))
    kept = keep(tmp_path / ".tau" / "runs" / "one", stored_trials("mock", most=2))
    ran = tau("export", "--format", "ids")
    assert ran.lines == [trial.simulation.task_id for trial in kept.trials]
    written = tau("export", "--format", "ids", "-o", "ids.txt", "--domain", "mock")
    assert "ids.txt: 2 simulations" in written.err
    assert "ids for the ids of tasks" in " ".join(tau("export", "--help").out.split())
    assert "unknown domain of the run 'retail'" in tau("export", "--format", "ids", "--domain", "retail").err
