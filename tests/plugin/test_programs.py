"""Agents that are programs, and agents behind an A2A address, in whole runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from import_file import import_file

from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("aiohttp", reason="needs the extra endpoint")

ROOT = Path(__file__).parents[2]
#: A program that calls a tool over MCP with the standard library; the answer to the second message is a farewell.
AGENT = """
import json, os, pathlib, sys, urllib.request

def rpc(method, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(os.environ["TAU_MCP_URL"], body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["result"]

text = sys.argv[1] if len(sys.argv) > 1 else sys.stdin.read()
if "milk" in text:
    print("calling", file=sys.stderr)
    result = rpc("tools/call", name="create_task", arguments={"user_id": "user_1", "title": os.environ["TITLE"]})
    print("Done:", result["content"][0]["text"])
else:
    print("How can I help?")
"""


@pytest.fixture
def run(project: Any, a_task: Callable[..., dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a task with a program as the agent."""
    monkeypatch.setenv("TITLE", "Buy milk")

    def run(agent: str, *args: str, code: str = AGENT, tasks: int = 1) -> Any:
        project.tasks("mock/t.tau.json", [a_task(f"task-{number}") for number in range(tasks)])
        project.write("agent.py", code)
        return project.run("mock", "--tau-agent", agent, "--tau-program-env=TITLE", *args)

    return run


def python(*rest: str) -> str:
    return " ".join([f"cmd:'{sys.executable}' agent.py", *rest])


def is_running(number: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False)
    return bool(found.stdout.strip()) and not found.stdout.startswith("Z")


def ends(*files: Path) -> None:
    """The processes whose numbers are in the files end soon."""
    deadline = time.monotonic() + 10
    while any(is_running(int(file.read_text())) for file in files):
        assert time.monotonic() < deadline, "a process is left"
        time.sleep(0.05)


@pytest.mark.parametrize("rest", ["{text}", "", "'{text}' --verbose"])
def test_a_program_is_an_agent(run: Callable[..., Any], rest: str) -> None:
    run(python(rest), "--tau-trials", "2").outcomes(passed=2)


@pytest.mark.exhaustive
def test_programs_run_at_the_same_time(run: Callable[..., Any]) -> None:
    run(python(), "--tau-concurrency", "4", tasks=4).outcomes(passed=4)


def test_programs_run_in_workers(run: Callable[..., Any]) -> None:
    run(python(), "-n", "2", tasks=2).outcomes(passed=2)


def test_the_call_is_in_the_conversation(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TITLE", "Buy wool")
    done = run(python("{text}"))
    done.outcomes(failed=1)
    done.line("agent  > create_task(", 'title="Buy wool"')
    done.line('tasks/task_3/title  expected "Buy milk"   got "Buy wool"')
    done.line("pytest_tau.programs", "process 1, standard error:")
    done.line("  calling")


def test_the_environment_of_a_program(run: Callable[..., Any], project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address, its policy, and an id of the trial, the same for all turns; a folder of the trial's own."""
    monkeypatch.setenv("OPENAI_API_KEY", "a key of the user's")
    code = """
        import json, os, pathlib, sys
        names = ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "TAU_MCP_URL",
                 "TAU_POLICY_FILE", "TAU_SESSION", "TITLE")
        policy = pathlib.Path(os.environ["TAU_POLICY_FILE"])
        notes = policy.with_name("notes")
        notes.write_text((notes.read_text() if notes.exists() else "") + "x")
        facts = {name: os.environ[name] for name in names} | {"policy": policy.read_text(), "notes": notes.read_text()}
        with open("facts.jsonl", "a") as file:
            print(json.dumps(facts), file=file)
        print("Hello", sys.argv[1])
    """
    user = project.write(
        "people.py",
        """
        class User:
            def __init__(self):
                self.texts = iter(["one", "two", "###STOP###"])
            def respond(self, message):
                return next(self.texts)
        """,
    )
    run(python("{text}"), "--tau-user", f"{user}:User", "--tau-trials", "2", code=code).outcomes(failed=2)
    lines = [json.loads(line) for line in (project.path / "facts.jsonl").read_text().splitlines()]
    assert [line["notes"] for line in lines] == ["x", "xx", "x", "xx"]
    sessions = [line["TAU_SESSION"] for line in lines]
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
    first = lines[0]
    token = first["OPENAI_API_KEY"]
    assert token.startswith("sk-tau-")
    assert token == first["ANTHROPIC_API_KEY"] != lines[2]["OPENAI_API_KEY"]
    home = first["OPENAI_BASE_URL"].removesuffix("/v1")
    assert re.fullmatch(rf"http://127\.0\.0\.1:\d+/t/{token}", home)
    assert (first["ANTHROPIC_BASE_URL"], first["TAU_MCP_URL"]) == (home, f"{home}/mcp")
    assert "task" in first["policy"]
    assert not Path(first["TAU_POLICY_FILE"]).parent.exists(), "the folder ends with the trial"
    assert token not in "".join(
        file.read_text() for file in project.path.rglob("*.json*") if file.name != "facts.jsonl"
    )


def test_a_program_is_given_what_it_needs_and_what_is_named(
    run: Callable[..., Any], project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "SHOP_URL", "SHOP_NAME"):
        monkeypatch.setenv(name, "x")
    code = "import json, os, pathlib; pathlib.Path('found').write_text(json.dumps([*os.environ])); print('Hello')"
    run(python(), "--tau-program-env=SHOP_URL,SHOP_NAME", code=code).outcomes(failed=1)
    found = set(json.loads((project.path / "found").read_text()))
    assert {"PATH", "HOME", "TITLE", "SHOP_URL", "SHOP_NAME", "OPENAI_API_KEY", "TAU_SESSION"} <= found
    assert not found & {"AWS_SECRET_ACCESS_KEY", "PYTEST_CURRENT_TEST"}


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("import sys; print('half'); sys.exit('no key')", ["ended with exit status 1", "  half", "  no key"]),
        ("raise ValueError('broken')", ["ended with exit status 1", "ValueError: broken"]),
        ("import os, sys; sys.exit('key ' + os.environ['OPENAI_API_KEY'])", ["  key ***"]),
        ("import os; os.kill(os.getpid(), 9)", ["was ended by signal SIGKILL"]),
        ("import sys; print('  '); print('why', file=sys.stderr)", ["printed nothing; its answer", "  why"]),
        ("print('x' * 4_000_001)", ["printed more than 4,000,000 bytes"]),
    ],
)
def test_a_program_that_fails(run: Callable[..., Any], code: str, parts: list[str]) -> None:
    done = run(python(), code=code)
    done.outcomes(failed=1)
    done.line("ended by a fault of the agent")
    for part in parts:
        done.line(part)


def test_a_message_that_is_too_long_for_an_argument(run: Callable[..., Any], project: Any) -> None:
    user = project.write("people.py", "def user(messages, tools):\n    return 'x' * 300_000\n")
    done = run(python("{text}"), "--tau-user", f"{user}:user")
    done.outcomes(failed=1)
    done.line("cannot be started: Argument list too long; without {text} in the command,")


#: Writes its number and that of a child, and waits; neither ends when it is asked to.
DEAF = """
import os, pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
name = sys.argv[-1] if sys.argv[-1] == "child" else "parent"
if name == "parent":
    subprocess.Popen([sys.executable, __file__, "child"])
while name == "parent" and not pathlib.Path("child").exists():
    time.sleep(0.01)
pathlib.Path(name).write_text(str(os.getpid()))
print("waiting", file=sys.stderr, flush=True)
time.sleep(60)
"""


@pytest.mark.exhaustive
def test_a_program_that_does_not_end_is_killed_with_its_children(run: Callable[..., Any], project: Any) -> None:
    done = run(python(), "--tau-timeout", "3", code=DEAF)
    done.outcomes(failed=1)
    done.line("cut off: out of time")
    done.line("standard error, until it was ended:")
    done.line("  waiting")
    ends(project.path / "parent", project.path / "child")


@pytest.mark.exhaustive
def test_what_a_program_leaves_running_ends_with_the_trial(run: Callable[..., Any], project: Any) -> None:
    code = DEAF.replace("time.sleep(60)", "time.sleep(60 * (name == 'child')); print('Hello')")
    run(python(), "--tau-user", "gold", code=code).outcomes(failed=1)
    ends(project.path / "child")


@pytest.mark.exhaustive
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(("signal_name", "workers"), [("SIGTERM", []), ("SIGKILL", ["-n", "2"])], ids=str)
def test_a_program_ends_with_a_run_that_is_killed(
    project: Any, a_task: Callable[..., dict[str, Any]], signal_name: str, workers: list[str]
) -> None:
    """With its children, although neither ends when it is asked to."""
    project.tasks("mock/t.tau.json", [a_task()])
    project.write("agent.py", DEAF)
    arguments = ["mock", "-pno:asyncio", "-pno:cacheprovider", "--tau-agent", python(), *workers]
    command = [sys.executable, "-m", "pytest", *arguments]
    with subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 60
            while not all((project.path / name).exists() for name in ("parent", "child")):
                assert process.poll() is None, "the run has ended"
                assert time.monotonic() < deadline, "the program has not started"
                time.sleep(0.05)
            assert is_running(int((project.path / "child").read_text()))
            process.send_signal(getattr(signal, signal_name))
            process.wait(30)
        finally:
            process.kill()
    ends(project.path / "parent", project.path / "child")


@pytest.mark.exhaustive
def test_a_call_after_the_answer_is_an_error_of_the_agent(run: Callable[..., Any]) -> None:
    """A child of the program calls a tool once the program has printed its answer."""
    code = (
        AGENT
        + """
if not os.environ.get("CHILD"):
    import subprocess
    subprocess.Popen([sys.executable, __file__, "milk, later"], env={**os.environ, "CHILD": "1"},
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
"""
    )
    code = code.replace(
        "result = rpc", "import time; time.sleep(1 if os.environ.get('CHILD') else 0)\n    result = rpc"
    )
    user = "import time\ndef user(messages, tools):\n    time.sleep(3 * (len(messages) > 2))\n    return 'Hi'\n"
    Path("people.py").write_text(user, encoding="utf-8")
    done = run(python(), "--tau-user", "people.py:user", code=code)
    done.outcomes(failed=1)
    done.line("tool 'create_task' was called after run() had returned")


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("cmd:no-such-agent {text}", ["agent 'cmd:no-such-agent {text}': no program 'no-such-agent' in the folders"]),
        ("cmd:./agent.py", ["agent.py is not executable; run it with its interpreter"]),
        ("cmd:", ["no program; expected cmd:PROGRAM ARGUMENTS"]),
        ("a2a:localhost:9999", ["expected the URL of an A2A server, such as a2a:http://127.0.0.1:9999"]),
        (
            "a2a:http://127.0.0.1:9",
            ["agent 'a2a:http://127.0.0.1:9': no A2A server can be reached there: Connection refused"],
        ),
    ],
)
def test_an_agent_that_cannot_be_used(run: Callable[..., Any], spec: str, parts: list[str]) -> None:
    run(spec).usage_error(*parts)


