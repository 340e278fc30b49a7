"""Runs on domains over tools that exist already: the examples, as their users would run them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [pytest.mark.exhaustive, pytest.mark.usefixtures("light_processes", "mcp_at_hand")]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
LINE_SERVER = ROOT / "tests" / "unit" / "line_server.py"

#: A task for each domain of these tests, and a right call.
CASES = {"existing_tools": ("shop", "cancel-the-lamp"), "tool_server": ("notes", "replace-the-plumber")}


def copy_example(name: str, folder: Path) -> None:
    shutil.copytree(EXAMPLES / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*", "__pycache__"))


@pytest.fixture(params=CASES)
def example(request, pytester: pytest.Pytester) -> str:
    """A copy of an example as the project that pytest runs in."""
    if request.param == "tool_server":
        pytest.importorskip("mcp")
    copy_example(request.param, pytester.path)
    pytester.syspathinsert()
    return request.param


@pytest.fixture
def no_process_is_left():
    if not Path("/proc").is_dir():
        pytest.skip("needs /proc")
    yield
    until = time.monotonic() + 15
    while left := children():
        assert time.monotonic() < until, left
        time.sleep(0.05)


def children() -> list[str]:
    """The commands of servers that were started by this process or by one of its descendants."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = folder.joinpath("cmdline").read_bytes().split(b"\0")
            mine = f"TAU_TEST={os.getpid()}".encode() in folder.joinpath("environ").read_bytes()
        except OSError:
            continue
        if mine and any(part.endswith((b"server.py", b"line_server.py")) for part in command):
            found.append(str(command))
    return found


def test_the_examples_pass_with_their_reference_actions_and_are_resumed(pytester, example) -> None:
    # In a process of its own, as their users have it.
    result = pytester.runpytest_subprocess("-pno:asyncio", "--tau-agent=gold")
    result.assert_outcomes(passed=2)
    assert "asyncio" not in result.stderr.str()
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-agent=gold", "--tau-resume", "--tau-html=r.html")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*2 finished simulations in *"])
    assert "are not shown" not in pytester.path.joinpath("r.html").read_text(encoding="utf-8")


def test_the_examples_pass_in_workers(pytester, example, quick_server) -> None:
    quick_server(pytester.path / "server.py")
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-agent=gold", "-n2")
    result.assert_outcomes(passed=2)
    assert "asyncio" not in result.stderr.str()


def test_a_failure_names_the_missing_call(pytester, example, quick_server) -> None:
    quick_server(pytester.path / "server.py")
    name, task = CASES[example]
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-agent=noop", f"--tau-task={task}")
    result.assert_outcomes(failed=1)
    # The states of a tool server are not tried, so that there is no turning point.
    line = {"existing_tools": 'turning point: never called cancel_order(order_id="o1")'}
    result.stdout.fnmatch_lines([line.get(example, '  notes/n2 *expected "Buy milk."*missing')])
    result.stdout.fnmatch_lines([f"again: pytest '{name}::{task}*"])


def test_a_test_of_ones_own_looks_at_the_environment_while_others_run(pytester, example, quick_server) -> None:
    quick_server(pytester.path / "server.py")
    name, task = CASES[example]
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.tau(domain="{name}", tasks="{task}", agent="gold", user="gold")
        def test_it(tau_simulation, tau_env):
            assert tau_simulation.reward == 1
            before = tau_env.dump()
            tool = next(tool for tool in tau_env.tools() if tool.kind == "read")
            given = {{name: "o1" for name in tool.parameters["properties"]}}
            assert not tau_env.call(tool.name, given).error
            assert tau_env.dump() == before
        """
    )
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-agent=gold", "--tau-concurrency=2")
    result.assert_outcomes(passed=3)
    assert "asyncio" not in result.stderr.str()


SHOP_WITHOUT_STATE = """
    import pytest_tau
    from shop import Shop

    def pytest_tau_domains():
        return [pytest_tau.domain_of("shop", make=Shop, tools=[Shop.find_order, Shop.cancel_order], tasks="tasks.json",
                                     functions=[Shop.is_cancelled])]
