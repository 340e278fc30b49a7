"""Files of traces: one conversation as each product stores it, and files that cannot be read."""

from __future__ import annotations

import base64
import gzip
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.capabilities.traces.reading.spans import hex_id, nanoseconds
from pytest_tau.capabilities.traces.reading.stored import Simulations
from pytest_tau.runs.lock import RunLock
from pytest_tau.runs.reader import open_run

from .test_traces_reading import (
    ANSWER,
    ASKED,
    CALLED,
    DONE,
    WHOLE,
    Read,
    agent,
    chat,
    request,
    user,
    whole_conversation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from .commands import Tau

TRACE, START = "0af7651916cd43dd8448eb211c80319c", "2026-11-26T10:00:0{}.000Z"
CALLS = [([ASKED], CALLED), ([ASKED, CALLED, DONE], ANSWER)]


def langfuse() -> Any:
    """The download of a trace: what is about the trace stands behind its observations."""
    observations = [
        {
            "id": f"o{n}",
            "traceId": TRACE,
            "type": "GENERATION",
            "name": "chat",
            "level": "DEFAULT",
            "startTime": START.format(2 * n),
            "endTime": START.format(2 * n + 1),
            "model": "m",
            "input": {"messages": asked},
            "output": answer,
            "usageDetails": {"input": 5, "output": 2},
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]
    return {"id": TRACE, "observations": observations, "sessionId": "session"}


def langsmith() -> Any:
    return [
        {
            "id": f"r{n}",
            "trace_id": TRACE,
            "run_type": "llm",
            "name": "ChatOpenAI",
            "dotted_order": str(n),
            "start_time": START.format(2 * n),
            "end_time": START.format(2 * n + 1),
            "inputs": {"messages": asked},
            "outputs": {"choices": [{"index": 0, "message": answer}]},
            "extra": {"metadata": {"thread_id": "session"}},
            "session_name": "project",
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]


def openai_agents() -> Any:
    spans = [
        {
            "object": "trace.span",
            "id": f"span_{n}",
            "trace_id": "trace_1",
            "parent_id": None,
            "error": None,
            "started_at": START.format(2 * n),
            "ended_at": START.format(2 * n + 1),
            "span_data": {"type": "generation", "input": asked, "output": [answer], "model": "m"},
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]
    return [{"object": "trace", "id": "trace_1", "workflow_name": "shop", "group_id": "session"}, *spans]


def mlflow() -> Any:
    spans = [
        {
            "trace_id": base64.b64encode(bytes.fromhex(TRACE)).decode(),
            "name": "Completions",
            "span_id": base64.b64encode(bytes(7) + bytes([n + 1])).decode(),
            "parent_span_id": None,
            "start_time_unix_nano": 10**18 + 2 * n * 10**9,
            "end_time_unix_nano": 10**18 + (2 * n + 1) * 10**9,
            "attributes": {
                "mlflow.spanType": '"CHAT_MODEL"',
                "mlflow.spanInputs": json.dumps({"model": "m", "messages": asked}),
                "mlflow.spanOutputs": json.dumps({"choices": [{"message": answer}]}),
            },
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]
    return {"info": {"trace_metadata": {"mlflow.trace.session": "session"}}, "data": {"spans": spans}}


def jaeger() -> Any:
    def tag(key: str, value: Any) -> dict[str, Any]:
        return {"key": key, "type": "string", "value": value if isinstance(value, str) else json.dumps(value)}

    spans = [
        {
            "traceID": TRACE,
            "spanID": f"{n + 1:016x}",
            "operationName": "chat m",
            "references": [],
            "startTime": 1_700_000_000_000_000 + 2_000_000 * n,
            "duration": 1_000_000,
            "logs": [],
            "tags": [
                tag("gen_ai.operation.name", "chat"),
                tag("gen_ai.input.messages", asked),
                tag("gen_ai.output.messages", [answer]),
                tag("session.id", "session"),
            ],
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]
    return {"data": [{"traceID": TRACE, "spans": spans, "processes": {}}]}


def openinference(messages: list[Any], name: str) -> dict[str, Any]:
    """The attributes of messages, each value under its own name."""
    found: dict[str, Any] = {}
    for number, each in enumerate(messages):
        start = f"llm.{name}.{number}.message"
        found |= {f"{start}.{key}": each[key] for key in ("role", "content", "tool_call_id") if each.get(key)}
        for place, call in enumerate(each.get("tool_calls", [])):
            inside = f"{start}.tool_calls.{place}.tool_call"
            found |= {f"{inside}.id": call["id"], f"{inside}.function.name": call["function"]["name"]}
            found[f"{inside}.function.arguments"] = call["function"]["arguments"]
    return found


def phoenix() -> Any:
    spans = [
        {
            "id": f"node{n}",
            "name": "ChatCompletion",
            "span_kind": "LLM",
            "parent_id": None,
            "context": {"trace_id": TRACE, "span_id": f"{n + 1:016x}"},
            "start_time": START.format(2 * n),
            "end_time": START.format(2 * n + 1),
            "status_code": "OK",
            "attributes": {
                **openinference(asked, "input_messages"),
                **openinference([answer], "output_messages"),
                "session.id": "session",
            },
        }
        for n, (asked, answer) in enumerate(CALLS)
    ]
    return {"data": spans, "next_cursor": None}


def events() -> Any:
    """Log records of 2024, without a span."""
    records, time = list[Any](), 10**18
    for n, (asked, answer) in enumerate(CALLS):
        found = [(f"gen_ai.{each['role']}.message", {**each, "id": each.get("tool_call_id")}) for each in asked]
        for name, body in [*found, ("gen_ai.choice", {"index": 0, "message": answer})]:
            time += 10**8
            records.append(
                {
                    "traceId": TRACE,
                    "spanId": f"{n + 1:016x}",
                    "timeUnixNano": str(time),
                    "eventName": name,
                    "attributes": [{"key": "session.id", "value": {"stringValue": "session"}}],
                    "body": body,
                }
            )
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}


PRODUCTS = {each.__name__: each for each in (langfuse, langsmith, openai_agents, mlflow, jaeger, phoenix, events)}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_conversation_is_read_as_each_product_stores_it(tmp_path: Path, name: str, indent: int | None) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(PRODUCTS[name](), indent=indent), "utf-8")
    read = Read(tmp_path).of_files(tmp_path, file)
    assert read.problems == []
    assert read.texts == [[*WHOLE[:4]]]
    assert (read.conversations[0].key, read.notes) == ("session", []) or name == "events"
    if name != "events":
        assert read.conversations[0].start


def test_more_than_ten_messages_keep_their_order(tmp_path: Path) -> None:
    asked = [{"role": "user", "content": f"message {n}"} for n in range(12)]
    span = {**phoenix()["data"][0], "attributes": openinference(asked, "input_messages")}
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"data": [span]}), "utf-8")
    read = Read(tmp_path).of_files(tmp_path, file)
    assert [each.text for each in read.conversations[0].messages] == [f"message {n}" for n in range(12)]


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_documents_may_follow_each_other_and_be_packed(tmp_path: Path, pack: Any) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(pack("\n".join(json.dumps(request(each), indent=1) for each in whole_conversation()).encode()))
    assert Read(tmp_path).of_files(tmp_path, file).texts == [[*WHOLE, "assistant bye"]]


def test_a_span_that_is_repeated_counts_once_and_spans_may_lie_in_several_files(tmp_path: Path) -> None:
    spans = whole_conversation()
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for path, span in zip(paths, spans, strict=True):
        path.write_text(json.dumps(request(span, {**span, "attributes": span["attributes"][:1]})), "utf-8")
    assert Read(tmp_path).of_files(tmp_path, *reversed(paths), *paths).texts == [[*WHOLE, "assistant bye"]]


class TestBadFiles:
    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            (b"", "line 1: the file is empty"),
            (b"hello", "line 1: not JSON: it begins with 'h'"),
            (b'{"name": "x"}', "no spans in a known format"),
            (b"[1, 2, 3]", "no spans in a known format"),
            (b'\n\n{"a": 1,\n "b" 2}', "line 3: not valid JSON"),
            (b"[" * 5000 + b"]" * 5000, "nested more than"),
            (b"\x1f\x8bnot gzip", "damaged gzip data"),
            (b'{"resourceSpans": [{"scopeSpans": 5}]}', "no spans in a known format"),
            (b'{"traceId": "a", "spanId": {"b": 1}, "attributes": [5, {"key": 1}]}', "no conversation"),
            (b'{"traceId": "\\ud800", "spanId": "1", "name": "chat m"}', "no texts were recorded"),
        ],
        ids=range(10),
    )
    def test_the_file_and_the_line_are_named(self, tmp_path: Path, content: bytes, problem: str) -> None:
        file = tmp_path / "bad.json"
        file.write_bytes(content)
        read = Read(tmp_path).of_files(tmp_path, file)
        assert not read.conversations
        assert any(problem in each and "bad.json" in each for each in read.problems), read.problems

    def test_what_is_complete_in_a_cut_file_is_read(self, tmp_path: Path) -> None:
        lines = [json.dumps(request(each)) for each in whole_conversation()]
        text = "\n".join([*lines[:2], lines[2][:-200]])
        read = Read(tmp_path, "replaced")
        (tmp_path / "traces.jsonl").write_text(text, "utf-8")
        read.of_files(tmp_path, tmp_path / "traces.jsonl")
        assert read.texts == [WHOLE[:4]]
        assert "traces.jsonl, line 3: the file ends in the middle of a line" in read.problems[0]

    @pytest.mark.parametrize(
        "value",
        [
            None,
            5,
            "x",
            [],
            {},
            [[]],
            [None],
            {"parts": 5},
            [{"role": 5, "parts": "x"}],
            [{"role": "user", "content": {"a": [1]}}],
        ],
    )
    def test_messages_of_any_form_do_no_harm(self, tmp_path: Path, value: Any) -> None:
        spans = whole_conversation()
        spans[1]["attributes"][1]["value"] = {"stringValue": json.dumps(value)}
        assert Read(tmp_path, request(*spans)).conversations


