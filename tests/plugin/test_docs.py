"""What the documentation shows works as it is shown."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
import shlex
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from import_file import import_file

import pytest_tau
from pytest_tau.capability import bundled
from pytest_tau.capability.calls import columns_of
from pytest_tau.cli import main
from pytest_tau.runs.reader import open_run
from pytest_tau.testing import ModelServer

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parents[2]


def blocks(name: str, language: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def several_agents(language: str) -> str:
    """The example of several agents in one run, on the page about gates."""
    parts = {"python": "def tau_agent(", "console": "tau:  base -> new"}
    return next(block for block in blocks("docs/gates.md", language) if parts[language] in block)


def shown_command(name: str, part: str) -> list[str]:
    """The arguments of the command of pytest that a page shows."""
    found = [line for block in blocks(name, "console") for line in block.splitlines() if part in line]
    (line,) = [each for each in found if each.startswith("$ pytest ")]
    return shlex.split(line)[2:]


def test_the_saboteur_does_what_the_first_page_shows(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "110")
    agent = "--tau-agent=saboteur:forgets-last-write"
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "retail", "--tau-split", "small", agent)
    result.assert_outcomes(passed=1, failed=11)
    shown = next(block for block in blocks("docs/get_started.md", "console") if "saboteur" in block)
    begun = ("reward 0", "turning point", "policy", "  agent", "  user", "tau: retail:")
    lines = [line for line in shown.splitlines() if line.startswith(begun)]
    assert len(lines) == 7
    written = result.stdout.str()
    for line in lines:
        assert line in written


def test_the_variants_of_the_docs_are_compared_as_shown(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    pytester.path.joinpath("conftest.py").write_text(several_agents("python"), encoding="utf-8")
    command, *lines = several_agents("console").splitlines()
    result = pytester.runpytest("-pno:asyncio", *shlex.split(command.removeprefix("$ pytest ")))
    assert len(lines) == 9
    written = result.stdout.str()
    for line in lines:
        assert line in written


def test_the_example_agent_passes_most(pytester: pytest.Pytester) -> None:
    agent = f"{ROOT / 'examples' / 'account_desk.py'}:AccountDesk"
    result = pytester.runpytest(
        "-pno:asyncio", "--tau-domain", "telecom", "--tau-split", "small", f"--tau-agent={agent}", "--tau-user=gold"
    )
    result.assert_outcomes(passed=18, failed=3)


def test_the_marked_test_of_the_docs_runs(pytester: pytest.Pytester) -> None:
    marked = next(block for block in blocks("docs/own_tests.md", "python") if "pytest.mark.tau" in block)
    pytester.makepyfile(marked)
    result = pytester.runpytest("-pno:asyncio", "-k", "service.airplane and trial-1")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] > 1


def test_the_python_without_pytest_runs() -> None:
    code = next(block for block in blocks("docs/own_tests.md", "python") if "load_domain" in block)
    names: dict[str, object] = {}
    exec(compile(code, "own_tests.md", "exec"), names)
    assert names["reward"].reward == names["simulation"].reward == 1  # type: ignore[attr-defined]


def test_the_commands_of_the_docs_select_something(pytester: pytest.Pytester) -> None:
    shown = next(block for block in blocks("docs/options.md", "console") if "--tau-split small     " in block)
    commands = [shlex.split(line.removeprefix("$ pytest"), comments=True) for line in shown.splitlines()]
    commands = [command for command in commands if "tests/tasks/refunds.json" not in command and "-n" not in command]
    assert len(commands) == 7
    for command in commands:
        result = pytester.runpytest("-pno:asyncio", "-q", *command)
        assert result.ret == 0
        assert result.parseoutcomes()["passed"] >= 1


def test_the_knowledge_base_of_the_docs_is_searched(pytester: pytest.Pytester) -> None:
    declared, own_index = blocks("docs/knowledge.md", "python")
    tools = "class Shop:\n    def refund(self, order: str) -> str:\n        'Refund an order.'\n        return order\n"
    hook = "def pytest_tau_domains():\n    return [shop]\n"
    pytester.path.joinpath("conftest.py").write_text(f"{tools}\n{declared}\n{hook}\n{own_index}", encoding="utf-8")
    (pytester.path / "shop" / "documents").mkdir(parents=True)
    for name in ("hours", "refunds"):
        (pytester.path / "shop" / "documents" / f"{name}.md").write_text(f"# {name}\nText.\n", encoding="utf-8")
    (pytester.path / "shop" / "tasks").mkdir()
    task = {"id": "a", "user_scenario": {"instructions": "Ask."}, "required_documents": ["refunds"]}
    task["evaluation_criteria"] = {"reward_basis": ["ACTION"], "actions": []}
    (pytester.path / "shop" / "tasks" / "t.json").write_text(json.dumps([task]), encoding="utf-8")
    command = shown_command("docs/knowledge.md", "--tau-agent-retrieval bm25")
    result = pytester.runpytest("-pno:asyncio", *command)
    assert result.ret == 0
    result.assert_outcomes(passed=1)
    result = pytester.runpytest("-pno:asyncio", "--tau-domain", "shop", "--tau-agent-retrieval", "newest")
    result.assert_outcomes(passed=1)


def test_the_recall_table_of_the_docs_has_the_rows_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The figures are those of the official data; the variants, the columns and the first line are the command's."""
    shown = next(block for block in blocks("docs/knowledge.md", "text") if "recall@1" in block).splitlines()
    command = [sys.executable, "-m", "benchmarks.retrieval"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()

    def form(line: str) -> str:
        return re.sub(r"\d+(\.\d+)?", "N", line)

    assert [form(line) for line in shown] == [form(line) for line in printed]
    assert shown[1] == printed[1]


SHOP = """
import sqlite3
import time

PROMPT = "Look an order up before you cancel it."
SCHEMAS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {"order_id": {}}}}}
    for name in ("find_order", "cancel_order")
]


def find_order(order_id: str) -> dict:
    '''Show an order.'''
    with sqlite3.connect("shop.db") as db:
        row = db.execute("SELECT item, status FROM orders WHERE id = ?", (order_id,)).fetchone()
    return dict(zip(("item", "status"), row))


def cancel_order(order_id: str) -> dict:
    '''Cancel an order.'''
    with sqlite3.connect("shop.db") as db:
        change = "UPDATE orders SET status = 'cancelled', changed_at = ? WHERE id = ?"
        db.execute(change, (time.time(), order_id))
    return find_order(order_id)
"""


@pytest.mark.parametrize("is_broken", [False, True], ids=["right", "broken"])
def test_the_loop_of_the_first_page_is_tested_unchanged(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, is_broken: bool
) -> None:
    pytest.importorskip("openai", reason="the agent of the README is a client of OpenAI's (comes with litellm)")
    agent, conftest = blocks("README.md", "python")
    files = {
        "my_agent.py": agent,
        "conftest.py": conftest,
        "shop.py": SHOP,
        "tasks.json": blocks("README.md", "json")[0],
    }
    for name, text in files.items():
        pytester.path.joinpath(name).write_text(text, encoding="utf-8")
    with contextlib.closing(sqlite3.connect(pytester.path / "shop.db")) as db:
        db.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, item TEXT, status TEXT, changed_at REAL)")
        db.execute("INSERT INTO orders VALUES ('o1', 'lamp', 'paid', NULL)")
        db.commit()

    def model(request: dict[str, Any]) -> Any:
        calls = ["find_order"] if is_broken else ["find_order", "cancel_order"]
        results = [json.loads(message["content"]) for message in request["messages"] if message["role"] == "tool"]
        if len(results) < len(calls):
            call = {"name": calls[len(results)], "arguments": {"order_id": "o1"}}
            return {"tool_calls": [{"function": call}]}
        assert results[-1] == {"item": "lamp", "status": "paid" if is_broken else "cancelled"}
        return "Your order has been cancelled."

    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        command = shown_command("README.md", "my_agent.py")
        pytester.syspathinsert()
        result = pytester.runpytest("-pno:asyncio", *command, "--tau-trials", "2")
    result.assert_outcomes(**({"failed": 2} if is_broken else {"passed": 2}))
    with contextlib.closing(sqlite3.connect(pytester.path / "shop.db")) as db:
        assert db.execute("SELECT status FROM orders").fetchone() == ("paid",)


