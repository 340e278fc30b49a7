"""``tau serve`` over HTTP: environments, calls of both sides, grading, the reference's routes, bad input, limits."""

import datetime as dt
import json
import math
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import httpx
import jsonschema
import pytest
from pydantic import BaseModel

from pytest_tau import evaluate, load_domain
from pytest_tau.capabilities.serving import served, server
from pytest_tau.capabilities.serving.settings import is_loopback
from pytest_tau.environment import Database, Domain, DomainSpec, PolicyFiles, Toolkit, domain_of, tool
from pytest_tau.evaluation import BUILT_IN_JUDGES, Evaluation

from .served import detail, make, serving

TELECOM_TASK = "service.airplane+sim-out.unsure"


@pytest.fixture(scope="module")
def telecom():
    with serving("telecom") as client:
        yield client


@pytest.fixture
def mock():
    with serving("mock") as client:
        yield client


class Nothing(Database):
    in_files: ClassVar[bool] = False


class Gate:
    """A tool that waits until it is let through."""

    def __init__(self):
        self.open, self.entered = threading.Event(), threading.Event()

    def domain(self):
        gate = self

        class Tools(Toolkit[Nothing]):
            @tool("read")
            def wait(self, number: int) -> str:
                """Wait."""
                if number == 0:
                    gate.entered.set()
                    assert gate.open.wait(20)
                return str(number)

        nowhere = Path("nowhere")
        policies = {"default": PolicyFiles(())}
        return DomainSpec("gate", nowhere, nowhere, agent_db=Nothing, agent_tools=Tools, policies=policies).load()


class Parcel(BaseModel):
    sent: dt.date


@dataclass
class Fee:
    amount: Decimal


#: What a function returns, the text that an agent reads of it, and the value that a client gets.
RESULTS = {
    "text": ("sent", "sent", "sent"),
    "JSON in a text": ('{"a": 1}', '{"a": 1}', '{"a": 1}'),
    "dict": ({"id": 1, "tags": ["a"]}, '{"id": 1, "tags": ["a"]}', {"id": 1, "tags": ["a"]}),
    "None": (None, "null", None),
    "model": (Parcel(sent=dt.date(2026, 1, 2)), '{"sent": "2026-01-02"}', {"sent": "2026-01-02"}),
    "dataclass": ([Fee(Decimal("2.50"))], '[{"amount": "2.50"}]', [{"amount": "2.50"}]),
    "no number in JSON": ({"rate": math.nan, "most": [math.inf]}, None, {"rate": None, "most": [None]}),
}


def look_up(name: str) -> Any:
    """Look a value up."""
    return RESULTS[name][0]


async def look_up_later(name: str) -> Any:
    """Look a value up, without blocking."""
    return RESULTS[name][0]


@pytest.mark.parametrize("function", [look_up, look_up_later])
def test_results_of_functions_are_json_values(function, tmp_path):
    domain = domain_of("values", tools=[function], reads={function.__name__}, folder=tmp_path).load()
    with serving(domain) as client:
        path = make(client)
        for name, (_, content, result) in RESULTS.items():
            answer = client.post(f"{path}/tools/{function.__name__}", json={"name": name})
            found = json.loads(answer.text, parse_constant=pytest.fail)  # as JSON.parse in JavaScript
            assert (found["error"], found["result"]) == (False, result), name
            assert content is None or found["content"] == content


# Environments


def test_an_environment_has_the_initial_state_of_its_task(telecom):
    plain, of_task = make(telecom), make(telecom, TELECOM_TASK)
    status = [telecom.post(f"{path}/user_tools/check_status_bar").json()["content"] for path in (plain, of_task)]
    assert "No Signal" not in status[0]
    assert "Airplane" in status[1]
    shown = telecom.get(of_task).json()
    environment = load_domain("telecom").environment()
    assert (shown["task"], shown["domain"], shown["policy"]) == (TELECOM_TASK, "telecom", environment.policy)
    assert shown["tools"] == [tool.openai_schema for tool in environment.tools()]
    assert shown["user_tools"] == [tool.openai_schema for tool in environment.tools("user")]


def test_the_task_of_the_settings_is_taken_unless_a_request_names_another():
    with serving("telecom", task=TELECOM_TASK) as client:
        assert client.post("/environments").json()["task"] == TELECOM_TASK
        assert client.post("/environments", json={"task": None}).json()["task"] is None


