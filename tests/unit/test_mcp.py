"""Domains over a tool server that speaks MCP."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau.environment import check_task
from pytest_tau.environment.execution_checks import check_repeatable
from pytest_tau.errors import ConfigurationError, TaskFormatError
from pytest_tau.evaluation import known_components
from pytest_tau.lint import lint_domain
from pytest_tau.models import Task
from pytest_tau.orchestrator import Limits
from pytest_tau.runner import SimulationSettings
from pytest_tau.testing import ScriptedParticipant

pytest.importorskip("mcp")
SERVER = Path(__file__).parent / "line_server.py"


class Running:
    """The processes that the servers of a test have started."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def started(self) -> list[int]:
        return [int(line) for line in self.file.read_text().split()] if self.file.exists() else []

    def wait_for_end(self, seconds: float = 15.0) -> None:
        until = time.monotonic() + seconds
        while alive := [pid for pid in self.started if is_alive(pid)] + threads():
            assert time.monotonic() < until, f"still there: {alive}"
            time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        # A process that has ended and is not waited for yet is a zombie.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("tau-mcp")]


@pytest.fixture(scope="module")
def _few_objects() -> None:
    """Let the collections of these tests pass over all that there is before: that takes each of them two seconds."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def running(tmp_path: Path, _few_objects: None):
    if not Path("/proc").is_dir():
        pytest.skip("needs /proc")
    found = Running(tmp_path / "starts")
    yield found
    gc.collect()
    found.wait_for_end()


@pytest.fixture
def declare(running: Running, tmp_path: Path):
    def declared(mode: str = "", **arguments):
        given = {"state": "items://all", "functions": {"has"}, "folder": tmp_path, "timeout": 20.0}
        given |= {"command": [sys.executable, str(SERVER), mode], "env": {"STARTS": str(running.file)}}
        return pytest_tau.mcp_domain("items", **given | arguments)

    return declared


def task(basis=("DB",), actions=(("put", {"key": "b", "value": 2}),), **criteria) -> Task:
    made = [{"action_id": str(n), "name": name, "arguments": args} for n, (name, args) in enumerate(actions)]
    return Task.model_validate(
        {
            "id": "t",
            "user_scenario": {"instructions": "Put 2 at b."},
            "evaluation_criteria": {"actions": made, "reward_basis": list(basis), **criteria},
        }
    )


def calls(*made):
    replies = [{"tool_calls": [{"name": name, "arguments": arguments}]} for name, arguments in made]
    return ScriptedParticipant([*replies, "Done."])


def user():
    return ScriptedParticipant(["Put 2 at b.", "###STOP###"])


def simulate(domain, agent, of=None):
    return pytest_tau.simulate(of or task(), domain=domain, agent=agent, user=user())


HAS = {"env_type": "assistant", "func_name": "has", "arguments": {"key": "b"}, "assert_value": True}


@pytest.mark.parametrize("mode", ["results", "results-pages"])
def test_a_result_that_does_not_fit_its_schema_fails_the_call_alone(declare, mode):
    domain = declare(mode).load()
    names = ["fits", "differs", "lacks", "refuses", "elsewhere", "unknown"]
    simulation = simulate(domain, calls(*((name, {}) for name in names), ("put", {"key": "b", "value": 2})))
    assert simulation.reward == 1
    results = [made.result for made in simulation.calls]
    assert [result.error for result in results] == [False, True, True, True, True, True, False]
    assert [result.content for result in results[:4]] == [
        "its text",
        "Error: the result of differs does not fit its outputSchema: structuredContent/ok: 'nope' is not of type "
        "'boolean'",
        "Error: the result of lacks has no structured content, which its outputSchema asks for",
        "Error: its text",
    ]
    assert all(" cannot be used: " in result.content for result in results[4:6])


@pytest.mark.exhaustive
def test_nothing_is_started_by_a_declaration(declare, running):
    assert declare().name == "items"
    assert running.started == []


@pytest.mark.exhaustive
def test_tools_come_from_the_server(declare, running):
    domain = declare().load()
    tools = {tool.name: tool for tool in domain.environment().tools()}
    assert list(tools) == ["get", "put", "crash", "hang", "dump"]
    assert tools["get"].kind == "read" and not tools["get"].mutates
    assert tools["put"].kind == "write" and tools["put"].mutates
    assert tools["put"].parameters["required"] == ["key", "value"]
    assert len(running.started) == 1


def test_a_simulation_runs_on_a_server_of_its_own(declare, running):
    domain = declare().load()
    before = len(running.started)
    agent = calls(("get", {"key": "a"}), ("put", {"key": "b", "value": 2}), ("get", {"key": "x"}))
    of = task(["DB", "ENV_ASSERTION", "ACTION"], env_assertions=[HAS])
    simulation = simulate(domain, agent, of)
    assert simulation.reward == 1
    assert [made.result.content for made in simulation.calls] == ["1", "done", "Error: no x"]
    assert [made.result.error for made in simulation.calls] == [False, False, True]
    # One for the conversation, one for the reference actions, one for the check of an agent that does nothing.
    assert len(running.started) - before <= 3
    before = len(running.started)
    assert simulate(domain, calls(("put", {"key": "b", "value": 2})), of).reward == 1
    assert len(running.started) - before == 1


def test_a_wrong_state_is_shown_by_place(declare):
    domain = declare().load()
    simulation = simulate(domain, calls(("put", {"key": "b", "value": 3})))
    (difference,) = simulation.reward_info.db_diff
    assert simulation.reward == 0
    assert (difference.path, difference.expected, difference.got) == ("b", 2, 3)


@pytest.mark.exhaustive
def test_a_tool_can_give_the_state(declare):
    domain = declare(state="dump").load()
    assert "dump" not in {tool.name for tool in domain.environment().tools()}
    assert domain.environment().dump() == {"agent": {"a": 1}, "user": None}
    assert simulate(domain, calls(("put", {"key": "b", "value": 2}))).reward == 1
    offered = declare(state="dump", reads={"dump"}).load()
    assert "dump" in {tool.name for tool in offered.environment().tools()}


@pytest.mark.exhaustive
def test_environments_do_not_share_a_state(declare):
    domain = declare().load()
    first, second = domain.environment(), domain.environment()
    first.call("put", {"key": "a", "value": 7})
    second.call("put", {"key": "c", "value": 8})
    assert first.dump()["agent"] == {"a": 7}
    assert second.dump()["agent"] == {"a": 1, "c": 8}
    assert domain.environment().dump()["agent"] == {"a": 1}


@pytest.mark.exhaustive
def test_a_closed_environment_stays_usable(declare, running):
    environment = declare().load().environment()
    environment.call("put", {"key": "b", "value": 2})
    environment.close()
    running.wait_for_end()
    before = len(running.started)
    assert environment.dump()["agent"] == {"a": 1, "b": 2}
    assert len(running.started) == before
    assert environment.call("get", {"key": "b"}).content == "2"
    environment.close()


@pytest.mark.exhaustive
def test_initial_actions_and_history_are_replayed(declare):
    domain = declare(functions={"has", "put"}).load()
    action = {"env_type": "assistant", "func_name": "put", "arguments": {"key": "b", "value": 5}}
    of = Task.model_validate({**task().model_dump(), "initial_state": {"initialization_actions": [action]}})
    environment = domain.environment(of)
    assert environment.dump()["agent"] == {"a": 1, "b": 5}
    environment.close()


@pytest.mark.exhaustive
def test_initial_data_cannot_be_set(declare):
    domain = declare().load()
    state = {"initialization_data": {"agent_data": {"b": 1}}}
    of = Task.model_validate({**task().model_dump(), "initial_state": state})
    with pytest.raises(TaskFormatError, match="use initialization_actions"):
        domain.environment(of)


@pytest.mark.exhaustive
def test_a_stored_conversation_is_graded_again(declare):
    domain = declare().load()
    simulation = simulate(domain, calls(("put", {"key": "b", "value": 2})))
    fresh = declare().load()
    messages = [message.model_dump(mode="json") for message in simulation.messages]
    assert pytest_tau.evaluate(task(), messages, domain=fresh).reward == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("tool", ["crash", "hang"])
def test_a_lost_server_is_no_failure_of_the_agent(declare, tool, running):
    domain = declare(timeout=5.0 if tool == "crash" else 1.0).load()
    simulation = simulate(domain, calls((tool, {}), ("put", {"key": "b", "value": 2})))
    assert simulation.outcome == "error"
    assert simulation.termination_reason == "infrastructure_error"
    assert "domain 'items'" in simulation.error
    assert ("the disk is full" if tool == "crash" else "did not answer within 1 s") in simulation.error
    assert simulation.calls[0].result.error


@pytest.mark.exhaustive
def test_the_time_limit_cuts_a_call(declare, running):
    domain = declare(timeout=600.0).load()
    settings = SimulationSettings(limits=Limits(timeout=1.0))
    agent = calls(("put", {"key": "b", "value": 2}), ("hang", {}))
    simulation = pytest_tau.simulate(task(), domain=domain, agent=agent, user=user(), settings=settings)
    assert (simulation.outcome, simulation.termination_reason) == ("error", "infrastructure_error")
    assert re.match(
        r"tool 'hang' of domain 'items' did not return in [\d.]+ s, and the time limit is 1 s", simulation.error
    )
    assert simulation.info.blame.party == "harness"


@pytest.mark.exhaustive
def test_a_call_that_the_time_limit_cuts_early_is_not_why(declare):
    domain = declare(timeout=600.0).load()

    async def slowly(messages, tools):
        await asyncio.sleep(0.9)
        return {"tool_calls": [{"name": "hang", "arguments": {}}]}

    settings = SimulationSettings(limits=Limits(timeout=1.0))
    simulation = pytest_tau.simulate(task(), domain=domain, agent=slowly, user=user(), settings=settings)
    assert (simulation.outcome, simulation.termination_reason) == ("failed", "timeout")


PUT = ("put", {"key": "b", "value": 2})


def test_ids_that_a_server_draws_at_random_are_a_mistake_of_the_domain(declare, tmp_path):
    tmp_path.joinpath("tasks.json").write_text(f"[{task().model_dump_json()}]", encoding="utf-8")
    domain = declare("random", tasks="tasks.json").load()
    for _ in range(3):
        simulation = simulate(domain, calls(PUT))
        assert (simulation.outcome, simulation.info.error_kind) == ("error", "DomainError")
        assert simulation.info.blame.party == "domain"
    assert simulate(domain, calls(PUT), task(["ACTION"])).reward == 1
    with pytest.raises(ConfigurationError, match="the reference actions of task 't' lead to another state"):
        check_repeatable([task()], domain)
    check_repeatable([task(["ACTION"])], domain)
    report = asyncio.run(lint_domain(domain, None))
    assert [(each.rule, each.severity) for each in report.findings] == [("unstable-state", "error")]


OUTLIVES = (
    "domain 'items': its tools do not begin with the same state each time: b: nothing at first, now 2: if the state"
)


def test_a_state_that_outlives_its_server_is_a_mistake_of_the_domain(declare, running, tmp_path):
    env = {"STARTS": str(running.file), "STORE": str(tmp_path / "store.json")}
    domain = declare(env=env).load()
    environment = domain.environment()
    environment.call(*PUT)
    environment.close()
    simulation = simulate(domain, calls(PUT))
    assert (simulation.outcome, simulation.messages) == ("error", [])  # no agent was asked
    assert simulation.error.startswith(f"DomainError: {OUTLIVES}")
    assert simulation.info.blame.party == "domain"
    report = asyncio.run(lint_domain(domain, None, [task()]))
    assert [each.rule for each in report.findings] == ["unstable-state"]


@pytest.mark.exhaustive
def test_a_state_that_outlives_its_server_is_found_before_the_first_trial(declare, running, tmp_path):
    env = {"STARTS": str(running.file), "STORE": str(tmp_path / "store.json")}
    with pytest.raises(ConfigurationError, match=OUTLIVES):
        check_repeatable([task()], declare(env=env).load())


@pytest.mark.exhaustive
@pytest.mark.parametrize("by", ["id", "tool", "command"])
def test_each_trial_can_be_given_a_state_of_its_own(declare, running, tmp_path, by):
    name = "store-{trial}.json" if by == "id" else "store.json"
    program = "import os, pathlib; pathlib.Path(os.environ['STORE']).unlink(missing_ok=True)"
    reset = {"id": None, "tool": "reset", "command": [sys.executable, "-c", program]}[by]
    env = {"STARTS": str(running.file), "STORE": str(tmp_path / name)}
    domain = declare(env=env, reset=reset).load()
    assert domain.spec.agent_db.one_at_a_time is (by != "id")
    check_repeatable([task()], domain)
    assert [simulate(domain, calls(PUT)).reward for _ in range(3)] == [1, 1, 1]
    assert simulate(domain, calls()).reward == 0
    assert ("reset" in {tool.name for tool in domain.environment().tools()}) is (by != "tool")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("reset", "problem"),
    [
        ("reset", "was not reset: reset: the store is read-only"),
        ([sys.executable, "-c", "raise SystemExit('no store')"], "ended with exit status 1; its output:\nno store"),
        ([sys.executable, "-c", "import time; time.sleep(600)"], "did not end within 3 s"),
        (["no-such-program"], "could not be started: "),
    ],
)
def test_a_reset_that_fails_is_named(declare, running, tmp_path, reset, problem):
    env = {"STARTS": str(running.file), "STORE": str(tmp_path / "store.json")}
    timeout = 3.0 if isinstance(reset, list) else 20.0
    with pytest.raises(ConfigurationError, match=problem):
        declare("read-only", env=env, reset=reset, timeout=timeout).load()


@pytest.mark.exhaustive
def test_a_server_that_does_not_start_is_reported_with_its_output(declare):
    with pytest.raises(ConfigurationError, match=r"domain 'items' ended during its start(.|\n)*no database at localh"):
        declare("broken").load()


@pytest.mark.exhaustive
def test_a_command_that_does_not_exist_is_reported(declare):
    with pytest.raises(ConfigurationError, match=r"could not be started(.|\n)*no-such-program"):
        declare(command=["no-such-program"]).load()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("line", "shown"),
    [("connected to shop.db", "connected to shop.db"), ("42", "42"), ("x" * 99, f"{'x' * 59}…"), ("%s %d", "%s %d")],
)
def test_a_server_that_prints_between_its_messages_is_named(declare, caplog, line, shown):
    domain = declare(f"printing {line}").load()
    assert domain.environment().call("get", {"key": "a"}).content == "1"
    assert {(each.levelname, each.getMessage(), each.exc_info) for each in caplog.records} == {
        (
            "WARNING",
            "domain 'items': its tool server printed to its standard output, which is for messages of MCP: "
            f"{shown!r} was ignored; print to standard error",
            None,
        )
    }


@pytest.mark.exhaustive
def test_a_server_that_says_nothing_is_given_up(declare):
    with pytest.raises(ConfigurationError, match=r"did not answer within 0\.5 s after its start"):
        declare("silent", timeout=0.5).load()


@pytest.mark.exhaustive
def test_a_server_that_ignores_its_end_is_killed_with_its_children(declare, running):
    environment = declare("stubborn").load().environment()
    environment.call("put", {"key": "b", "value": 2})
    assert len(running.started) == 4
    environment.close()
    running.wait_for_end()


@pytest.mark.exhaustive
def test_an_abandoned_environment_ends_its_server(declare, running):
    environment = declare().load().environment()
    environment.call("put", {"key": "b", "value": 2})
    assert is_alive(running.started[-1])
    del environment
    gc.collect()
    running.wait_for_end()


@pytest.mark.exhaustive
def test_a_state_that_the_server_lacks_is_reported(declare):
    with pytest.raises(ConfigurationError, match="state of domain 'items': items://nothing: "):
        declare(state="items://nothing").load()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mode", "problem"),
    [
        ("state null", "got null"),
        ("without state", "got null"),
        ("state ", "not valid JSON"),
        ("state no database", "not valid JSON"),
    ],
)
def test_a_state_that_is_none_is_reported(declare, mode, problem):
    with pytest.raises(ConfigurationError, match=f"state of domain 'items': items://all: expected .* JSON.*{problem}"):
        declare(mode).load()


@pytest.mark.exhaustive
@pytest.mark.parametrize(("state", "expected"), [("{}", {}), ("[]", {"state": []}), ("0", {"state": 0})])
def test_an_empty_state_is_one(declare, state, expected):
    assert declare(f"state {state}").load().environment().dump() == {"agent": expected, "user": None}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"reads": {"gte"}}, "reads: unknown tool 'gte'; did you mean 'get'"),
        ({"functions": {"hsa"}}, "functions: unknown tool 'hsa'; did you mean 'has'"),
        ({"reads": {"get"}, "writes": {"get"}}, "'get' is in both reads and writes"),
        ({"reads": "get"}, "reads: expected a set of names, got 'get'"),
    ],
)
def test_a_name_that_does_not_fit_is_reported(declare, arguments, problem):
    with pytest.raises(ConfigurationError, match=problem):
        declare(**arguments).load()


@pytest.mark.exhaustive
def test_a_command_is_a_list(declare):
    with pytest.raises(ConfigurationError, match=r"command: expected a list such as \['python', 'server.py'\]"):
        declare(command="python server.py")


@pytest.mark.exhaustive
def test_without_a_state_the_database_cannot_be_compared(declare):
    domain = declare(state=None).load()
    with pytest.raises(TaskFormatError, match=r"reward_basis: DB compares .* add state= to the domain"):
        check_task(task(), domain.spec, known_components(()))
    with pytest.raises(TaskFormatError, match="add state= to the domain"):
        simulate(domain, calls(("put", {"key": "b", "value": 2})))
    with pytest.raises(TaskFormatError, match="add state= to the domain"):
        pytest_tau.evaluate(task(), [], domain=domain)


@pytest.mark.exhaustive
def test_other_components_need_no_state(declare):
    domain = declare(state=None).load()
    of = task(["ENV_ASSERTION", "ACTION"], env_assertions=[HAS])
    passed = simulate(domain, calls(("put", {"key": "b", "value": 2})), of)
    failed = simulate(domain, calls(("put", {"key": "c", "value": 2})), of)
    assert (passed.reward, failed.reward) == (1, 0)
    assert passed.reward_info.db_check is None


@pytest.mark.exhaustive
def test_a_task_set_is_linted(declare, tmp_path):
    right = task(["DB", "ENV_ASSERTION"], env_assertions=[HAS])
    wrong = task(["ACTION"], [("get", {"key": "x"})]).model_copy(update={"id": "fails"})
    tasks = ",".join(each.model_dump_json() for each in (right, wrong))
    tmp_path.joinpath("tasks.json").write_text(f"[{tasks}]", encoding="utf-8")
    report = asyncio.run(lint_domain(declare(tasks="tasks.json").load(), None))
    assert "fails" in {finding.task_id for finding in report.findings}
    assert not [finding for finding in report.findings if finding.task_id == "t" and finding.severity == "error"]


@pytest.mark.exhaustive
def test_the_extra_is_named_if_the_sdk_is_missing(declare, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.client.session", None)
    with pytest.raises(ConfigurationError, match=r"pip install './pytest-tau\[mcp\]'"):
        declare().load()


def test_the_sdk_is_not_imported_by_a_declaration():
    code = "import sys, pytest_tau; pytest_tau.mcp_domain('x', command=['y']); assert 'mcp' not in sys.modules"
    assert os.spawnl(os.P_WAIT, sys.executable, sys.executable, "-c", code) == 0
