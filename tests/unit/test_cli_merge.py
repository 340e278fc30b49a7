"""``tau merge``: the simulations of several runs in one file; refusals and output."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau

if TYPE_CHECKING:
    from .commands import Ran, Tau


def kept(task_id: str = "t", trial: int = 0, reward: float | None = 1.0, **fields: Any) -> dict[str, Any]:
    """A simulation as runs keep it."""
    used = {"model": "fake/m", "calls": 2, "prompt_tokens": 1000, "completion_tokens": 20, "known_cost": 0.5}
    entry = {
        "domain": "mock",
        "id": f"{task_id}-{trial}",
        "task_id": task_id,
        "trial": trial,
        "termination_reason": "user_stop",
        "model_usage": {"agent": used},
        "reward_info": None if reward is None else {"reward": reward},
        "messages": [{"role": "user", "content": "###STOP###"}],
    }
    return entry | fields


def write(name: str, *entries: Any, end: str = "\n") -> str:
    """A file of simulations; texts are lines as they are."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False) for entry in entries]
    path.write_bytes(("\n".join(lines) + end).encode("utf-8", "surrogateescape"))
    return name


def merged(folder: str = "out") -> list[dict[str, Any]]:
    """The simulations of the result."""
    text = Path(folder, "simulations.jsonl").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def assert_refused(ran: Ran, *told: str) -> None:
    """It exits with 2, says why on one line, and writes nothing."""
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("tau merge: ") and ran.err.count("\n") == 1, ran.err
    for part in told:
        assert part in ran.err
    assert not Path("out").exists()


# What is joined


def test_runs_become_one_file_and_a_summary(tau: Tau) -> None:
    first = [kept("a", 0), kept("b", 0, reward=0.0)]
    second = [kept("a", 1), kept("b", 1, reward=None, error="the judge is down"), kept("c", 0, domain="own")]
    write("one/simulations.jsonl", *first)
    write("two/simulations.jsonl", *second)
    ran = tau("merge", "one", "two", "-o", "out")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines == [
        "mock: 2 tasks, 4 trials; 2 passed, 1 failed, 1 error; pass^1 0.500 pass^2 0.500; errors are excluded; "
        "counting them as failures, pass^1 is 0.500; 1 task with",
        "  fewer than 2 trials: for a greater k, 0 if one failed, else open",
        "own: 1 task, 1 trial; 1 passed; pass^1 1.000",
        "agent fake/m: 10 calls, 5,000 tokens sent, 100 received, $2.5000",
        "out/simulations.jsonl: 5 simulations of 2 files",
    ]
    assert merged() == [*first, *second]


def test_trials_excluded_from_rates_are_in_no_rate(tau: Tau) -> None:
    """As in the summaries of the runs: one of two trials with a verdict is excluded, an error is an error."""
    why = {"excluded": "fault of the user"}
    failed, lost = kept(trial=1, reward=0.0, **why), kept(trial=2, reward=None, **why)
    write("a.jsonl", kept(), failed, lost | {"termination_reason": "infrastructure_error"})
    ran = tau("merge", "a.jsonl", "-o", "out")
    assert ran.out.startswith("mock: 1 task, 3 trials; 1 passed, 1 error, 1 excluded; pass^1 1.000;")


def test_cost_is_shown_by_role_or_as_unknown(tau: Tau) -> None:
    free = {"model": "local/m", "calls": 3, "unpriced_calls": 3}
    usage = kept()["model_usage"] | {"user": free}
    ran = tau("merge", write("f.jsonl", kept(), kept(trial=1, model_usage=usage)), "-o", "out")
    assert ran.lines[1:4] == [
        "agent fake/m: 4 calls, 2,000 tokens sent, 40 received, $1.0000",
        "user local/m: 3 calls, 0 tokens sent, 0 received",
        "models together: 7 calls, 2,000 tokens sent, 40 received, $1.0000 and 3 calls with unknown price",
    ]