def test_environments_do_not_share_their_state(telecom):
    one, other = make(telecom), make(telecom)
    telecom.post(f"{one}/user_tools/toggle_airplane_mode")
    assert [change["path"] for change in telecom.get(f"{one}/diff").json()["diff"]] != []
    assert telecom.get(f"{other}/diff").json() == {"diff": []}
    assert telecom.get(f"{other}/state").json() == load_domain("telecom").environment().dump()


def test_sides_are_synchronised_after_each_call(telecom):
    path = make(telecom, TELECOM_TASK)
    environment = load_domain("telecom").environment(
        next(task for task in load_domain("telecom").tasks(None) if task.id == TELECOM_TASK)
    )
    calls = [
        ("user", "toggle_airplane_mode", {}),
        ("assistant", "enable_roaming", {"customer_id": "C2015", "line_id": "L2108"}),
    ]
    for side, name, arguments in calls:
        folder = "tools" if side == "assistant" else "user_tools"
        answer = telecom.post(f"{path}/{folder}/{name}", json=arguments).json()
        expected = environment.call(name, arguments, side)
        assert (answer["content"], answer["error"]) == (expected.content, expected.error)
    assert telecom.get(f"{path}/state").json() == environment.dump()


def test_a_result_is_given_as_an_agent_reads_it_and_as_json(telecom):
    arguments = {"phone_number": "206-555-0177"}
    answer = telecom.post(f"{make(telecom)}/tools/get_customer_by_phone", json=arguments).json()
    environment = load_domain("telecom").environment()
    assert answer["content"] == environment.call("get_customer_by_phone", arguments).content
    assert answer["result"] == environment.execute("get_customer_by_phone", arguments).model_dump(mode="json")
    assert answer["error"] is False


def test_changes_are_listed_with_the_values_before_and_after(telecom):
    path = make(telecom, TELECOM_TASK)
    telecom.post(f"{path}/user_tools/toggle_airplane_mode")
    change = {"side": "user", "path": "device/airplane_mode", "before": True, "after": False}
    assert change in telecom.get(f"{path}/diff").json()["diff"]


def test_a_deleted_environment_is_gone(mock):
    path = make(mock)
    assert mock.delete(path).status_code == 204
    for answer in (mock.get(path), mock.delete(path), mock.post(f"{path}/tools/get_users")):
        assert "it was deleted, was unused for 3600 s or the time of its lease, or never existed" in detail(answer, 404)


# Trajectories and verdicts


def test_the_trajectory_has_calls_results_and_texts(mock):
    path = make(mock)
    mock.post(f"{path}/messages", json={"role": "user", "content": "Who is there?"})
    result = mock.post(f"{path}/tools/get_users").json()
    found = mock.get(f"{path}/trajectory").json()["trajectory"]
    assert [message["role"] for message in found] == ["user", "assistant", "tool"]
    assert found[1]["tool_calls"][0]["name"] == "get_users"
    assert (found[2]["id"], found[2]["content"]) == (found[1]["tool_calls"][0]["id"], result["content"])


def test_a_trajectory_is_graded_as_a_conversation_is():
    domain = load_domain("mock")
    task = next(task for task in domain.tasks() if task.id == "complete-task")
    with serving("mock") as client:
        path = make(client, task.id)
        before = client.post(f"{path}/grade").json()
        for action in task.criteria.actions:
            folder = "tools" if action.requestor == "assistant" else "user_tools"
            client.post(f"{path}/{folder}/{action.name}", json=action.arguments)
        after = client.post(f"{path}/grade").json()
        cut = client.post(f"{path}/grade", json={"termination_reason": "max_steps"}).json()
        trajectory = client.get(f"{path}/trajectory").json()["trajectory"]
    assert (before["reward"], before["outcome"], after["reward"], after["outcome"]) == (0, "failed", 1, "passed")
    assert before["report"].startswith("reward 0")
    assert after["report"] == ""
    assert cut["reward"] == 0
    expected = evaluate(task, trajectory, domain=domain)
    assert after["simulation"]["reward_info"] == expected.model_dump(mode="json")


