"""``--tau-otlp URL``: trials are sent as traces, and agents get the context."""

from __future__ import annotations

import http.server
import json
import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from import_file import import_file
from inner_runs import quick_options

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("opentelemetry.sdk", reason="traces are sent by OpenTelemetry's SDK (pytest-tau[otel], dev extra)")

OPTIONS = (*quick_options(), "--tau-domain", "mock", "-p", "no:cacheprovider", "-W", "ignore")

#: Notes the context of the trace, as what it starts and as what OpenTelemetry instruments in this process have it.
OWN_LOOP = """
import openai
from opentelemetry import trace

import pytest_tau


@pytest_tau.own_loop
def agent(trial):
    async def run(text):
        at = trace.get_current_span().get_span_context()
        with open("seen.txt", "a", encoding="utf-8") as file:
            print(trial.environ["TRACEPARENT"], f"00-{at.trace_id:032x}-{at.span_id:016x}-01", file=file)
        async with openai.AsyncOpenAI(base_url=trial.base_url, api_key=trial.api_key) as client:
            messages = [{"role": "user", "content": text}]
            answer = await client.chat.completions.create(model="tau", messages=messages)
        return answer.choices[0].message.content

    return run
"""


def serve(answer: bytes, received: list[tuple[set[str], bytes]]) -> Iterator[str]:
    """Serve on loopback: gives its address, and keeps the names of headers and the body of each request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(({name.lower() for name in self.headers}, body))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[set[str], bytes]]]]:
    """A receiver of traces: its address, and what it was sent."""
    received: list[tuple[set[str], bytes]] = []
    for url in serve(b"", received):
        yield f"{url}/traces", received


@pytest.fixture
def model() -> Iterator[tuple[str, list[tuple[set[str], bytes]]]]:
    """A model that always says the same: its address, and what it was asked."""
    asked: list[tuple[set[str], bytes]] = []
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "You are welcome."}}
    completion = {"id": "1", "object": "chat.completion", "created": 1, "model": "served", "choices": [choice]}
    for url in serve(json.dumps(completion).encode(), asked):
        yield url, asked


def spans(received: list[tuple[set[str], bytes]]) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    requests = [ExportTraceServiceRequest.FromString(body) for _, body in received]
    return [span for each in requests for one in each.resource_spans for s in one.scope_spans for span in s.spans]


def values(span: Any) -> dict[str, Any]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def test_each_trial_is_a_trace_with_its_verdict(pytester: pytest.Pytester, receiver: Any) -> None:
    url, received = receiver
    ran = pytester.runpytest(*OPTIONS, "--tau-agent", "gold", "--tau-otlp", url)
    passed = ran.parseoutcomes()["passed"]
    found = spans(received)
    roots = [span for span in found if not span.parent_span_id]
    assert len(roots) == passed
    assert {event.name for root in roots for event in root.events} == {"gen_ai.evaluation.result"}
    assert all(values(root)["pytest_tau.test"].startswith("mock::") for root in roots)
    by_trace = {root.trace_id: root.span_id for root in roots}
    agents = [span for span in found if span.name.startswith("invoke_agent")]
    assert agents
    assert all(span.parent_span_id == by_trace[span.trace_id] for span in agents)
    ran.stdout.fnmatch_lines([f"tau: traces: {passed} sent to {url}"])


def test_a_receiver_that_is_not_there_is_named_and_fails_nothing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_tau.capabilities.traces.writing.sender._SECONDS", 0.5)
    task = ("--tau-task", "create-task", "--tau-agent", "gold")
    ran = pytester.runpytest(*OPTIONS, *task, "--tau-otlp", "http://127.0.0.1:9/v1/traces")
    assert ran.ret == 0
    ran.stdout.fnmatch_lines(["tau: traces: 1 sent to *; * spans were not received"])


def test_a_program_gets_the_context_of_the_trace(pytester: pytest.Pytester, receiver: Any) -> None:
    pytest.importorskip("aiohttp", reason="programs use the endpoint (pytest-tau[endpoint], dev extra)")
    url, received = receiver
    pytester.makepyfile(agent='import os, sys\nsys.stdin.read()\nprint(os.environ["TRACEPARENT"])')
    agent = f"cmd:{shlex.quote(sys.executable)} agent.py"
    pytester.runpytest(*OPTIONS, "--tau-task", "create-task", "--tau-agent", agent, "--tau-otlp", url)
    found = spans(received)
    (root,) = [span for span in found if not span.parent_span_id]
    said = [values(span).get("output.value") for span in found if span.name.startswith("invoke_agent")]
    assert f"00-{root.trace_id.hex()}-{root.span_id.hex()}-01" in said


def test_a_server_gets_the_context_of_the_trace(pytester: pytest.Pytester, receiver: Any) -> None:
    pytest.importorskip("aiohttp", reason="servers use the endpoint (pytest-tau[endpoint], dev extra)")
    pytest.importorskip("a2a", reason="needs a2a-sdk (a2a and dev extras)")
    server = import_file(Path(__file__).parents[1] / "unit" / "a2a_server.py").A2AServer()
    url, received = receiver
    server.results += [{"message": server.message("Hello.")}] * 9
    pytester.runpytest(*OPTIONS, "--tau-task", "create-task", "--tau-agent", f"a2a:{server.url}", "--tau-otlp", url)
    server.close()
    (root,) = [span for span in spans(received) if not span.parent_span_id]
    got = {headers["traceparent"] for headers in server.headers[-len(server.requests) :]}
    assert got == {f"00-{root.trace_id.hex()}-{root.span_id.hex()}-01"}


def test_an_agent_that_calls_the_endpoint_is_in_the_trace_and_its_model_is_not_told(
    pytester: pytest.Pytester, receiver: Any, model: Any
) -> None:
    pytest.importorskip("aiohttp", reason="needs the endpoint (pytest-tau[endpoint], dev extra)")
    (url, received), (address, asked) = receiver, model
    pytester.makepyfile(agent=OWN_LOOP)
    args = json.dumps({"base_url": address, "api_key": "any"})
    models = ("--tau-agent-llm", "openai/served", "--tau-agent-llm-args", args)
    options = ("--tau-task", "create-task", "--tau-agent", "agent.py:agent", "--tau-otlp", url)
    pytester.runpytest(*OPTIONS, *options, *models)
    (root,) = [span for span in spans(received) if not span.parent_span_id]
    at = f"00-{root.trace_id.hex()}-{root.span_id.hex()}-01"
    assert set(pytester.path.joinpath("seen.txt").read_text(encoding="utf-8").splitlines()) == {f"{at} {at}"}
    assert asked
    assert not any("traceparent" in names for names, _ in asked)


@pytest.mark.parametrize("named", [False, True])
def test_the_run_has_the_name_that_an_export_of_it_has(pytester: pytest.Pytester, receiver: Any, named: bool) -> None:
    url, received = receiver
    name = ("--tau-run-name", "nightly") if named else ()
    pytester.runpytest(*OPTIONS, "--tau-task", "create-task", "--tau-agent", "gold", "--tau-otlp", url, *name)
    (folder,) = [each for each in (pytester.path / ".tau" / "runs").iterdir() if each.is_dir()]
    assert not named or folder.name == "nightly"
    (root,) = [values(span) for span in spans(received) if not span.parent_span_id]
    assert root["pytest_tau.run"] == folder.name
    assert root["session.id"].startswith(f"{folder.name}/create-task/")


@pytest.mark.parametrize("there", [True, pytest.param(False, marks=pytest.mark.exhaustive)])
def test_what_workers_have_sent_is_added_up(pytester: pytest.Pytester, receiver: Any, there: bool) -> None:
    pytest.importorskip("xdist", reason="needs pytest-xdist (dev extra)")
    url, received = receiver
    url = url if there else "http://127.0.0.1:9/v1/traces"
    ran = pytester.runpytest(*OPTIONS, "--tau-agent", "gold", "--tau-otlp", url, "-n", "2")
    passed = ran.parseoutcomes()["passed"]
    ran.stdout.fnmatch_lines(
        [f"tau: traces: {passed} sent to {url}" + ("" if there else "; * spans were not received")]
    )
    roots = [values(span) for span in spans(received) if not span.parent_span_id]
    assert len(roots) == (passed if there else 0)
    assert len({root["pytest_tau.run"] for root in roots}) == there


def test_without_the_option_nothing_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_unconfigure():\n    import sys; assert 'opentelemetry.sdk' not in sys.modules")
    ran = pytester.runpytest_subprocess(*OPTIONS, "--tau-task", "create-task", "--tau-agent", "gold")
    ran.assert_outcomes(passed=1)