"""


def test_what_cannot_be_compared_is_a_usage_error(pytester) -> None:
    copy_example("existing_tools", pytester.path)
    pytester.makeconftest(SHOP_WITHOUT_STATE)
    pytester.syspathinsert()
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-agent=gold")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: *tasks.json: task cancel-the-lamp: evaluation_criteria.reward_basis: DB compares *add snapshot= to*"]
    )


def test_a_declaration_that_cannot_be_used_is_a_usage_error(pytester) -> None:
    pytester.makeconftest(
        """
        import pytest_tau

        def take(item: str) -> int:
            \"\"\"Take an item.\"\"\"

        def pytest_tau_domains():
            return [pytest_tau.domain_of("stock", tools=[take])]
        """
    )
    result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain=stock")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *domain 'stock': take may change something that the next simulation would*"])


def line_project(pytester: pytest.Pytester, mode: str = "", **options: object) -> None:
    """Make a project with a domain over the server that misbehaves."""
    given = {"command": [sys.executable, str(LINE_SERVER), mode], "state": "items://all", "functions": ["has"]}
    given |= {"env": {"TAU_TEST": str(os.getpid())}, "tasks": "tasks.json", "folder": str(pytester.path)}
    pytester.makeconftest(
        f"import pytest_tau\n\ndef pytest_tau_domains():\n"
        f"    return [pytest_tau.mcp_domain('items', **{given | options!r})]\n"
    )
    tasks = [
        {
            "id": f"put-{n}",
            "user_scenario": {"instructions": "Put it."},
            "evaluation_criteria": {
                "actions": [{"action_id": "put", "name": "put", "arguments": {"key": "b", "value": n}}],
                "reward_basis": ["DB"],
            },
        }
        for n in range(6)
    ]
    pytester.path.joinpath("tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    pytester.makepyfile(
        agents="""
        import asyncio

        class Slow:
            def __init__(self):
                self.called = False

            async def respond(self, message):
                if not self.called:
                    self.called = True
                    return {"tool_calls": [{"name": "put", "arguments": {"key": "b", "value": 1}}]}
                print("called", flush=True)
                await asyncio.sleep(600)

        class Hanging(Slow):
            async def respond(self, message):
                return {"tool_calls": [{"name": "hang", "arguments": {}}]}
        """
    )


@pytest.mark.usefixtures("no_process_is_left")
class TestServers:
    @pytest.fixture(autouse=True)
    def _needs_the_sdk(self) -> None:
        pytest.importorskip("mcp")

    def test_concurrent_simulations_have_servers_of_their_own(self, pytester) -> None:
        line_project(pytester)
        result = pytester.runpytest_inprocess(
            "-pno:asyncio", "--tau-domain=items", "--tau-agent=gold", "--tau-concurrency=3", "--tau-trials=2"
        )
        result.assert_outcomes(passed=12)

    def test_a_server_that_does_not_start_is_a_usage_error(self, pytester) -> None:
        line_project(pytester, "broken")
        result = pytester.runpytest_inprocess("-pno:asyncio", "--tau-domain=items", "--tau-agent=gold")
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(
            ["ERROR: the tool server of domain 'items' ended during its start*", "no database*"]
        )

    def test_a_server_that_hangs_is_an_error_and_ends(self, pytester) -> None:
        line_project(pytester, timeout=8.0)
        result = pytester.runpytest_inprocess(
            "-pno:asyncio", "--tau-domain=items", "--tau-agent=agents.py:Hanging", "--tau-task=put-1"
        )
        result.assert_outcomes(errors=1)
        result.stdout.fnmatch_lines(
            [
                "*the tool server of domain 'items' did not answer within 8 s*",
                "looks like the harness's fault: a tool server was*",
            ]
        )

    def test_a_server_ends_with_the_time_of_its_simulation(self, pytester) -> None:
        line_project(pytester)
        agent = "--tau-agent=agents.py:Slow"
        result = pytester.runpytest_inprocess(
            "-pno:asyncio", "--tau-domain=items", agent, "--tau-task=put-1", "--tau-timeout=2"
        )
        result.assert_outcomes(failed=1)

    @pytest.mark.skipif(sys.platform == "win32", reason="signals")
    def test_servers_end_with_ctrl_c(self, pytester) -> None:
        line_project(pytester)
        command = [sys.executable, "-m", "pytest", "-s", "-pno:asyncio", "--tau-domain=items", "--tau-concurrency=2"]
        process = subprocess.Popen(
            [*command, "--tau-agent=agents.py:Slow"],
            stdout=subprocess.PIPE,
            text=True,
            cwd=pytester.path,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "called" in line:
                    break
            assert children()
            process.send_signal(signal.SIGINT)
            process.stdout.read()
            assert process.wait(30) == pytest.ExitCode.INTERRUPTED
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


def test_a_state_that_all_trials_reset_is_for_one_at_a_time(pytester):
    pytest.importorskip("mcp")
    server = Path(__file__).parents[1] / "unit" / "line_server.py"
    pytester.makeconftest(f"""
        import sys
        import pytest_tau

        def pytest_tau_domains():
            given = {{"state": "items://all", "env": {{"STORE": "store.json"}}, "reset": "reset", "tasks": "tasks.json"}}
            return [pytest_tau.mcp_domain("items", command=[sys.executable, {str(server)!r}], **given)]
    """)
    actions = [{"action_id": "1", "name": "put", "arguments": {"key": "b", "value": 2}}]
    scenario = {"instructions": "Put 2 at b."}
    tasks = [{"id": each, "user_scenario": scenario, "evaluation_criteria": {"actions": actions}} for each in "ab"]
    pytester.path.joinpath("tasks.json").write_text(json.dumps(tasks))
    options = ["--tau-domain=items", "--tau-agent=gold", "-pno:asyncio", "-pno:randomly"]
    result = pytester.runpytest_inprocess(*options, "--tau-concurrency=2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: domain 'items': reset= sets back one state that all trials share: *"])
    pytester.runpytest_inprocess(*options, "--tau-concurrency=1").assert_outcomes(passed=2)