def test_the_calls_at_the_end_of_a_history_are_made_at_the_beginning():
    domain = load_domain("mock")
    task = next(task for task in domain.tasks() if task.id == "complete-task")
    call = {"id": "h1", "name": "create_task", "arguments": {"user_id": "user_1", "title": "From before"}}
    history = [{"role": "assistant", "tool_calls": [call]}]
    state = {"message_history": history}
    task = type(task).model_validate(task.model_dump() | {"initial_state": state})
    entry = served.ServedEnvironment("x", domain, task)
    assert [message.role for message in entry.messages] == ["assistant", "tool"]
    assert "From before" in json.dumps(entry.state())
    assert entry.diff() == []


def with_statement(folder):
    """A task whose reward a judge decides, and a domain with it alone."""
    mock = load_domain("mock")
    task = next(task for task in mock.tasks() if task.id == "complete-task")
    criteria = task.criteria.model_dump() | {"nl_assertions": ["It is polite."], "reward_basis": ["NL_ASSERTION"]}
    file = folder / "tasks.json"
    file.write_text(json.dumps([task.model_dump(mode="json") | {"evaluation_criteria": criteria}]), encoding="utf-8")
    return task, Domain(mock.spec, mock.folder, file)


@pytest.mark.parametrize("judged", [False, True])
def test_a_task_with_statements_needs_a_judge(judged, tmp_path):
    task, domain = with_statement(tmp_path)
    evaluation = Evaluation(judge=BUILT_IN_JUDGES["accept"] if judged else None)
    with serving(domain, evaluation=evaluation) as client:
        answer = client.post(f"{make(client, task.id)}/grade")
    if judged:
        assert answer.json()["reward"] == 1
    else:
        assert "needs a judge for its NL assertions: start the server with --judge" in detail(answer, 409)


def test_without_a_task_nothing_is_graded(mock):
    assert "the environment has no task" in detail(mock.post(f"{make(mock)}/grade"), 409)


# Bad input


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "said"),
    [
        ("GET", "/nowhere", b"", 404, "GET /nowhere is not served: GET /openapi.json lists what is"),
        ("PUT", "/environments", b"", 405, "expected POST"),
        ("GET", "/environments/", b"", 404, "is not served"),
        ("GET", "/environments/none", b"", 404, "no environment 'none'"),
        ("POST", "/environments/none/tools/get_users", b"", 404, "no environment 'none'"),
        ("POST", "/environments", b"{", 400, "not valid JSON"),
        ("POST", "/environments", b"\xff", 400, "not UTF-8 text"),
        ("POST", "/environments", b"[" * 100_000, 400, "nested more than"),
        ("POST", "/environments", b"[]", 422, "expected a JSON object, got a list"),
        ("POST", "/environments", b'{"taks": 1}', 422, "taks: unknown field (known: task, lease)"),
        ("POST", "/environments", b'{"lease": 0}', 422, "lease: expected a number of seconds above 0, at most 3600"),
        ("POST", "/environments", b'{"lease": 3601}', 422, "lease: expected a number of seconds above 0, at most 3600"),
        ("POST", "/environments", b'{"lease": true}', 422, "lease: expected a number of seconds above 0, at most 3600"),
        ("GET", "/tasks?split=bas", b"", 404, "unknown split 'bas'; did you mean 'base'"),
        ("POST", "/environments", b'{"task": 1}', 422, "task: expected the id of a task, got int"),
        ("POST", "/environments", b'{"task": "complete"}', 404, "unknown task 'complete'; did you mean"),
        ("POST", "E/tools/get_users", b"[1]", 422, "expected a JSON object, got a list"),
        ("POST", "E/messages", b'{"role": "system", "content": "x"}', 422, "role: expected 'assistant' or 'user'"),
        ("POST", "E/messages", b'{"role": "user", "content": " "}', 422, "content: expected a text"),
        ("POST", "E/grade", b'{"termination_reason": "bored"}', 422, "termination_reason: expected one of"),
        ("POST", "/mcp", b"{}", 404, "start the server with --mcp"),
        ("POST", "/tools/none", b"", 404, "the agent has no tool 'none'"),
        ("GET", "/environments/default/trajectory", b"", 409, "the default environment has no trajectory"),
        ("POST", "/environments/default/grade", b"", 409, "the default environment has no trajectory"),
    ],
)
def test_bad_requests_are_refused_with_what_would_be_right(mock, method, path, body, status, said):
    path = make(mock) + path[1:] if path.startswith("E") else path
    assert said in detail(mock.request(method, path, content=body), status)