def test_an_agent_that_cannot_be_used_in_workers(run: Callable[..., Any]) -> None:
    run("a2a:http://127.0.0.1:9", "-n", "2").usage_error("no A2A server can be reached there: Connection refused")


def test_a_user_is_not_a_program(run: Callable[..., Any]) -> None:
    run("noop", "--tau-user", "cmd:python x").usage_error("user 'cmd:python x': only an agent can be a program")


def test_the_extra_is_named(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aiohttp.web", None)
    run(python()).usage_error("pip install './pytest-tau[endpoint]'")


def test_the_extra_of_servers_is_named(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pytest_tau.integrations.a2a", raising=False)
    monkeypatch.setitem(sys.modules, "a2a.client", None)
    run("a2a:http://127.0.0.1:9").usage_error("pip install './pytest-tau[a2a]'")


@pytest.fixture
def server() -> Iterator[Any]:
    """A fake A2A server."""
    pytest.importorskip("a2a", reason="needs a2a-sdk (a2a and dev extras)")
    server = import_file(ROOT / "tests" / "unit" / "a2a_server.py").A2AServer()
    yield server
    server.close()


def test_a_server_is_an_agent(run: Callable[..., Any], server: Any) -> None:
    server.results += [{"message": server.message("Hello.")}] * 2
    run(f"a2a:{server.url}", "--tau-user", "gold").outcomes(failed=1)
    metadata = server.requests[0]["params"]["message"]["metadata"]["tau"]
    assert sorted(metadata) == ["api_key", "base_url", "mcp_url", "policy"]
    assert metadata["mcp_url"].endswith(f"/t/{metadata['api_key']}/mcp")


def test_a_server_that_refuses(run: Callable[..., Any], server: Any) -> None:
    server.results.append({"error": {"code": -32603, "message": "out of order: sk-tau-x"}})
    done = run(f"a2a:{server.url}")
    done.outcomes(failed=1)
    done.line("ended by a fault of the agent")
    done.line("error -32603: out of order: ***")


def test_a_server_of_another_version(run: Callable[..., Any], server: Any) -> None:
    server.card["supportedInterfaces"][1]["protocolVersion"] = "2.0"
    run(f"a2a:{server.url}").usage_error("the agent speaks GRPC 1.0, JSONRPC 2.0; supported: JSON-RPC of A2A 1.x")
    assert server.requests == []


def test_a_server_is_not_asked_to_collect(run: Callable[..., Any]) -> None:
    assert run("a2a:http://127.0.0.1:9", "--collect-only", "-q").ret == 0


# Without a user.

SOLO = ["--tau-domain", "mock", "--tau-solo", "--tau-task", "no-third-status"]
#: Works on the ticket, and then says so by the tool or by a text.
ALONE = (
    AGENT
    + """
assert "no such status" in text, text
rpc("tools/call", name="create_task", arguments={"user_id": "user_1", "title": os.environ["TITLE"]})
if "done" in sys.argv:
    print("all done", file=sys.stderr, flush=True)
    rpc("tools/call", name="done", arguments={})
print("Done.")
"""
)


@pytest.mark.parametrize(
    ("rest", "args"),
    [("", []), ("--ticket={text}", []), pytest.param("done", ["-n", "2"], marks=pytest.mark.exhaustive)],
)
def test_a_program_works_on_a_ticket(project: Any, monkeypatch: pytest.MonkeyPatch, rest: str, args: list[str]) -> None:
    monkeypatch.setenv("TITLE", "Water the other plants")
    project.write("agent.py", ALONE.replace("len(sys.argv) > 1", "'--ticket' in sys.argv[-1]"))
    project.run(*SOLO, "--tau-agent", python(rest), "--tau-program-env=TITLE", *args).outcomes(passed=1)


def test_a_program_that_leaves_a_ticket(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TITLE", "Something else")
    project.write("agent.py", ALONE)
    run = project.run(*SOLO, "--tau-agent", python(), "--tau-program-env=TITLE")
    run.outcomes(failed=1)
    run.line("ended by the agent after")


@pytest.mark.parametrize("late", [False, True], ids=["message", "task"])
def test_a_server_works_on_a_ticket(project: Any, server: Any, late: bool) -> None:
    def act(request: dict[str, Any]) -> dict[str, Any]:
        url = request["params"]["message"]["metadata"]["tau"]["mcp_url"]
        params = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Water the other plants"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        headers = {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer:
            assert not json.load(answer)["result"]["isError"]
        return server.sent(server.task("working") if late else server.message("Done."))  # type: ignore[no-any-return]

    server.results += [act, server.task("completed", "Done.")]
    project.run(*SOLO, "--tau-agent", f"a2a:{server.url}").outcomes(passed=1)
    text = server.requests[0]["params"]["message"]["parts"][0]["text"]
    assert text.startswith("Ada Moreno (user_1) would like task_1 shown as")
    assert [request["method"] for request in server.requests] == ["SendMessage", *(["GetTask"] if late else [])]


# Keys and ends of servers.


def test_a_task_is_cancelled_at_the_time_limit(project: Any, server: Any) -> None:
    server.results += [server.sent(server.task("working")), *[server.task("working")] * 20]
    run = project.run(*SOLO, "--tau-agent", f"a2a:{server.url}", "--tau-timeout", "0.4")
    run.outcomes(failed=1)
    run.line("cut off: out of time")
    assert server.requests[-1]["method"] == "CancelTask"


@pytest.mark.parametrize(
    ("refused", "args"),
    [(False, []), pytest.param(True, ["-n", "2"], marks=pytest.mark.exhaustive)],
    ids=["accepted", "refused"],
)
def test_the_key_of_a_server_is_nowhere(
    project: Any, server: Any, monkeypatch: pytest.MonkeyPatch, refused: bool, args: list[str]
) -> None:
    key = "secret-key-of-a-server"
    monkeypatch.setenv("TAU_AGENT_API_KEY", key)
    server.results.append((401, f"wrong: {key}".encode()) if refused else server.sent(server.message("Done.")))
    reports = ["--junitxml=r.xml", "--tau-html=r.html", "--tau-markdown=r.md", "-vv", "-rA", "--showlocals"]
    run = project.run(*SOLO, "--tau-agent", f"a2a:{server.url}", *reports, *args)
    run.outcomes(**({"errors": 1} if refused else {"failed": 1}))
    assert server.headers[-1]["Authorization"] == f"Bearer {key}"
    assert key not in run.text
    left = [path for path in project.path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert left == []
    if refused:
        run.line("HTTP 401; it refuses the key of the environment variable TAU_AGENT_API_KEY")
        run.line("looks like the provider's fault: the server of the agent refuses the key")


# The documentation.


def block(language: str, part: str) -> str:
    text = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    found = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return next(each for each in found if part in each)


#: A task of retail, and the calls that solve it.
TASK = ["--tau-domain", "retail", "--tau-split", "small", "--tau-task", "cancel-unneeded"]
CALLS = [
    ("get_order_details", {"order_id": "#W7171180"}),
    ("cancel_pending_order", {"order_id": "#W7171180", "reason": "no longer needed"}),
]


def cancelling(request: dict[str, Any]) -> Any:
    """A model that solves the task."""
    made = sum(message["role"] == "tool" for message in request["messages"])
    if made < len(CALLS):
        name, arguments = CALLS[made]
        return {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}
    return "The order has been cancelled. You get back $267.79. Is there anything else I can help you with?"


@pytest.mark.exhaustive
@pytest.mark.usefixtures("light_processes")
def test_the_program_of_the_docs(project: Any, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded, too, and replayed without its model."""
    pytest.importorskip("openai", reason="needs the extra llm")
    pytest.importorskip("mcp", reason="needs the extra mcp")
    command = next(line for line in block("console", "agent.py").splitlines() if "agent.py" in line)
    assert "--tau-agent 'cmd:python agent.py' --tau-agent-llm gpt-4.1" in command
    project.write("agent.py", block("python", "CONVERSATION"))
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    agent = [*TASK, "--tau-agent", python(), "--tau-agent-llm", "gpt-4.1"]
    # In processes of their own: litellm replaces the search for installed packages, and pytester puts a part of it back.
    with ModelServer(cancelling) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        pytester.runpytest_subprocess("-pno:asyncio", *agent, "--tau-record").assert_outcomes(passed=1)
        first = model.requests[0]
    assert first["model"] == "gpt-4.1"
    assert first["messages"][0]["role"] == "system"
    assert len(first["tools"]) > 10
    pytester.runpytest_subprocess("-pno:asyncio", *agent, "--tau-replay").assert_outcomes(passed=1)


@pytest.mark.exhaustive
def test_a_client_that_passes_the_address_to_tau_mcp(project: Any) -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    code = "\n".join(
        [
            "import asyncio, mcp",
            "environment = {'TAU_MCP_URL': os.environ['TAU_MCP_URL']}",
            "server = mcp.StdioServerParameters(command='tau', args=['mcp'], env=environment)",
            "client = mcp.Client(mcp.stdio_client(server))",
            "async def main():",
            "    async with client:",
            f"        for name, arguments in {CALLS!r}:",
            "            result = await client.call_tool(name, arguments)",
            "    print('Cancelled, you get back $267.79.', result.content[0].text[:20])",
            "asyncio.run(main())",
        ]
    )
    project.write("agent.py", "import os\nos.environ['PATH'] = " + repr(path) + "\n" + code)
    project.run(*TASK, "--tau-agent", python()).outcomes(passed=1)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.exhaustive
def test_the_server_of_the_examples(project: Any) -> None:
    """The real SDK, and a tool that its executor calls."""
    pytest.importorskip("a2a", reason="needs the extra dev")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = ROOT / "examples" / "a2a_server.py"
    with subprocess.Popen([sys.executable, str(path), str(port)], stderr=subprocess.PIPE, text=True) as process:
        try:
            deadline = time.monotonic() + 60
            while not answers(port):
                assert process.poll() is None, process.stderr.read() if process.stderr else ""
                assert time.monotonic() < deadline
                time.sleep(0.1)
            done = project.run(*TASK, "--tau-agent", f"a2a:http://127.0.0.1:{port}")
        finally:
            process.terminate()
    done.outcomes(passed=1)