def test_folders_of_runs_and_workers_files_are_found(tau: Tau) -> None:
    write("runs/b/simulations-gw0.jsonl", kept("b", 0))
    write("runs/b/simulations-gw1.jsonl", kept("b", 1))
    write("runs/a/20260101-000000-mock/simulations.jsonl", kept("a"))
    write("runs/a/other.jsonl", "not of a run")
    write("runs/a/simulations.json", "not of a run")
    assert tau("merge", "runs", "-o", "out").lines[-1] == "out/simulations.jsonl: 3 simulations of 3 files"
    assert [(entry["task_id"], entry["trial"]) for entry in merged()] == [("a", 0), ("b", 0), ("b", 1)]


def test_a_file_may_have_any_name_and_counts_once(tau: Tau) -> None:
    name = write("shard/simulations.jsonl", kept())
    other = write("second-half", kept(trial=1))
    ran = tau("merge", name, "shard", other, str(Path("shard").resolve()), "-o", "out")
    assert ran.lines[-1] == "out/simulations.jsonl: 2 simulations of 2 files"
    assert "identical" not in ran.out


def test_lines_are_copied_as_they_are(tau: Tau) -> None:
    """Fields that this version does not know, the order of keys, figures, escapes."""
    odd = json.dumps(kept() | {"of_tomorrow": [1e3, "\ud800", "é"]}).replace(": ", " :  ")
    write("f.jsonl", odd, "", json.dumps(kept(trial=1)), end="")
    assert tau("merge", "f.jsonl", "-o", "out").status == 0
    assert Path("out/simulations.jsonl").read_text(encoding="utf-8").splitlines() == [odd, json.dumps(kept(trial=1))]


def test_lines_end_alike_wherever_they_are_from(tau: Tau) -> None:
    Path("f.jsonl").write_bytes(json.dumps(kept()).encode() + b"\r\n")
    assert tau("merge", "f.jsonl", "-o", "out").status == 0
    assert Path("out/simulations.jsonl").read_bytes() == json.dumps(kept()).encode() + b"\n"


def test_what_was_merged_can_be_merged_again(tau: Tau) -> None:
    first, second = write("a.jsonl", kept("a")), write("b.jsonl", kept("b"))
    tau("merge", first, "-o", "out")
    assert tau("merge", "out", second, "-o", "both").status == 0
    assert merged("both") == [kept("a"), kept("b")]


# The same trial twice


def test_the_same_twice_counts_once(tau: Tau) -> None:
    write("a.jsonl", kept(), kept(trial=1))
    write("b.jsonl", kept(), kept(trial=2))
    ran = tau("merge", "a.jsonl", "b.jsonl", "-o", "out")
    assert ran.lines[0] == "duplicates: 1 line excluded"
    assert ran.lines[1].startswith("mock: 1 task, 3 trials; 3 passed")
    assert ran.lines[2] == "agent fake/m: 6 calls, 3,000 tokens sent, 60 received, $1.5000"
    assert [entry["trial"] for entry in merged()] == [0, 1, 2]


def test_one_that_differs_is_refused(tau: Tau) -> None:
    write("a.jsonl", kept("other"), kept("odd task", 3))
    write("b.jsonl", kept("odd task", 3, of_tomorrow=1))
    told = "trial 3 of task 'odd task' of domain 'mock' occurs twice and differs: a.jsonl, line 2 and b.jsonl, line 1"
    assert_refused(tau("merge", "a.jsonl", "b.jsonl", "-o", "out"), told, "add --last to use the later ones")


def test_number_of_differences_is_reported(tau: Tau) -> None:
    write("a.jsonl", *(kept(trial=n) for n in range(4)))
    write("b.jsonl", *(kept(trial=n, seed=1) for n in range(4)))
    assert_refused(tau("merge", "a.jsonl", "b.jsonl", "-o", "out"), "trial 0 of task", "line 1 (and 3 more)")


