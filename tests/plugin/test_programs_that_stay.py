"""Agents that are programs which stay: lines of JSON over standard input and output, many conversations at once."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("aiohttp", reason="needs the extra endpoint")

#: Calls a tool over MCP with the standard library, in a thread for each message; logs to standard error.
AGENT = """
import json, os, sys, threading, urllib.request

def rpc(url, method, **params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["result"]

def say(**line):
    print(json.dumps(line), flush=True)

turns = {}

def answer(line):
    conversation = line["conversation"]
    turns[conversation] = turns.get(conversation, 0) + 1
    if turns[conversation] == 1:
        arguments = {"user_id": "user_1", "title": os.environ.get("TITLE", "Buy milk")}
        rpc(line["mcp_url"], "tools/call", name="create_task", arguments=arguments)
    say(conversation=conversation, text=f"Done, turn {turns[conversation]}.")

with open("starts", "a") as file:
    print("start", os.getpid(), file=file)
for text in sys.stdin:
    line = json.loads(text)
    with open("lines.jsonl", "a") as file:
        file.write(text)
    if "text" in line:
        threading.Thread(target=answer, args=(line,)).start()
"""
#: Answers each message by a function ``answer`` of the line.
LOOP = """
import json, os, sys, time
for text in sys.stdin:
    line = json.loads(text)
    if "text" in line:
        answer(line)
"""


@pytest.fixture(autouse=True)
def _ended() -> Iterator[None]:
    from pytest_tau.participants.programs.stdio import end_programs

    yield
    end_programs()


@pytest.fixture
def run(project: Any, a_task: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    """Runs tasks with a program as the agent."""

    def run(*args: str, code: str = AGENT, tasks: int = 1, agent: str = f"stdio:'{sys.executable}' agent.py") -> Any:
        project.tasks("mock/t.tau.json", [a_task(f"task-{number}") for number in range(tasks)])
        project.write("agent.py", code)
        return project.run("mock", "--tau-agent", agent, *args)

    return run


def answering(function: str) -> str:
    return f"def answer(line):\n    {function}\n{LOOP}"


def lines(project: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project.path / "lines.jsonl").read_text().splitlines()]


def test_one_process_has_all_conversations(run: Callable[..., Any], project: Any) -> None:
    run("--tau-trials", "3", tasks=2).outcomes(passed=6)
    assert (project.path / "starts").read_text().count("start") == 1
    messages = [line for line in lines(project) if "text" in line]
    ends = [line["conversation"] for line in lines(project) if "end" in line]
    assert sorted(ends) == sorted({line["conversation"] for line in messages})
    assert len(ends) == 6
    assert {line["mcp_url"].rpartition("/t/")[2].partition("/")[0] for line in messages} == {
        line["api_key"] for line in messages
    }
    assert all("task" in line["policy"] for line in messages)


def test_conversations_run_at_the_same_time(run: Callable[..., Any], project: Any) -> None:
    run("--tau-concurrency", "4", tasks=4).outcomes(passed=4)
    assert (project.path / "starts").read_text().count("start") == 1


@pytest.mark.exhaustive
def test_each_worker_has_a_process(run: Callable[..., Any]) -> None:
    run("-n", "2", tasks=4).outcomes(passed=4)


def test_named_variables_are_passed_and_keys_are_not(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TITLE", "Buy wool")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-run")
    run().outcomes(passed=1)
    failed = run("--tau-program-env=TITLE")
    failed.outcomes(failed=1)
    failed.line('title="Buy wool"')
    told = run(code=answering("print(json.dumps({**line, 'x': 1}), str(os.environ), flush=True)"))
    told.lacks("sk-of-the-run")


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        ("print('Hello', flush=True)", "printed 'Hello': not valid JSON"),
        ('print(\'{"text": "Hi"}\', flush=True)', "conversation: Field required"),
        ("print(json.dumps({'conversation': line['conversation']}), flush=True)", "expected either text or error"),
        ("print(json.dumps({'conversation': 'other', 'text': 'Hi'}), flush=True)", "answered conversation 'other'"),
        ("print(json.dumps({'conversation': line['conversation'], 'text': ' '}), flush=True)", "an empty text"),
        ("print(json.dumps({'conversation': line['conversation'], 'error': 'no stock'}), flush=True)", "no stock"),
        ("sys.exit(3)", "ended with exit status 3"),
        ("os.kill(os.getpid(), 9)", "was ended by signal SIGKILL"),
        ("sys.stdout.write('{\"conversa'); sys.stdout.flush(); sys.exit(0)", "its last line has no end: '{\"conversa'"),
        (
            "sys.stdout.write('x' * 4_000_001); sys.stdout.flush(); time.sleep(60)",
            "a line of more than 4,000,000 bytes",
        ),
    ],
)
def test_a_wrong_answer_is_the_agents_failure(run: Callable[..., Any], function: str, problem: str) -> None:
    failed = run(code=answering(function))
    failed.outcomes(failed=1)
    failed.line(problem)
    failed.line("ended by a fault of the agent")


def test_what_a_program_has_logged_before_its_end_is_in_the_error(run: Callable[..., Any]) -> None:
    failed = run(code=f"import sys\nprint('trouble ahead', file=sys.stderr)\n{answering('sys.exit(3)')}")
    failed.outcomes(failed=1)
    failed.line("  trouble ahead")


def test_the_next_trial_starts_the_program_again(run: Callable[..., Any], project: Any) -> None:
    code = AGENT.replace(
        "def answer(line):", "def answer(line):\n    os.path.exists('died') or [open('died', 'w'), os._exit(1)]"
    )
    run("--tau-trials", "2", code=code).outcomes(failed=1, passed=1)
    assert (project.path / "starts").read_text().count("start") == 2


def test_without_an_answer_the_time_limit_ends_the_trial_and_the_program_goes_on(run: Callable[..., Any]) -> None:
    code = """
        import json, sys, threading, time
        def late(line):
            time.sleep(0.75)
            print(json.dumps({"conversation": line["conversation"], "text": "late"}), flush=True)
        for text in sys.stdin:
            line = json.loads(text)
            if "text" in line:
                threading.Thread(target=late, args=(line,)).start()
    """
    failed = run("--tau-timeout", "0.5", "--tau-trials", "2", code=code)
    failed.outcomes(failed=2)
    failed.lacks("which no message waits for")


def test_a_text_in_the_arguments_is_refused(run: Callable[..., Any]) -> None:
    refused = run(agent=f"stdio:'{sys.executable}' agent.py {{text}}")
    refused.usage_error("{text} in the arguments: expected none")
    run(agent="stdio:no-such-program").usage_error("no program 'no-such-program' in the folders of PATH")


def test_what_is_written_follows_the_schema(run: Callable[..., Any], project: Any, capsys: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    from pytest_tau.cli import main

    run("--tau-trials", "2").outcomes(passed=2)
    capsys.readouterr()
    assert main(["schema", "program"]) == 0
    schema = json.loads(capsys.readouterr().out)
    for line in lines(project):
        jsonschema.validate(line, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"conversation": "x"}, schema)