@pytest.mark.parametrize(
    ("folder", "name"), [("tools", "toggle_airplane_mode"), ("user_tools", "get_customer_by_phone")]
)
def test_a_call_of_the_other_side_s_tool_fails_as_in_a_trial(telecom, folder, name):
    path = make(telecom, TELECOM_TASK)
    answer = telecom.post(f"{path}/{folder}/{name}", json={})
    assert answer.json() == {"content": f"Error: Tool '{name}' not found.", "error": True, "result": None}
    assert telecom.get(f"{path}/diff").json() == {"diff": []}
    assert len(telecom.get(f"{path}/trajectory").json()["trajectory"]) == 2


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_refused(chunked):
    def pieces():
        yield b"{" + b" " * 2000
        yield b"}"

    with serving("mock", max_body=1000) as client:
        answer = client.post("/environments", content=pieces() if chunked else b" " * 1001)
        assert detail(answer, 413) == "the body of the request has more than 1,000 bytes"
        assert client.post("/environments", content=b" " * 1000).status_code == 201


def test_a_body_that_does_not_arrive_is_given_up():
    with serving("mock", timeout=0.3) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=10) as connection:
            connection.sendall(b"POST /environments HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
            answer = connection.recv(4096)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"did not arrive within 0.3 s" in answer


def test_there_are_not_too_many_environments():
    with serving("mock", max_environments=2) as client:
        first = make(client)
        make(client)
        assert "the limit is 2" in detail(client.post("/environments"), 429)
        assert client.post("/tools/get_users").status_code == 200  # the default one does not count
        client.delete(first)
        make(client)


def test_a_client_has_a_quota():
    with serving("mock", max_per_client=1, max_environments=3) as client:
        first = make(client)
        refused = "client '127.0.0.1' has 1 environment, which is its limit: delete one"
        assert refused in detail(client.post("/environments"), 429)
        trainer = {"Tau-Client": "trainer 7"}
        assert client.post("/environments", headers=trainer).status_code == 201
        assert "client 'trainer 7' has 1 env" in detail(client.post("/environments", headers=trainer), 429)
        client.delete(first)
        make(client)


def test_requests_at_once_do_not_exceed_the_quota():
    with serving("mock", max_per_client=3) as client, ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: client.post("/environments").status_code, range(12)))
        assert sorted(answers) == [201] * 3 + [429] * 9


def test_an_environment_that_cannot_be_made_does_not_count():
    with serving("mock", max_per_client=1) as client:
        assert "no-such" in detail(client.post("/environments", json={"task": "no-such"}), 404)
        make(client)


def test_a_trajectory_has_a_limit(mock, monkeypatch):
    monkeypatch.setattr(served, "MOST_MESSAGES", 4)
    path = make(mock)
    assert [mock.post(f"{path}/tools/get_users").status_code for _ in range(3)] == [200, 200, 409]
    assert "make another environment" in detail(mock.post(f"{path}/tools/get_users"), 409)


def test_an_unused_environment_is_forgotten_and_one_in_use_is_not():
    gate = Gate()
    with serving(gate.domain(), idle=0.2) as client, ThreadPoolExecutor(1) as pool:
        unused, used, default = make(client), make(client), "/environments/default"
        client.get(default)
        waiting = pool.submit(client.post, f"{used}/tools/wait", json={"number": 0})
        assert gate.entered.wait(10)
        deadline = time.monotonic() + 10
        while client.get(unused).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.3)  # asking for it does not count as use
        assert client.get(unused).status_code == 404
        gate.open.set()
        assert waiting.result().json()["content"] == "0"
        assert client.get(default).status_code == 200


def test_an_environment_is_forgotten_at_the_end_of_its_lease():
    with serving(idle=5) as client:
        leased = f"/environments/{client.post('/environments', json={'lease': 0.1}).json()['id']}"
        other, deadline = make(client), time.monotonic() + 4
        while client.get(leased).status_code == 200 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "it was deleted, was unused for" in detail(client.get(leased), 404)
        assert client.get(other).status_code == 200


def test_tasks_are_listed(mock):
    domain = load_domain("mock")
    assert mock.get("/tasks").json()["tasks"] == [task.id for task in domain.tasks(split=None)]
    assert mock.get("/tasks?split=base").json()["tasks"] == [task.id for task in domain.tasks(split="base")]


