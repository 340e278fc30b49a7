"""``--tau-otlp URL``: trials are sent as traces, and agents get the context."""

from __future__ import annotations

import http.server
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("opentelemetry.sdk", reason="traces are sent by OpenTelemetry's SDK (pytest-tau[otel], dev extra)")

OPTIONS = ("--tau-domain", "mock", "-p", "no:randomly", "-p", "no:cacheprovider", "-W", "ignore")


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    """A receiver of traces: its address, and what it was sent."""
    received: list[bytes] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", received
    server.shutdown()
    server.server_close()
    thread.join()


def spans(received: list[bytes]) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    requests = [ExportTraceServiceRequest.FromString(each) for each in received]
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


def test_a_receiver_that_is_not_there_is_named_and_fails_nothing(pytester: pytest.Pytester) -> None:
    task = ("--tau-task", "create-task", "--tau-agent", "gold")
    ran = pytester.runpytest(*OPTIONS, *task, "--tau-otlp", "http://127.0.0.1:9/v1/traces")
    assert ran.ret == 0
    ran.stdout.fnmatch_lines(["tau: traces: 1 sent to *; * spans were not received"])


def test_a_program_gets_the_context_of_the_trace(pytester: pytest.Pytester, receiver: Any) -> None:
    pytest.importorskip("aiohttp", reason="programs use the endpoint (pytest-tau[endpoint], dev extra)")
    url, received = receiver
    pytester.makepyfile(agent='import os, sys\nsys.stdin.read()\nprint(os.environ["TRACEPARENT"])')
    agent = f"cmd:{sys.executable} agent.py"
    pytester.runpytest(*OPTIONS, "--tau-task", "create-task", "--tau-agent", agent, "--tau-otlp", url)
    found = spans(received)
    (root,) = [span for span in found if not span.parent_span_id]
    said = [values(span).get("output.value") for span in found if span.name.startswith("invoke_agent")]
    assert f"00-{root.trace_id.hex()}-{root.span_id.hex()}-01" in said


def test_without_the_option_nothing_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("def pytest_unconfigure():\n    import sys; assert 'opentelemetry.sdk' not in sys.modules")
    ran = pytester.runpytest_subprocess(*OPTIONS, "--tau-task", "create-task", "--tau-agent", "gold")
    ran.assert_outcomes(passed=1)