def test_the_agent_of_the_first_pages_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(
        "openai", reason="the agent of the page is a client of OpenAI's (comes with litellm, dev extra)"
    )
    pytester.path.joinpath("my_agent.py").write_text(blocks("docs/get_started.md", "python")[0], encoding="utf-8")
    command = shown_command("docs/get_started.md", "my_agent.py")

    def model(request: dict[str, Any]) -> Any:
        calls = [
            ("get_order_details", {"order_id": "#W7171180"}),
            ("cancel_pending_order", {"order_id": "#W7171180", "reason": "no longer needed"}),
        ]
        made = sum(message["role"] == "tool" for message in request["messages"])
        if made < len(calls):
            name, arguments = calls[made]
            return {"tool_calls": [{"function": {"name": name, "arguments": arguments}}]}
        return "The order has been cancelled. You get back $267.79. Is there anything else I can help you with?"

    with ModelServer(model) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        result = pytester.runpytest("-pno:asyncio", *command, "--tau-task", "cancel-unneeded")
    result.assert_outcomes(passed=1)
    assert server.requests[0]["messages"][0]["role"] == "system"


def test_the_class_of_the_docs_is_an_agent(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("my_agent.py").write_text(blocks("docs/your_agent.md", "python")[0], encoding="utf-8")
    result = pytester.runpytest(
        "-pno:asyncio", "--tau-domain", "telecom", "--tau-num-tasks", "1", "--tau-agent", "my_agent.py:Agent"
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*agent*What is your phone number?"])


def test_the_function_of_the_docs_is_an_agent() -> None:
    openai = pytest.importorskip("openai", reason="a client of OpenAI's (comes with litellm, dev extra)")
    with ModelServer(lambda _request: "Goodbye.") as server:
        names: dict[str, Any] = {"client": openai.OpenAI(base_url=server.base_url, api_key="any")}
        [function] = [block for block in blocks("docs/your_agent.md", "python") if "agent(messages" in block]
        exec(compile(function, "your_agent.md", "exec"), names)
        assert names["agent"]([{"role": "user", "content": "Hello"}], openai.NOT_GIVEN)["content"] == "Goodbye."


def test_the_evaluator_of_the_docs_counts(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("conftest.py").write_text(blocks("docs/tasks.md", "python")[0], encoding="utf-8")
    document = json.loads(blocks("docs/tasks.md", "json")[0])
    criteria = document["tasks"][0]["evaluation_criteria"]
    criteria |= json.loads(next(block for block in blocks("docs/tasks.md", "json") if "POLITE" in block))
    pytester.path.joinpath("polite.tau.json").write_text(json.dumps(document), encoding="utf-8")
    result = pytester.runpytest("-pno:asyncio")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["reward 0 = DB 1 x POLITE 0*", "POLITE 0: no please"])
    criteria["communicate_info"] = ["please"]
    pytester.path.joinpath("polite.tau.json").write_text(json.dumps(document), encoding="utf-8")
    pytester.runpytest("-pno:asyncio").assert_outcomes(passed=1)


def test_the_task_file_of_the_docs_passes_lint_and_runs(pytester: pytest.Pytester) -> None:
    pytester.path.joinpath("chairs.tau.json").write_text(blocks("docs/tasks.md", "json")[0], encoding="utf-8")
    pytester.runpytest("-pno:asyncio").assert_outcomes(passed=1)
    assert main(["lint", str(pytester.path / "chairs.tau.json")]) == 0


@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (0, ["--tau-domain", "mock"]),
        (0, ["--tau-domain", "mock", "--tau-user", "noop", "--tau-gate", "pass^1<=1"]),
        (1, ["--tau-domain", "mock", "--tau-agent", "noop"]),
        (1, ["--tau-domain", "mock", "--tau-user", "broken.py:user"]),
        (1, ["--tau-domain", "mock", "--tau-agent", "noop", "--tau-gate", "pass^1>=0.5"]),
        (2, ["test_broken.py"]),
        (4, ["--tau-domain", "mok"]),
        (4, ["broken.tau.json"]),
        (5, ["--tau-agent", "noop"]),
    ],
)
def test_the_exit_statuses_of_the_docs(status: int, arguments: list[str], pytester: pytest.Pytester) -> None:
    pytester.makepyfile(broken="def user(messages, tools):\n    raise OSError\n", test_broken="import no_such_module\n")
    pytester.path.joinpath("broken.tau.json").write_text('{"domain": "mock", "tasks": [{"id": "x"}]}', encoding="utf-8")
    own = [] if "test_broken.py" in arguments else ["--ignore=test_broken.py"]
    own += [] if "broken.tau.json" in arguments else ["--ignore=broken.tau.json"]
    assert pytester.runpytest("-pno:asyncio", "-q", "--tb=no", "--tau-num-tasks=1", *own, *arguments).ret == status
    page = (ROOT / "docs" / "summary.md").read_text(encoding="utf-8")
    table = page.partition("## Exit statuses of pytest")[2].partition("\n## ")[0]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == ["0", "1", "2", "3", "4", "5"]