def test_ids_and_times_are_read_in_all_forms() -> None:
    assert (
        hex_id(base64.b64encode(bytes.fromhex(TRACE)).decode())
        == hex_id(TRACE.upper())
        == hex_id(f"0x{TRACE}")
        == TRACE
    )
    assert hex_id("0" * 16) == ""
    times = (1_700_000_000, "1700000000", 1_700_000_000_000, 1_700_000_000 * 10**9, "2023-11-14T22:13:20Z", 1.7e9)
    assert {nanoseconds(each) for each in times} == {1_700_000_000 * 10**9}
    assert [nanoseconds(each) for each in (None, "", "x", -5, float("inf"), float("nan"), 10**30)] == [0] * 7


#: An import that goes no further once all is written.
INTERRUPTED = """
import sys, time
from pytest_tau.capabilities.traces.reading import command

write = command._write

def slow(files, draft, file, domain):
    write(files, draft, file, domain)
    file.flush()
    print("written", flush=True)
    time.sleep(600)

command._write = slow

from pytest_tau.cli import main

sys.exit(main(["import", "traces.json", "-o", "runs/monday"]))
"""


class TestCommand:
    def test_a_run_is_stored_and_shown(self, tau: Tau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "traces.json").write_text(json.dumps(request(*whole_conversation(session__id="s"))), "utf-8")
        ran = tau("import", "traces.json", "-o", "out", "--domain", "retail")
        assert (tmp_path / "out" / ".gitignore").read_text(encoding="utf-8") == "*\n"
        assert (ran.status, ran.lines) == (0, ["out: 1 conversation"])
        (trial,) = open_run("out").trials()
        assert (trial.domain, trial.simulation.task_id, trial.simulation.outcome) == ("retail", "s", "error")
        facts = trial.simulation.facts["traces"]
        assert facts["trace_ids"] == ["a1".ljust(32, "0")]
        assert [bool(each) for each in facts["span_ids"]] == [False, True, False, True, False, True]
        assert facts["files"][0]["name"] == "traces.json"
        assert [each.timestamp is not None for each in trial.simulation.messages] == [True] * 6
        shown = tau("show", "out").lines
        assert shown[-2:] == [
            "not graded   ended after 5 turns",
            "traces: who has ended the conversation is not recorded",
        ]
        assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "traces.json"]

    @pytest.mark.exhaustive
    @pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_what_a_killed_import_leaves_is_ignored_by_git_and_deleted_by_the_next(
        self, tau: Tau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        monkeypatch.chdir(tmp_path)
        git = ("git", "-C", str(tmp_path))
        subprocess.run([*git, "init", "-q"], check=True)
        (tmp_path / "traces.json").write_text(json.dumps(request(*whole_conversation(session__id="s"))), "utf-8")
        with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "written\n"
            (draft,) = (tmp_path / "runs").iterdir()
            process.send_signal(number)
        assert draft.exists() is (number == signal.SIGKILL)
        found = subprocess.run([*git, "status", "-s", "-uall"], check=True, capture_output=True, text=True)
        assert found.stdout == "?? traces.json\n"
        if draft.exists():
            os.utime(draft, (0, 0))
        assert tau("import", "traces.json", "-o", "runs/monday").status == 0
        assert [each.name for each in (tmp_path / "runs").iterdir()] == ["monday"]

    def test_a_draft_that_another_import_writes_is_left(self, tau: Tau, tmp_path: Path) -> None:
        (tmp_path / "traces.json").write_text(json.dumps(request(*whole_conversation())), "utf-8")
        draft = tmp_path / ".tau-import-x"
        draft.mkdir()
        lock = RunLock(draft, "today")
        lock.acquire()
        os.utime(draft, (0, 0))
        assert tau("import", str(tmp_path / "traces.json"), "-o", str(tmp_path / "one")).status == 0
        assert draft.exists()
        (draft / "draft.jsonl").touch()
        lock.release()
        os.utime(draft, (0, 0))
        assert tau("import", str(tmp_path / "traces.json"), "-o", str(tmp_path / "two")).status == 0
        assert not draft.exists()

    def test_nothing_is_stored_if_nothing_is_read(
        self, tau: Tau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "bad.json").write_text("{", "utf-8")
        ran = tau("import", "bad.json", "-o", "out")
        assert ran.status == 2
        assert "bad.json, line 1" in ran.err
        assert [each.name for each in tmp_path.iterdir()] == ["bad.json"]

    def test_a_folder_is_never_written_over(self, tau: Tau, tmp_path: Path) -> None:
        (tmp_path / "traces.json").write_text("[]", "utf-8")
        ran = tau("import", str(tmp_path / "traces.json"), "-o", str(tmp_path))
        assert ran.status == 2
        assert "already exists" in ran.err

    def test_problems_are_listed_and_the_rest_is_stored(self, tau: Tau, tmp_path: Path) -> None:
        file = tmp_path / "traces.jsonl"
        file.write_text(f"{json.dumps(request(*whole_conversation()))}\n{{\x1b[31m\n", "utf-8")
        ran = tau("import", str(file), "-o", str(tmp_path / "out"))
        assert ran.status == 1
        assert "traces.jsonl, line 2" in ran.err
        assert "\x1b" not in ran.err

    def test_json_is_printed(self, tau: Tau, tmp_path: Path) -> None:
        file = tmp_path / "traces.json"
        file.write_text(json.dumps(request(*whole_conversation())), "utf-8")
        (found,) = tau("import", str(file), "--json").json["conversations"]
        assert [each["role"] for each in found["messages"]] == [
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
        ]
        assert found["messages"][1]["tool_calls"] == [
            {"id": "c1", "name": "get_order", "arguments": {"order_id": "W1"}}
        ]
        assert found["messages"][2]["error"] is False


def test_two_conversations_of_a_key_are_two_trials(tmp_path: Path) -> None:
    first = whole_conversation(session__id="s")
    second = chat(20, [user("x")], agent("y"), trace="b1", session__id="s")
    made = Simulations([])
    found = [made.simulation(each) for each in Read(tmp_path, request(*first, second)).conversations]
    assert [(each.task_id, each.trial) for each in found] == [("s", 0), ("s", 1)]