def test_a_tool_that_hangs_is_answered_in_time_and_its_environment_goes_on_afterwards():
    gate = Gate()
    with serving(gate.domain(), timeout=0.3) as client:
        path, other = make(client), make(client)
        assert "the call was not done within 0.3 s: it goes on" in detail(
            client.post(f"{path}/tools/wait", json={"number": 0}), 504
        )
        assert "busy with an earlier call" in detail(client.post(f"{path}/tools/wait", json={"number": 1}), 504)
        assert client.post(f"{other}/tools/wait", json={"number": 2}).json()["content"] == "2"
        gate.open.set()
        deadline = time.monotonic() + 10
        while (answer := client.post(f"{path}/tools/wait", json={"number": 3})).status_code != 200:
            assert time.monotonic() < deadline
        assert answer.json()["content"] == "3"
        calls = [m["tool_calls"][0]["arguments"] for m in client.get(f"{path}/trajectory").json()["trajectory"][::2]]
        assert calls[0] == {"number": 0}  # the late call is not lost
        assert {"number": 1} not in calls  # what was not begun was not made


def test_a_client_that_vanishes_leaves_a_call_that_is_made_and_recorded():
    gate = Gate()
    with serving(gate.domain()) as client:
        path = make(client)
        with pytest.raises(httpx.ReadTimeout):
            client.post(f"{path}/tools/wait", json={"number": 0}, timeout=0.3)
        gate.open.set()
        assert client.post(f"{path}/tools/wait", json={"number": 5}).json()["content"] == "5"
        found = client.get(f"{path}/trajectory").json()["trajectory"]
        assert [message["tool_calls"][0]["arguments"]["number"] for message in found[::2]] == [0, 5]


def test_an_environment_that_is_deleted_during_a_call_refuses_the_calls_that_wait():
    gate = Gate()
    with serving(gate.domain()) as client, ThreadPoolExecutor(2) as pool:
        path = make(client)
        first = pool.submit(client.post, f"{path}/tools/wait", json={"number": 0})
        assert gate.entered.wait(10)
        second = pool.submit(client.post, f"{path}/tools/wait", json={"number": 1})
        time.sleep(0.2)
        assert client.delete(path).status_code == 204
        gate.open.set()
        assert first.result().json()["content"] == "0"
        assert "was deleted" in detail(second.result(), 404)
        assert client.post(f"{path}/tools/wait", json={"number": 1}).status_code == 404


def test_the_server_ends_although_a_tool_hangs(monkeypatch):
    monkeypatch.setattr(server, "_CLOSING_TIME", 0.3)
    gate = Gate()
    with ThreadPoolExecutor(1) as pool:
        with serving(gate.domain()) as client:
            waiting = pool.submit(client.post, f"{make(client)}/tools/wait", json={"number": 0})
            assert gate.entered.wait(10)
        assert isinstance(waiting.exception(10), httpx.TransportError | RuntimeError)
        gate.open.set()


def test_a_judge_that_fails_is_reported(tmp_path):
    class Broken:
        name = "broken"

        def judge(self, statements, messages):
            raise OSError("no network")

    task, domain = with_statement(tmp_path)
    with serving(domain, evaluation=Evaluation(judge=Broken())) as client:
        assert "the judge failed: judge 'broken' failed: OSError" in detail(
            client.post(f"{make(client, task.id)}/grade"), 502
        )


def test_a_judge_that_hangs_is_reported_in_the_time_of_a_request(tmp_path):
    class Asleep:
        name = "asleep"

        def judge(self, statements, messages):
            asleep.wait(20)

    asleep = threading.Event()
    task, domain = with_statement(tmp_path)
    with serving(domain, evaluation=Evaluation(judge=Asleep()), timeout=0.2) as client:
        answer = client.post(f"{make(client, task.id)}/grade")
    asleep.set()
    assert "the judge failed: judge 'asleep' gave no verdict within 0.2 s" in detail(answer, 502)


def test_many_clients_lose_nothing():
    with serving("telecom") as client, ThreadPoolExecutor(8) as pool:
        paths = [make(client) for _ in range(8)]

        def play(path):
            return [client.post(f"{path}/user_tools/toggle_airplane_mode").json()["content"] for _ in range(20)]

        for path, answers in zip(paths, pool.map(play, paths), strict=True):
            assert [answer.partition("\n")[0].rpartition(" ")[2] for answer in answers] == ["ON.", "OFF."] * 10
            found = client.get(f"{path}/trajectory").json()["trajectory"]
            assert [message["content"] for message in found[1::2]] == answers


