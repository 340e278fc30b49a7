"""The command ``tau``: options, what it prints, exit statuses."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.domains import load_domain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .commands import Tau

TASK: dict[str, Any] = {
    "id": "t",
    "user_scenario": {"instructions": "Add a task 'Buy milk' for user_1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "a", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}]
    },
}
STOP = {"role": "user", "content": "###STOP###"}


def simulation(*titles: str, reward: float | None = 1.0, result: str | None = None, **fields: Any) -> dict[str, Any]:
    """A conversation in which tasks of these titles are added."""
    messages: list[dict[str, Any]] = []
    for number, title in enumerate(titles):
        arguments = {"user_id": "user_1", "title": title}
        call = {"id": f"c{number}", "name": "create_task", "arguments": arguments, "requestor": "assistant"}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages += [{"role": "tool", "id": f"c{number}", "content": result}] if result else []
    stored = None if reward is None else {"reward": reward}
    ended = {"id": "s", "task_id": "t", "trial": 0, "termination_reason": "user_stop", "reward_info": stored}
    return ended | {"messages": [*messages, STOP]} | fields


@pytest.fixture
def results(tmp_path: Path) -> Callable[..., str]:
    """Writes a result file of the mock domain."""

    def write(*simulations: Any, name: str = "r.json", task: Any = TASK, domain: str = "mock") -> str:
        info = {"environment_info": {"domain_name": domain}}
        content = json.dumps({"info": info, "tasks": [task], "simulations": simulations}).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return name

    return write


# tau


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["polish"], "tau: unknown command 'polish'\n'tau --help' lists the commands"),
        (["vew"], "tau: unknown command 'vew'; did you mean 'view'?"),
        (["-x"], "unrecognized arguments: -x"),
        (["view", "--opne=yes"], "unrecognized arguments: --opne=yes; did you mean '--open'?"),
        (["runs", "--keep", "3"], "tau runs: error: unrecognized arguments: --keep\n"),
        (["view", "a", "b", "c"], "tau view: error: unrecognized arguments: c\n"),
        (["submit", "check", ".", "--jsno"], "tau submit check: error: unrecognized arguments: --jsno; did you mean"),
        (["compare", "a", "b", "--fail-on", "regresion"], "invalid choice: 'regresion' (choose from "),
        (["options", "--tau-trails"], "no option is called 'tau-trails'; did you mean 'trials'?"),
        (["options", "--json"], "tau options: error: unrecognized arguments: --json\n"),
        (["lint"], "tau lint: name a domain or a task file"),
        (["regrade", "x.json", "--grading", "kind"], "invalid choice: 'kind'"),
        (["regrade", "x.json", "-j", "0"], "argument -j/--jobs: expected a number from 1 to 256, got '0'"),
        (["regrade", "x.json"], "tau regrade: unknown file or run 'x.json' (known: none)"),
        (["regrade", "."], "expected simulations*.jsonl, records.jsonl or results.json in the folder"),
        (["regrade", "x.json", "--domain", "bank"], "unknown domain 'bank'"),
        (["regrade", "x.json", "--data", "."], "--data: expected a folder with domains/<name>/ in it"),
        (
            ["regrade", "x.json", "--judge", "kind"],
            "unknown judge 'kind' (known: accept, llm, module:attribute, reject)",
        ),
        (["regrade", "x.json", "--judge", "os:sep"], "judge 'os:sep' has no method judge(statements, messages)"),
        (["regrade", "x.json", "--judge", "no.such:judge"], "judge 'no.such:judge' cannot be imported"),
        (["lint", "mock", "--split", "tset"], "unknown split 'tset'"),
        (["init", "--agent", "langchian"], "--agent: unknown template 'langchian'; did you mean 'langchain'?"),
        (["lint", "mock", "--tau-data", "."], "unrecognized arguments: --tau-data"),
    ],
)
def test_invalid_command_is_reported(tau: Tau, args: list[str], told: str) -> None:
    ran = tau(*args)
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err
    assert "Traceback" not in ran.err


def test_the_environment_may_name_the_data(tau: Tau, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAU_DATA", "nowhere")
    ran = tau("lint", "mock")
    assert ran.status == 2
    assert "$TAU_DATA: expected a folder" in ran.err


@pytest.mark.exhaustive
def test_a_reader_that_goes_away_is_no_crash(results: Any, tmp_path: Path) -> None:
    """As ``tau regrade … | head``: the pipe is closed before anything is printed."""
    results(*[simulation("Buy milk")] * 2000)
    code = "import sys; from pytest_tau.cli import main; sys.exit(main(['regrade', '-v', 'r.json']))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


# tau regrade


def test_files_that_agree_exit_with_0(tau: Tau, results: Any) -> None:
    ran = tau("regrade", results(simulation("Buy milk"), simulation("Milk", reward=0.0, trial=1)))
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines == ["r.json (τ²-bench, mock): 2 simulations, 2 agree; pass^1 0.500 pass^2 0.000"]


def test_what_differs_stands_side_by_side_and_exits_with_1(
    tau: Tau, results: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    first = results(simulation("Buy milk"), simulation("Bread", trial=1), name="a.json.gz")
    second = results(simulation("Buy milk", reward=0.0), name="b.json")
    ran = tau("regrade", first, second)
    assert ran.status == 1
    assert ran.lines == [
        "a.json.gz (τ²-bench, mock):",
        "  2 simulations, 1 agree, 1 differ; stored pass^1 1.000 pass^2 1.000; fresh pass^1 0.500 pass^2 0.000",
        "  stored  fresh",
        "       1      0  task t trial 1",
        "                   DB: not met",
        '                     agent tasks/task_3/title  expected "Buy milk", got "Bread"',
        "  graded on the bundled data; for runs on τ²-bench's data, add --data DIR",
        "b.json (τ²-bench, mock): 1 simulation, 1 differ; stored pass^1 0.000; fresh pass^1 1.000",
        "  stored  fresh",
        "       0      1  task t",
        "                   every check is met now; the file does not state which one was not met",
        "  graded on the bundled data; for runs on τ²-bench's data, add --data DIR",
        "2 files: 3 simulations, 1 agree, 2 differ",
    ]  # fmt: skip


def test_lines_fit_the_terminal(tau: Tau, results: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    ran = tau("regrade", "-v", results(simulation("Buy milk " * 20, result="Added. " * 30), simulation(reward=None)))
    assert max(map(len, ran.lines)) <= 60


def test_texts_of_a_file_do_not_steer_the_terminal(tau: Tau, results: Any) -> None:
    ran = tau("regrade", results(simulation("Bread", task_id="\x1b[31m\nred")))
    assert "\x1b" not in ran.out
    assert r"(task \x1b[31m red, trial 0)" in ran.out


def test_verbose_shows_every_simulation_and_every_difference(tau: Tau, results: Any) -> None:
    recorded = simulation("Buy milk", result="Added.")
    ran = tau("regrade", results(recorded))
    assert ran.lines[1:] == [
        "  replay: 1 tool result of 1 simulation not as recorded, 0 with success and failure swapped (-v shows them)"
    ]
    ran = tau("regrade", "-v", results(recorded, simulation("Buy milk", reward=None, trial=1)))
    assert ran.lines[1:3] == ["  stored  fresh", "       1      1  task t"]
    assert ran.lines[3].startswith("                   partial credit: progress 1.00, state 1.00, actions 1.00")
    (replay,) = [line for line in ran.lines if "replay: message" in line]
    assert replay.startswith("                   replay: message 0, create_task: recorded 'Added.', now '{")
    assert any(line.startswith("       -      1  task t trial 1") for line in ran.lines)
    assert "1 agree, 1 not compared" in ran.out


def test_verbose_names_a_call_that_is_skipped_once(tau: Tau, results: Any) -> None:
    recorded = simulation("Buy milk", result="Added.")
    recorded["messages"][0]["tool_calls"][0]["name"] = "add_task"
    for verbose in ((), ("-v",)):
        ran = tau("regrade", *verbose, results(recorded))
        assert ran.out.count("replay: message 0, add_task: succeeded, not replayed: the assistant has no tool") == 1


def test_a_strict_replay_makes_errors(tau: Tau, results: Any) -> None:
    ran = tau("regrade", "--strict", results(simulation("Buy milk", result="Added.")))
    assert ran.status == 1
    assert "  errors: 1" in ran.lines
    assert "    entry 0 (task t, trial 0): replayed results that differ: 1; first message 0, create_task" in ran.out


def test_the_unreadable_are_counted_named_and_no_failure(tau: Tau, results: Any) -> None:
    broken = [simulation(task_id=f"gone-{number}") for number in range(12)]
    ran = tau("regrade", results(simulation("Buy milk"), *broken))
    assert ran.status == 0
    assert "  unreadable: 12" in ran.lines
    assert "    entry 1 (task gone-0, trial 0): not graded: mock has no task 'gone-0'" in ran.lines
    assert ran.lines[-1] == "    and 2 more (-v shows them)"
    assert "gone-11" in tau("regrade", "-v", "r.json").out


def test_a_run_that_grades_nothing_is_no_success(tau: Tau, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    ran = tau("regrade", "notes.txt")
    assert (ran.status, ran.lines) == (
        1,
        ["notes.txt (simulations): 0 simulations, 1 unreadable", "  unreadable: 1", "    the file: not a JSON document: begins with 'n'"],
    )  # fmt: skip


def test_runs_are_graded_by_their_names(tau: Tau, results: Any, tmp_path: Path) -> None:
    for name in ("good", "bad"):
        folder = tmp_path / ".tau" / "runs" / name
        folder.mkdir(parents=True)
        line = simulation("Buy milk", task=TASK, domain="mock", reward=float(name == "good"))
        (folder / "simulations.jsonl").write_text(json.dumps(line) + "\n")
    assert tau("regrade", "good").status == 0
    ran = tau("regrade", "good", "bad", "-o", "out")
    assert (ran.status, ran.lines[-1]) == (1, "2 files: 2 simulations, 1 agree, 1 differ")
    assert sorted(each.parent.name for each in tmp_path.glob("out/*/simulations.jsonl")) == ["bad", "good"]


def test_a_run_without_conversations_is_refused(tau: Tau, tmp_path: Path) -> None:
    folder = tmp_path / ".tau" / "baseline"
    folder.mkdir(parents=True)
    (folder / "records.jsonl").write_text("")
    ran = tau("regrade", "baseline")
    assert (ran.status, ran.err) == (2, "tau regrade: .tau/baseline has no conversations, only records of trials\n")


def call_of_another_database(**fields: Any) -> dict[str, Any]:
    """A conversation whose only call had succeeded, with a user that the bundled data of mock lacks."""
    call = {"id": "c0", "name": "create_task", "arguments": {"user_id": "mia", "title": "Buy milk"}}
    made = {"role": "assistant", "tool_calls": [call | {"requestor": "assistant"}]}
    return simulation(**fields) | {"messages": [made, {"role": "tool", "id": "c0", "content": "Added."}, STOP]}


def test_a_run_that_was_made_on_other_data_is_refused(tau: Tau, results: Any, tmp_path: Path) -> None:
    name = results(simulation("Buy milk"), call_of_another_database(trial=1))
    for options in ((), ("--json",)):
        ran = tau("regrade", name, "-o", "out", *options)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err == (
            "tau regrade: r.json: the run was not made on the bundled data of mock: add --data DIR, the data that it was "
            "made on (entry 1 (task t, trial 1): message 0, create_task: succeeded, now fails with "
            "'Error: User mia not found')\n"
        )
    assert not (tmp_path / "out").exists()


def test_a_run_on_given_data_is_graded_though_a_call_fails(tau: Tau, results: Any, tmp_path: Path) -> None:
    shutil.copytree(load_domain("mock").folder, tmp_path / "data" / "domains" / "mock")
    ran = tau("regrade", results(call_of_another_database()), "--data", "data")
    assert ran.status == 1
    assert "1 simulation, 1 differ" in ran.out


def test_a_run_of_this_project_is_graded_though_a_call_fails(tau: Tau, tmp_path: Path) -> None:
    line = call_of_another_database(task=TASK, domain="mock", test="t.json::t")
    (tmp_path / "simulations.jsonl").write_text(json.dumps(line) + "\n")
    ran = tau("regrade", "simulations.jsonl")
    assert ran.status == 1
    assert "1 simulation, 1 differ" in ran.out


def test_the_profile_s_rules_are_counted(tau: Tau, results: Any) -> None:
    criteria = TASK["evaluation_criteria"] | {"communicate_info": ["5"]}
    said = simulation("Buy milk", reward=1.0)
    said["messages"].insert(-1, {"role": "assistant", "content": "There are 51."})
    null = {"id": "null", "user_scenario": {"instructions": "x"}, "evaluation_criteria": {"actions": []}}
    name = results(said, simulation(task_id="null", task=null), task=TASK | {"evaluation_criteria": criteria})
    ran = tau("regrade", "--grading", "strict", name)
    assert ran.status == 1
    assert "                   by the rule whole_phrases" in ran.lines
    assert "  strict: 1 verdict changed from official: whole_phrases 1" in ran.lines
    assert "  strict: 1 on tasks that pass without an agent, 1 passed" in ran.lines


def test_what_is_not_compared_is_counted_with_the_reason_and_fails_unless_it_is_allowed(tau: Tau, results: Any) -> None:
    name = results(simulation("Buy milk") | {"reward_info": None})
    ran = tau("regrade", name)
    assert (ran.status, ran.lines[-1]) == (1, "  not compared: 1 simulation: no stored reward")
    assert tau("regrade", name, "--allow-uncompared").status == 0
    found = json.loads(tau("regrade", name, "--json").out)
    assert (found["not_compared"], found["files"][0]["not_compared"]) == (1, {"no stored reward": 1})


def test_without_a_judge_it_is_said(tau: Tau, results: Any, tmp_path: Path) -> None:
    basis = {"nl_assertions": ["It is short."], "reward_basis": ["DB", "NL_ASSERTION"]}
    task = TASK | {"evaluation_criteria": TASK["evaluation_criteria"] | basis}
    name = results(simulation("Buy milk"), task=task)
    ran = tau("regrade", "-v", name)
    assert ran.status == 0
    assert "       1      1  task t (without the judge)" in ran.lines
    assert "  without the judge: 1 simulation with NL assertions (add --judge)" in ran.lines
    assert tau("regrade", "--judge", "reject", name).status == 1
    (tmp_path / "judges.py").write_text(
        "class Kind:\n"
        "    async def judge(self, statements, messages):\n"
        "        from pytest_tau.evaluation import Verdict\n"
        "        return [Verdict(True, 'kind')] * len(statements)\n"
    )
    assert tau("regrade", "--judge", "judges.py:Kind", name).status == 0


def test_infrastructure_errors_are_shown_next_to_the_rate(tau: Tau, results: Any) -> None:
    lost = simulation(reward=0.0, trial=1, termination_reason="infrastructure_error")
    ran = tau("regrade", results(simulation("Buy milk"), lost))
    assert ran.lines == [
        "r.json (τ²-bench, mock): 2 simulations, 2 agree; pass^1 1.000",
        "  infrastructure errors, excluded from rates: 1 simulation",
    ]


@pytest.mark.exhaustive
def test_files_are_regraded_by_several_processes(tau: Tau, results: Any) -> None:
    name = results(simulation("Buy milk"), simulation("Bread", trial=1, result="Added."), simulation(task_id="gone"))
    one = tau("regrade", name)
    assert "2 simulations, 1 agree, 1 differ, 1 unreadable" in one.out
    # Processes of the pool are not started from this one, whose modules other tests have imported again.
    code = "import sys; from pytest_tau.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "regrade", name, "--jobs", "2"]
    two = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (two.returncode, two.stdout, two.stderr) == (one.status, one.out, one.err)


def test_regraded_files_as_json(tau: Tau, results: Any) -> None:
    name = results(simulation("Buy milk"), simulation("Bread", trial=1, result="Added."), simulation(task_id="gone"))
    ran = tau("regrade", "--json", name)
    assert ran.status == 1
    document = ran.json
    assert {key: document[key] for key in ("grading", "simulations", "agree", "differ", "errors", "unreadable")} == {
        "grading": "official", "simulations": 2, "agree": 1, "differ": 1, "errors": 0, "unreadable": 1,
    }  # fmt: skip
    (file,) = document["files"]
    assert (file["file"], file["format"], file["domain"]) == ("r.json", "τ²-bench", "mock")
    assert file["pass_hat_k"] == {"stored": {"1": 1.0, "2": 1.0}, "fresh": {"1": 0.5, "2": 0.0}}
    assert file["unreadable"][0]["entry"] == "entry 2 (task gone, trial 0)"
    first, second = file["results"]
    assert (first["stored_reward"], first["reward"], first["agrees"], first["reasons"]) == (1.0, 1.0, True, [])
    assert second["checks"]["db_match"] is False
    assert second["checks"]["db_diff"][0]["path"] == "tasks/task_3/title"
    assert len(second["replay_differences"]) == 1


# tau lint


@pytest.fixture
def task_set(tmp_path: Path) -> str:
    """A folder of data whose mock domain has tasks with findings."""
    folder = tmp_path / "data" / "domains" / "mock"
    folder.mkdir(parents=True)
    from pytest_tau import load_domain

    for name in ("db.json", "user_db.json", "policy.md", "policy_solo.md"):
        (folder / name).write_bytes((load_domain("mock").folder / name).read_bytes())
    tasks = [TASK] + [TASK | {"id": f"null-{n}", "ticket": str(n), "evaluation_criteria": None} for n in range(3)]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "split_tasks.json").write_text(json.dumps({"base": [task["id"] for task in tasks], "one": ["t"]}))
    return str(tmp_path / "data")


def test_findings_are_grouped_by_rule(tau: Tau, task_set: str) -> None:
    ran = tau("lint", "--data", task_set, "--max", "2", "mock")
    assert ran.status == 1
    assert ran.lines[:5] == [
        "error    passes-without-agent: 3",
        "         null-0: a greeting alone earns reward 1: the task has no evaluation criteria",
        "         null-1: a greeting alone earns reward 1: the task has no evaluation criteria",
        "         and 1 more (--max 0 shows all)",
        "mock: 4 tasks; 3 errors, 0 warnings, 0 notes; an agent that only greets passes 3 of 4",
    ]
    assert "null-2" in tau("lint", "--data", task_set, "--max", "0", "mock").out


def test_a_split_may_be_chosen(tau: Tau, task_set: str) -> None:
    ran = tau("lint", "--data", task_set, "--split", "one", "mock")
    assert (ran.status, ran.lines[0]) == (
        0,
        "mock: 1 task; 0 errors, 0 warnings, 0 notes; an agent that only greets passes 0 of 1",
    )
    every = tau("lint", "--data", task_set, "--split", "all", "mock").lines
    assert any(line.startswith("mock: 4 tasks") for line in every)


def test_findings_as_json(tau: Tau, task_set: str) -> None:
    ran = tau("lint", "--data", task_set, "--json", "mock", "mock")
    (document,) = ran.json
    assert ran.status == 1
    assert (document["domain"], document["tasks"], document["errors"], document["null_agent_passes"]) == (
        "mock",
        4,
        3,
        3,
    )
    assert document["findings"][0]["rule"] == "passes-without-agent"


def test_unreadable_task_file_is_reported(tau: Tau, task_set: str, tmp_path: Path) -> None:
    (tmp_path / "data" / "domains" / "mock" / "tasks.json").write_text('[{"id": "t"}]')
    ran = tau("lint", "--data", task_set, "mock")
    assert ran.status == 2
    assert "tasks.json: task t: user_scenario: missing" in ran.err


def test_lint_takes_task_files(tau: Tau, tmp_path: Path) -> None:
    action = {"action_id": "a", "name": "create_task", "arguments": {"user_id": "user_1"}}
    task = {"id": "t", "user_scenario": {"instructions": "Hi."}, "evaluation_criteria": {"actions": [action]}}
    file = tmp_path / "own.json"
    file.write_text(json.dumps([task]), encoding="utf-8")
    ran = tau("lint", str(file))
    assert ran.status == 2 and "no domain given: add --domain NAME" in ran.err
    ran = tau("lint", "--domain", "mock", str(file))
    assert ran.status == 1 and "title: missing" in ran.out
    file.write_text(json.dumps({"domain": "mock", "tasks": [task]}), encoding="utf-8")
    (report,) = json.loads(tau("lint", "--json", str(file)).out)
    assert (report["domain"], report["file"], report["tasks"]) == ("mock", str(file), 1)