def test_the_same_id_in_another_domain_is_another_task(tau: Tau) -> None:
    write("a.jsonl", kept(), kept(domain="own", reward=0.0))
    assert tau("merge", "a.jsonl", "-o", "out").status == 0
    assert len(merged()) == 2


def test_last_takes_the_later_one(tau: Tau) -> None:
    old, new = kept("a", reward=None), kept("a", reward=1.0)
    write("b.jsonl", old, kept("b"))
    write("a.jsonl", new)
    ran = tau("merge", "--last", "b.jsonl", "a.jsonl", "-o", "out")
    assert (
        ran.lines[0] == "replaced by later ones: 1 simulation: trial 0 of task 'a' of domain 'mock' (b.jsonl, line 1)"
    )
    assert ran.lines[1] == "mock: 2 tasks, 2 trials; 2 passed; pass^1 1.000"
    assert merged() == [kept("b"), new]
    tau("merge", "--last", "a.jsonl", "b.jsonl", "-o", "other")
    assert merged("other") == [old, kept("b")]


def test_last_within_a_file_too(tau: Tau) -> None:
    """A plugin that reruns what failed leaves both attempts in its run's file."""
    write("a.jsonl", kept(reward=0.0), kept(reward=1.0))
    assert_refused(tau("merge", "a.jsonl", "-o", "out"), "a.jsonl, line 1 and a.jsonl, line 2")
    assert tau("merge", "--last", "a.jsonl", "-o", "out").status == 0
    assert merged() == [kept(reward=1.0)]


# What is broken


@pytest.mark.parametrize("rest", ['{"domain": "mo', json.dumps(kept(trial=1))[:-1], '{"text": "\udcc3'])
def test_a_file_that_is_cut_off_counts_up_to_there(tau: Tau, rest: str) -> None:
    write("a.jsonl", kept(), rest, end="")
    write("b.jsonl", kept("b"))
    ran = tau("merge", "a.jsonl", "b.jsonl", "-o", "out")
    assert (ran.status, ran.lines[0]) == (0, "a.jsonl, line 2: cut off and excluded")
    assert merged() == [kept(), kept("b")]


def test_a_complete_last_line_needs_no_newline(tau: Tau) -> None:
    write("a.jsonl", kept(), end="")
    assert "cut off" not in tau("merge", "a.jsonl", "-o", "out").out
    assert merged() == [kept()]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "not valid JSON: Expecting property name enclosed in double quotes (column 2)"),
        ('{"text": "\udcff"}', "not UTF-8 text: invalid start byte (column 11)"),
        ("[" * 100_000, "not valid JSON: nested more than 200 levels deep"),
        ("[]", 'expected a stored simulation, {"domain": "…", "task_id": "…", …}'),
        ("7", "expected a stored simulation"),
        ('{"task_id": "t"}', "expected a stored simulation"),
        ('{"domain": 7}', "expected a stored simulation"),
        ('{"domain": "mock"}', "task_id: field required"),
        (json.dumps(kept(trial="first")), "trial: input should be a valid integer"),
        (json.dumps(kept(termination_reason="bored")), "termination_reason: input should be 'user_stop'"),
        (json.dumps(kept(messages=[{"role": "owl"}])), "messages.0"),
        (json.dumps(kept(model_usage={"agent": {"calls": "many"}})), "model_usage.agent.calls"),
    ],
)
def test_another_problem_names_file_and_line(tau: Tau, line: str, told: str) -> None:
    write("runs/simulations.jsonl", kept(), line, kept(trial=1))
    assert_refused(tau("merge", "runs", "-o", "out"), f"runs/simulations.jsonl, line 2: {told}")


def test_runs_of_a_project_are_joined_by_their_names(tau: Tau) -> None:
    write(".tau/runs/good/simulations.jsonl", kept(trial=0))
    write(".tau/runs/bad/simulations.jsonl", kept(trial=1))
    assert tau("merge", "good", "bad", "-o", "out").status == 0
    assert len(Path("out/simulations.jsonl").read_text().splitlines()) == 2