def test_the_properties_of_the_docs_are_those_that_are_written(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(broken="def user(messages, tools):\n    raise OSError\n")
    command = ["-pno:asyncio", "--tau-domain", "mock", "--tau-num-tasks", "2"]
    runs = [["--tau-agent", "noop"], ["--tau-agent", "noop", "--tau-resume"], ["--tau-user", "broken.py:user"]]
    cases: list[dict[str, str]] = []
    suites: set[str] = set()
    for number, arguments in enumerate(runs):
        pytester.runpytest(*command, *arguments, f"--junitxml={number}.xml")
        for suite in ET.parse(pytester.path / f"{number}.xml").iter("testsuite"):
            suites |= {each.attrib["name"] for each in suite.findall("properties/property")}
            cases += [
                {each.attrib["name"]: each.attrib["value"] for each in case.findall("properties/property")}
                for case in suite.iter("testcase")
            ]
    assert [case["tau_outcome"] for case in cases] == ["failed"] * 4 + ["error"] * 2
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    always, table = page.partition("\n## JUnit\n")[2].split("|\n\n")[0].partition("| property")[::2]
    each_case, others = (set(re.findall(r"`(tau_\w+)`", text)) for text in (always, table))
    of_capabilities = {f"tau_{each.column.name}" for each in columns_of(bundled())}
    written = set().union(*cases) - of_capabilities
    assert (each_case | others) - written == {"tau_cost", "tau_usage"}  # of models
    assert written <= each_case | others
    assert len(each_case) >= 7 and each_case <= set.intersection(*map(set, cases))
    assert {name.removeprefix("tau.mock.") for name in suites} == {"tasks", "trials", "errors", "pass^1", "floor"}
    assert {case["tau_reward"] for case in cases} == {"0.0"}


def test_the_figures_of_the_bundled_domains_are_counted() -> None:
    counts = {}
    for name in ("airline", "retail", "telecom", "mock"):
        domain = pytest_tau.load_domain(name)
        tasks = domain.tasks(split=None)
        counts[name] = (sum(not task.needs_judge for task in tasks), sum(task.needs_judge for task in tasks))
    base = len(pytest_tau.load_domain("telecom").tasks(split="base"))
    assert counts["retail"][1] == 3
    assert base == 145
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    for name, (plain, judged) in counts.items():
        shown = f"{plain}, and {judged} that need a judge" if judged else f"{plain}"
        assert f"`{name}` ({shown}" in readme
        assert f"| `{name}` | {shown}" in page
    assert f"`telecom` ({counts['telecom'][0]}, {base} in `base`)" in readme


def test_the_picture_of_the_failure_shows_what_is_printed() -> None:
    pictures = import_file(ROOT / "scripts" / "pictures.py")
    assert pictures.stale_line() is None
    shown = pictures.picture_lines((ROOT / "docs" / "images" / "failure.svg").read_text(encoding="utf-8"))
    assert shown[0] == f"$ {pictures.COMMAND}"
    assert any(line.startswith("turning point: never called cancel_pending_order(") for line in shown)


def test_a_picture_that_shows_something_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = import_file(ROOT / "scripts" / "pictures.py")
    monkeypatch.setattr(pictures, "run_failure", lambda: f"$ {pictures.COMMAND}\nF   [100%]\nother")
    assert "now 'other'" in pictures.stale_line()


def test_without_a_browser_the_picture_of_the_report_is_not_made_in_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    assert import_file(ROOT / "scripts" / "pictures.py").main(["report"]) == 1
    assert "report.png was not made: there is no Chromium" in capsys.readouterr().err


def test_the_pictures_are_small_and_need_no_other_host() -> None:
    images = ROOT / "docs" / "images"
    assert images.joinpath("report.png").stat().st_size < 200_000
    text = images.joinpath("failure.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in text
    assert "url(http" not in text


class TestAsyncio:
    """The part of docs/own_tests.md on pytest-asyncio: each recipe runs as it is shown."""

    @pytest.fixture
    def recipe(self, pytester: pytest.Pytester):
        pytest.importorskip("pytest_asyncio")
        client, *others = blocks("docs/own_tests.md", "python")[3:]
        recipes = {code.splitlines()[0].removeprefix("# "): code for code in others}
        pytester.path.joinpath("client.py").write_text(client, encoding="utf-8")
        pytester.syspathinsert()

        def write(name: str, mode: str = "strict") -> None:
            file = name.partition(",")[0]
            pytester.path.joinpath(file).write_text(recipes[name], encoding="utf-8")
            ini = f"[pytest]\nasyncio_mode = {mode}\nasyncio_default_fixture_loop_scope = function\n"
            pytester.path.joinpath("pytest.ini").write_text(ini, encoding="utf-8")

        return write

    def test_every_block_is_tested(self) -> None:
        names = [code.splitlines()[0] for code in blocks("docs/own_tests.md", "python")[4:]]
        files = [
            "conftest.py, strict mode",
            "conftest.py, one client",
            "test_agent.py",
            "agent.py",
        ]
        assert names == [f"# {file}" for file in files]

    @pytest.mark.parametrize(
        ("name", "mode"),
        [
            ("conftest.py, strict mode", "strict"),
            ("conftest.py, strict mode", "auto"),
            ("conftest.py, one client", "strict"),
        ],
    )
    @pytest.mark.parametrize("args", [(), ("--tau-concurrency", "4")])
    def test_a_client_for_the_agent(self, pytester: pytest.Pytester, recipe, name, mode, args) -> None:
        recipe(name, mode)
        result = pytester.runpytest("--tau-domain", "mock", "--tau-task", "create-t*", "--tau-trials", "2", *args)
        result.assert_outcomes(failed=2)  # the agent only asks
        result.stdout.no_fnmatch_line("*loop*agent*")
        result.stdout.fnmatch_lines(
            ["*agent*Which title shall the task have?*", "tau: mock: 1 task, 2 trials; 2 failed*"]
        )

    def test_tests_that_await_the_trial(self, pytester: pytest.Pytester, recipe) -> None:
        recipe("test_agent.py")
        pytester.runpytest().assert_outcomes(passed=4)

    def test_concurrency(self, pytester: pytest.Pytester, recipe) -> None:
        recipe("agent.py")
        [command] = [block for block in blocks("docs/own_tests.md", "console") if "concurrency" in block]
        result = pytester.runpytest(*shlex.split(command)[2:], "--tau-num-tasks", "3")
        result.assert_outcomes(failed=3)
        result.stdout.fnmatch_lines(["*agent*Which title shall the task have?*"])
        result.stdout.no_fnmatch_line("*in the setup of the test*")


def shown_output(name: str, block: int, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The output of a Python block of a page, and the one that the page shows after it."""
    code = blocks(name, "python")[block]
    exec(compile(code, name, "exec"), {"__name__": "page"})
    page = (ROOT / name).read_text(encoding="utf-8")
    after = page.partition(code)[2].partition("```python")[0]
    return capsys.readouterr().out, next(iter(re.findall(r"```text\n(.*?)```", after, re.DOTALL)), "")


def test_the_domains_of_the_docs_are_listed_as_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    lists, page, *_ = blocks("docs/playing.md", "console")
    for part in lists.removeprefix("$ ").split("\n$ "):
        command, _, shown = part.partition("\n")
        assert main(shlex.split(command)[1:]) == 0
        assert capsys.readouterr().out.strip() == shown.strip()
    for line in page.splitlines():
        command = shlex.split(line.removeprefix("$ "), comments=True)
        assert main([word for word in command[1:] if word != "--open"]) == 0
    assert (tmp_path / "telecom.html").is_file()


def test_the_conversation_of_the_docs_is_played_as_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shown = next(block for block in blocks("docs/playing.md", "console") if "agent> " in block)
    command, _, conversation = shown.partition("\n")
    typed = re.findall(r"^agent> (.*\n)", conversation, re.MULTILINE)
    assert len(typed) == 6
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(typed)))
    assert main(shlex.split(command)[2:]) == 0
    printed = re.sub(r"\d{8}-\d{6}", "20261122-211948", capsys.readouterr().out)
    assert printed == conversation
    # The commands that take the file.
    stored = next((tmp_path / ".tau" / "played").glob("*.jsonl"))
    commands = next(block for block in blocks("docs/playing.md", "console") if "$ tau export" in block)
    for line in commands.splitlines():
        words = [str(stored) if word == "FILE" else word for word in shlex.split(line[2:], comments=True)]
        if words[0] == "tau":
            assert main(words[1:]) == 0
        else:
            arguments = [word.replace("FILE", str(stored)) for word in words[1:]]
            assert pytest.main(["-pno:asyncio", "-pno:cacheprovider", *arguments], plugins=[]) == 1


def test_the_episode_of_the_docs_is_stepped(capsys: pytest.CaptureFixture[str]) -> None:
    printed, _ = shown_output("docs/training.md", 0, capsys)
    assert printed.startswith("['system', 'assistant', 'user'] 13\n[{'role': 'user', 'content': 'My phone number is")
    assert printed.endswith("0.0 True False\n")


def test_the_policy_of_the_example_learns_from_many_episodes_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "training.py"), run_name="__main__")
    printed = capsys.readouterr().out
    shown = next(block for block in blocks("docs/training.md", "console") if "examples/training.py" in block)
    pattern = r"round (\d): mean reward (\d\.\d\d) of 24 episodes"
    means = [float(mean) for _, mean in re.findall(pattern, printed)]
    assert len(means) == len(re.findall(pattern, shown)) == 5
    assert means[0] < 0.8 < max(means)
    assert means[-1] > means[0]


def test_the_environments_of_the_docs_are_stepped(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gymnasium", reason="extra gym")
    monkeypatch.chdir(tmp_path)
    printed, shown = shown_output("docs/training.md", 1, capsys)
    assert printed == shown
    assert len(printed.splitlines()) == 4
    assert len(list(open_run(tmp_path / "played.jsonl").trials())) == 1
    import gymnasium

    from pytest_tau.integrations.gymnasium import register

    register(compat=True)
    assert "tau-bench-v0" in gymnasium.registry
