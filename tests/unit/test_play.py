"""``tau play``: a person at the terminal; here by lines of standard input, and by a pty."""

from __future__ import annotations

import asyncio
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import load_domain, simulate
from pytest_tau.chat import ChatReply, ChatRequest
from pytest_tau.participants.human.completion import completions
from pytest_tau.play import RememberedModel
from pytest_tau.play.state import NoSuchPathError, completions_at, value_at
from pytest_tau.testing import ModelServer, QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .commands import Ran, Tau

CANCEL = 'cancel_pending_order(order_id="#W7171180", reason="no longer needed")'
SOLVED = [
    'find_user_id_by_email(email="kevin.tapia76@example.com")',
    'get_order_details(order_id="#W7171180")',
    CANCEL,
    "You get back $267.79.",
]


@pytest.fixture
def play(tau: Tau, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Plays with lines of standard input, after which the input ends."""

    def run(*args: str, lines: tuple[str, ...] | list[str] = ()) -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return tau("play", *args)

    return run


def stored(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / ".tau" / "played").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_task_is_played_to_its_end(play: Callable[..., Ran], tau: Tau, tmp_path: Path) -> None:
    ran = play("retail", "cancel-unneeded", lines=SOLVED)
    assert ran.status == 0
    assert "  user   I want to cancel order #W7171180. How much money will I get back?" in ran.lines
    assert "         = kevin_tapia_8543" in ran.lines
    assert "reward 1 = DB 1 x COMMUNICATE 1   ended by the user's ###STOP### after 7 turns" in ran.lines
    file = ran.lines[-1].removeprefix("stored: ")
    assert re.fullmatch(r"\.tau/played/\d{8}-\d{6}-retail-cancel-unneeded\.jsonl", file)
    assert (tmp_path / ".tau" / ".gitignore").read_text() == "*\n"
    (found,) = stored(tmp_path)
    assert found["reward_info"]["reward"] == 1
    assert found["info"]["played"] == {"side": "agent", "peeked": [], "undone": False}


def test_what_was_played_can_be_viewed_exported_and_replayed(
    play: Callable[..., Ran],
    tau: Tau,
    tmp_path: Path,
) -> None:
    file = play("retail", "cancel-unneeded", lines=SOLVED).lines[-1].removeprefix("stored: ")
    assert tau("show", file).lines[0] == "retail::cancel-unneeded, trial 0"
    assert tau("view", file, "-o", "page.html").status == 0
    assert tau("export", file, "--format", "tau2", "-o", "e.json").status == 0
    assert json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))["simulations"][0]["reward_info"]["reward"] == 1
    retail = load_domain("retail")
    (task,) = (each for each in retail.tasks() if each.id == "cancel-unneeded")
    assert simulate(task, domain=retail, agent=f"replay:{tmp_path / file}").reward == 1


def test_a_failure_is_explained(play: Callable[..., Ran]) -> None:
    ran = play("retail", "cancel-unneeded", lines=["Goodbye.", "done()"])
    assert ran.status == 0
    assert any(line.startswith("reward 0 = DB 0 x COMMUNICATE 0") for line in ran.lines)
    assert "turning point: " in ran.out
    assert "last messages" not in ran.out


def test_a_call_is_checked_before_it_is_sent(play: Callable[..., Ran], tmp_path: Path) -> None:
    lines = ['find_user_id_by_email(mail="x")', "get_ordr_details()", 'get_order_details("#W1")', "Hello?", "/quit"]
    ran = play("retail", "cancel-unneeded", lines=lines)
    assert "not sent: find_user_id_by_email: mail: unknown argument (known: email)" in ran.out
    assert "not sent: unknown tool 'get_ordr_details';" in ran.out
    assert ran.out.count("not sent: ") == 3
    (found,) = stored(tmp_path)
    assert not [message for message in found["messages"] if message.get("tool_calls")]


@pytest.mark.parametrize("end", [["/quit"], []])
def test_who_leaves_stores_the_conversation_as_not_ended(
    play: Callable[..., Ran], tau: Tau, tmp_path: Path, end: list[str]
) -> None:
    ran = play("retail", "cancel-unneeded", lines=["What is your email?", *end])
    assert ran.status == 0
    assert ran.lines[-1].startswith("stored as not ended: .tau/played/")
    (found,) = stored(tmp_path)
    assert found["termination_reason"] == "infrastructure_error"
    assert found["error"] == "not ended: the person who played it has left"
    assert found["reward_info"] is None
    assert [message["role"] for message in found["messages"]] == ["assistant", "user", "assistant", "user"]
    file = ran.lines[-1].removeprefix("stored as not ended: ")
    assert "not ended: the person who played it has left" in tau("show", file).out
    assert tau("view", file, "-o", "page.html").status == 0


def test_nothing_is_stored_if_nothing_was_said(play: Callable[..., Ran], tmp_path: Path) -> None:
    ran = play("retail", "cancel-unneeded")
    assert (ran.status, ran.lines[-1]) == (0, "nothing was said, nothing is stored")
    assert stored(tmp_path) == []


def test_a_turn_is_undone(play: Callable[..., Ran], tmp_path: Path) -> None:
    lines = ["/undo", *SOLVED[:2], CANCEL, "/diff", "/undo", "/diff", CANCEL, SOLVED[3]]
    ran = play("retail", "cancel-unneeded", lines=lines)
    assert "there is no turn of yours to take back" in ran.lines
    assert '  agent: orders/#W7171180/status: "pending" -> "cancelled"' in ran.lines
    assert "nothing has changed" in ran.lines
    (found,) = stored(tmp_path)
    assert found["reward_info"]["reward"] == 1
    assert found["info"]["played"]["undone"] is True
    assert json.dumps(found["messages"]).count("cancel_pending_order") == 1


def test_looking_into_the_databases_marks_the_simulation(play: Callable[..., Ran], tmp_path: Path) -> None:
    lines = ["/db", "/db orders/#W7171180/status", "/db orders/none", "/db nowhere", "Hello?"]
    ran = play("retail", "cancel-unneeded", lines=lines)
    assert '"pending"' in ran.lines
    assert "agent/orders: unknown path 'none'" in ran.out
    assert "unknown path 'nowhere'" in ran.out
    assert stored(tmp_path)[0]["info"]["played"]["peeked"] == ["", "orders/#W7171180/status"]


def test_commands_show_what_the_side_knows(play: Callable[..., Ran]) -> None:
    lines = ["/help", "/tools", "/tools get_order_details", "/tools nothing", "/policy", "/scenario", "/hlep"]
    ran = play("retail", "cancel-unneeded", lines=lines)
    assert "  /undo           take the last turn back" in ran.lines
    assert "get_order_details(order_id)" in ran.lines
    assert ' "title": "parameters",' in ran.lines
    assert "unknown tool 'nothing'" in ran.out
    assert "unknown command 'scenario'" in ran.out
    assert "unknown command 'hlep'; did you mean 'help'?" in ran.out
    policy = load_domain("retail").environment().policy
    assert policy.splitlines()[0] in ran.lines


def test_every_text_can_be_said(play: Callable[..., Ran], tmp_path: Path) -> None:
    play("telecom", "service.airplane", "--as", "user", lines=["//policy\\", "[quit] it, \x1b[2J", "###STOP###"])
    said = [message["content"] for message in stored(tmp_path)[0]["messages"] if message["role"] == "user"]
    assert said == ["/policy\n[quit] it, \x1b[2J", "###STOP###"]


def test_the_user_is_played(play: Callable[..., Ran], tmp_path: Path) -> None:
    lines = ["My phone has no service.", "toggle_airplane_mode()", "/policy", "It works. ###STOP###"]
    ran = play("telecom", "service.airplane", "--as", "user", lines=lines)
    assert "    Your phone has had no service for hours." in ran.out
    assert "  agent  Please tell me the phone number of the line that has the problem." in ran.lines
    assert "# Agent policy" in ran.out
    assert "reward 1 = ENV_ASSERTION 1" in ran.out
    assert stored(tmp_path)[0]["info"]["played"]["side"] == "user"
    blind = play("telecom", "service.airplane", "--as", "user", "--blind", lines=["/policy"])
    assert "unknown command 'policy'" in blind.out
    assert "# Agent policy" not in blind.out


def test_an_agent_works_alone(play: Callable[..., Ran]) -> None:
    ran = play("telecom", "service.airplane", "--solo", lines=["/ticket", "toggle_airplane_mode()", "done()"])
    assert ran.out.count("Keiko Tanabe") == 2
    assert "reward 1 = ENV_ASSERTION 1   ended by the agent after 2 turns" in ran.lines


def test_the_seed_draws_a_task(play: Callable[..., Ran]) -> None:
    first, again, other = (play("retail", "--seed", seed, lines=["/quit"]).lines[0] for seed in ("1", "1", "2"))
    assert first == again != other


def test_conversations_are_stored_in_a_folder(play: Callable[..., Ran], tmp_path: Path) -> None:
    for _ in range(2):
        play("mock", "create-task", "--save", "mine", lines=["Hello?"])
    assert len(list((tmp_path / "mine").glob("*-mock-create-task*.jsonl"))) == 2


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["retial"], "unknown domain 'retial'"),
        (["retail"], "name a task of 'retail' ('tau tasks retail' lists them), or draw one with --seed"),
        (["retail", "cancel"], "domain 'retail': unknown task 'cancel'"),
        (["retail", "--solo"], "domain 'retail' cannot be run solo"),
        (["retail", "--solo", "--as", "user"], "--solo has no user: expected --as agent with it"),
        (["retail", "--blind"], "--blind hides the policy from who plays the user"),
        (["retail", "--user", "nope"], "unknown user 'nope'"),
        (["retail", "--user", "human"], "--user human: one person plays, the agent"),
        (["retail", "--agent", "rules"], "--agent rules: you play the agent; --user names the other side"),
        (["retail", "--policy-variant", "x"], "unknown policy 'x'"),
        (["retail", "--split", "x"], "unknown split 'x'"),
    ],
)
def test_what_cannot_be_played_is_an_error(play: Callable[..., Ran], args: list[str], expected: str) -> None:
    ran = play(*args)
    assert ran.status == 2
    assert expected in ran.err


def test_a_failing_model_ends_the_conversation_and_loses_nothing(
    play: Callable[..., Ran],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers = iter(["I need a refund.", QuotaExceeded()])  # which is not tried again
    with ModelServer(lambda _request: next(answers)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_BASE", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
        ran = play("retail", "cancel-unneeded", "--user-llm", "openai/gpt-4.1", lines=["Which order?"])
    assert ran.status == 1
    assert "  user   I need a refund." in ran.lines
    assert "the conversation cannot go on: " in ran.out
    assert "Which order?" in json.dumps(stored(tmp_path))


# Parts


def test_an_undone_turn_costs_no_model_call() -> None:
    class Model:
        calls = 0

        async def complete(self, request: ChatRequest) -> ChatReply:
            del request
            self.calls += 1
            return ChatReply(message={"role": "assistant", "content": str(self.calls)})

    def request(text: str) -> ChatRequest:
        return ChatRequest(model="m", messages=[{"role": "user", "content": text}])

    model = Model()
    remembered = RememberedModel(model)

    def ask(*texts: str) -> list[str]:
        remembered.rewind()
        return [asyncio.run(remembered.complete(request(text))).message["content"] for text in texts]

    assert ask("a", "b") == ["1", "2"]
    assert ask("a", "b", "c") == ["1", "2", "3"]
    assert ask("a", "x", "c") == ["1", "4", "5"]
    assert model.calls == 5


@pytest.mark.parametrize(
    ("line", "start", "expected"),
    [
        ("/d", 0, ["/db", "/diff"]),
        ("/db ph", 4, ["phone"]),
        ("/tools set_net", 7, ["set_network_mode_preference"]),
        ("set_net", 0, ["set_network_mode_preference("]),
        ("set_network_mode_preference(", 28, ["mode="]),
        ('set_network_mode_preference(mode="4g_5', 33, ['"4g_5g_preferred"']),
        ("set_network_mode_preference(mode=", 33, ['"4g_5g_preferred"', '"4g_only"', '"3g_only"', '"2g_only"']),
        ('grant_app_permission(app_name="a, b", ', 38, ["permission="]),
        ("hello set", 9, []),
        ("no_tool(", 8, []),
    ],
)
def test_lines_are_completed(line: str, start: int, expected: list[str]) -> None:
    tools = {tool.name: tool for tool in load_domain("telecom").environment().tools("user")}
    commands = {
        "/db": lambda path: [each for each in ("phone", "device") if each.startswith(path)],
        "/diff": lambda _text: [],
        "/tools": lambda _text: list(tools),
    }
    found_start, found = completions(line, tools, commands)
    assert found_start == start
    assert sorted(found) == sorted(expected)


def test_paths_lead_into_both_databases() -> None:
    environment = load_domain("telecom").environment()
    assert value_at(environment, "user/device/battery_level") == value_at(environment, "device/battery_level") == "80"
    assert json.loads(value_at(environment, ""))["user"]["device"].endswith("entries")
    assert "user/device/battery_level" in completions_at(environment, "user/device/ba")
    assert completions_at(environment, "nothing/x") == []
    with pytest.raises(NoSuchPathError, match="customers: unknown path 'x'"):
        value_at(environment, "customers/x")


# At a terminal


class Terminal:
    """A command at a pty."""

    def __init__(self, command: list[str], folder: Path) -> None:
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PAGER": "cat", "NO_COLOR": "1"}
        environment["INPUTRC"] = os.devnull
        self._controller, terminal = pty.openpty()
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            # Where the tests run in the background, SIGINT is ignored, and a child would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        os.close(terminal)
        self.written, self._seen = "", 0

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read until a text appears after the one that was waited for before."""
        end = time.monotonic() + seconds
        while (place := self.written.find(text, self._seen)) < 0:
            assert time.monotonic() < end, f"{text!r} did not appear in {self.written!r}"
            assert self._read(), f"{text!r} did not appear in {self.written!r}"
        self._seen = place + len(text)

    def end(self, seconds: float = 60) -> int:
        end = time.monotonic() + seconds
        while self._read() and time.monotonic() < end:
            pass
        status = self.process.wait(seconds)
        os.close(self._controller)
        return status

    def _read(self) -> bool:
        ready, _, _ = select.select([self._controller], [], [], 1)
        if not ready:
            return True
        try:
            self.written += os.read(self._controller, 4096).decode("utf-8", "replace")
        except OSError:  # the end of a pty
            return False
        return True


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(*command: str) -> Terminal:
        started.append(Terminal([sys.executable, *command], tmp_path))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


TAU = ("-c", "import sys; from pytest_tau.cli import main; sys.exit(main())")


def test_the_tab_key_completes_at_a_terminal(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    pytest.importorskip("readline", reason="Python without readline has no completion")
    shown = terminal(*TAU, "play", "telecom", "service.airplane", "--solo")
    shown.wait_for("agent> ")
    shown.type("toggle_air\t")
    shown.wait_for("toggle_airplane_mode(")
    shown.type(")\n")
    shown.wait_for("Airplane Mode is now OFF.")
    shown.wait_for("agent> ")
    shown.type("done()\n")
    shown.wait_for("stored: ")
    assert shown.end() == 0
    assert stored(tmp_path)[0]["reward_info"]["reward"] == 1


@pytest.mark.parametrize("key", ["\x03", pytest.param("\x04", marks=pytest.mark.exhaustive)])
def test_ctrl_c_and_ctrl_d_end_cleanly(terminal: Callable[..., Terminal], tmp_path: Path, key: str) -> None:
    shown = terminal(*TAU, "play", "mock", "create-task")
    shown.wait_for("agent> ")
    shown.type("Hello?\n")
    shown.wait_for("agent> ")
    if key == "\x03":
        # A signal between the prompt and the wait for a key is seen at the next key only (CPython, readline).
        time.sleep(0.5)
        shown.process.send_signal(signal.SIGINT)  # the pty is not the controlling terminal of the session
    else:
        shown.type(key)
    shown.wait_for("stored as not ended: ")
    assert shown.end() == 0
    assert "Traceback" not in shown.written
    assert len(stored(tmp_path)) == 1


@pytest.mark.exhaustive
def test_a_person_is_an_agent_of_a_test_run(terminal: Callable[..., Terminal]) -> None:
    options = ["-s", "-pno:asyncio", "-pno:cacheprovider", "--tau-domain=telecom", "--tau-task=service.airplane"]
    shown = terminal("-m", "pytest", *options, "--tau-agent=human", "--tau-solo", "--tau-trials=2")
    for _ in range(2):
        shown.wait_for("agent> ")
        shown.type("toggle_airplane_mode()\n")
        shown.wait_for("agent> ")
        shown.type("done()\n")
    shown.wait_for("2 passed")
    assert shown.end() == 0
    assert "trial 1: you play the agent" in shown.written


@pytest.mark.exhaustive
def test_a_person_who_leaves_a_test_run_is_an_error(terminal: Callable[..., Terminal]) -> None:
    options = ["-s", "-pno:asyncio", "-pno:cacheprovider", "--tau-domain=telecom", "--tau-task=service.airplane"]
    shown = terminal("-m", "pytest", *options, "--tau-user=human", "--tau-agent=rules")
    shown.wait_for("user> ")
    shown.type("/quit\n")
    shown.wait_for("1 error")
    assert shown.end() == 1
    assert "the person who plays the user has left" in shown.written