def test_a_folder_wins_over_a_run_of_its_name(tau: Tau) -> None:
    write(".tau/runs/bad/simulations.jsonl", kept(trial=0), kept(trial=1))
    write("bad/one/simulations.jsonl", kept(trial=2))
    assert tau("merge", "bad", "-o", "out").status == 0
    assert len(Path("out/simulations.jsonl").read_text().splitlines()) == 1


def test_a_complete_line_that_is_broken_is_not_taken_for_one_that_is_cut_off(tau: Tau) -> None:
    write("a.jsonl", kept(), "{")
    assert_refused(tau("merge", "a.jsonl", "-o", "out"), "a.jsonl, line 2: not valid JSON")


def test_texts_of_a_file_do_not_steer_the_terminal(tau: Tau) -> None:
    write("a.jsonl", kept("\x1b[31m"), kept("\x1b[31m", seed=1))
    assert "\x1b" not in tau("merge", "a.jsonl", "-o", "out").err
    write("b.jsonl", kept(domain="\x1b[31m"))
    assert "\x1b" not in tau("merge", "b.jsonl", "-o", "out").out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["a.jsonl", "none", "-o", "out"], "unknown run 'none' (known: none)"),
        (["empty", "-o", "out"], "empty: expected simulations*.jsonl in the folder or below it"),
        (["cut.jsonl", "blank.jsonl", "-o", "out"], "no complete simulation in cut.jsonl, blank.jsonl"),
        (["a.jsonl", "-o", "there"], "there/simulations.jsonl already exists; give another folder"),
        (["there", "-o", "there"], "there/simulations.jsonl already exists"),
        (["a.jsonl", "-o", "a.jsonl"], "a.jsonl"),
    ],
)
def test_invalid_command_is_reported(tau: Tau, args: list[str], told: str) -> None:
    Path("empty").mkdir()
    write("blank.jsonl", "", end="")
    write("cut.jsonl", "{", end="")
    write("a.jsonl", kept())
    there = Path(write("there/simulations.jsonl", kept("precious")))
    before = there.read_bytes()
    assert_refused(tau("merge", *args), told)
    assert there.read_bytes() == before


def test_without_a_folder_it_only_shows(tau: Tau) -> None:
    write("a.jsonl", kept("one"), kept("two", reward=0))
    ran = tau("merge", "a.jsonl")
    assert (ran.status, ran.lines[-1]) == (0, "2 simulations of 1 file")
    assert [each.name for each in Path().iterdir()] == ["a.jsonl"]


# What it is for


def test_tau_regrade_reads_the_result(tau: Tau) -> None:
    domain = pytest_tau.load_domain("mock")
    for trial, agent in enumerate(("gold", "noop")):
        simulation = pytest_tau.simulate(domain.tasks()[0], domain=domain, agent=agent, trial=trial)
        write(f"{agent}/simulations.jsonl", {"domain": "mock", **simulation.model_dump(mode="json")})
    assert tau("merge", "gold", "noop", "-o", "out").lines == [
        "mock: 1 task, 2 trials; 1 passed, 1 failed; pass^1 0.500 pass^2 0.000",
        "out/simulations.jsonl: 2 simulations of 2 files",
    ]
    ran = tau("regrade", "out/simulations.jsonl")
    told = "simulations.jsonl (simulations, mock): 2 simulations, 2 agree; pass^1 0.500 pass^2 0.000"
    assert (ran.status, ran.lines) == (0, [told])


def test_conversations_are_not_kept_in_memory(tau: Tau) -> None:
    """Merging 20 files of 1 MB takes far less than 20 MB."""
    said = [{"role": "user", "content": "x" * 1_000_000}]
    for number in range(20):
        write(f"runs/{number}/simulations.jsonl", kept(trial=number, messages=said))
    tracemalloc.start()
    try:
        assert tau("merge", "runs", "-o", "out").status == 0
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()