# Access


def test_a_token_is_needed_if_there_is_one():
    with serving("mock", token="a" * 20) as client:
        assert "the token is missing" in detail(client.get("/"), 401)
        for wrong in ("Bearer b", "Basic " + "a" * 20, "a" * 20, "Bearer ä".encode("latin-1")):
            answer = client.get("/openapi.json", headers={"Authorization": wrong})
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        right = {"Authorization": "Bearer " + "a" * 20}
        assert client.get("/", headers=right).status_code == 200
        assert client.get("/", headers={**right, "Host": "example.org"}).status_code == 200
        assert client.get("/openapi.json", headers=right).json()["security"] == [{"token": []}]


def connected(client):
    return socket.create_connection((client.base_url.host, client.base_url.port), timeout=10)


def test_a_client_that_breaks_its_request_is_no_failure_of_the_server(mock, caplog):
    head = b"POST /environments HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(mock) as connection:
        connection.sendall(head + b"no number\r\n")
        assert b" 400 Bad Request" in connection.recv(4096)
    with connected(mock) as connection:
        connection.sendall(head + b"5\r\nab")
    assert mock.get("/").status_code == 200
    assert not caplog.records


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
    ],
)
def test_pages_of_other_sites_are_refused(mock, headers):
    assert "need a token" in detail(mock.post("/environments", headers=headers), 403)


@pytest.mark.parametrize(
    "headers", [{"Host": "localhost:1"}, {"Host": "[::1]:80"}, {"Origin": "http://localhost:3000"}]
)
def test_programs_of_this_machine_are_served(mock, headers):
    assert mock.get("/", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("x.org", False),
    ],
)
def test_loopback_is_recognised(host, expected):
    assert is_loopback(host) is expected


# The reference's routes


def test_clients_of_the_reference_call_tools_of_a_default_environment(telecom):
    telecom.delete("/environments/default")
    found = telecom.post("/tools/get_customer_by_phone", json={"phone_number": "206-555-0177"})
    assert found.json()["customer_id"] == "C2015"  # the value, and no text of it
    missing = telecom.post("/tools/get_customer_by_phone", json={"phone_number": "1"})
    assert detail(missing, 400) == "Customer with phone number 1 not found"
    assert telecom.post("/user_tools/toggle_airplane_mode").json().startswith("Airplane Mode is now ON.")
    assert telecom.post("/user_tools/toggle_airplane_mode", json={}).json().startswith("Airplane Mode is now OFF.")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "customer_id: missing"),
        ({"customer_id": 1}, "customer_id: expected string"),
        ({"customer_id": "C2015", "x": 1}, "x: unknown"),
    ],
)
def test_bodies_that_do_not_fit_are_refused_as_its_framework_does(telecom, body, said):
    found = detail(telecom.post("/tools/get_bills_for_customer", json=body), 422)
    assert any(said in each["msg"] for each in found)
    assert set(found[0]) == {"loc", "msg", "type"}


# OpenAPI


def references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
        value = list(value.values())
    for part in value if isinstance(value, list) else ():
        yield from references(part)


@pytest.mark.parametrize("name", ["telecom", "retail", "airline", "mock"])
def test_the_document_has_every_tool_with_its_schema(name):
    with serving(name) as client:
        found = client.get("/api/openapi.json").json()
        assert found == client.get("/openapi.json").json()
    assert (found["openapi"], found["info"]["title"]) == ("3.1.0", f"Environment: {name}")
    environment = load_domain(name).environment()
    for side, folder in (("assistant", "tools"), ("user", "user_tools")):
        for each in environment.tools(side):
            for path in (f"/{folder}/{each.name}", f"/environments/{{id}}/{folder}/{each.name}"):
                body = found["paths"][path]["post"]["requestBody"]
                schema = body["content"]["application/json"]["schema"]
                jsonschema.Draft202012Validator.check_schema(schema)
                assert schema.get("required", []) == each.parameters.get("required", [])
                assert body["required"] is bool(each.parameters.get("required"))
                defaults = {key: part.get("default") for key, part in each.parameters.get("properties", {}).items()}
                assert {key: part.get("default") for key, part in schema.get("properties", {}).items()} == defaults
    for reference in references(found):
        place = found
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
    numbers = [operation["operationId"] for path in found["paths"].values() for operation in path.values()]
    assert len(set(numbers)) == len(numbers)
