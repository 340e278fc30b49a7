"""``tau serve --mcp``: sessions with environments of their own, environments that were made before, bad input."""

from __future__ import annotations

import pytest

from .served import detail, make, serving

TASK = "data.2g.relaxed"
SUSPENDED = {"customer_id": "C2015", "line_id": "L2108", "reason": "lost"}


@pytest.fixture(scope="module")
def client():
    with serving("telecom", mcp=True, max_environments=50) as client:
        yield client


def message(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


INITIALIZE = message("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={})


def begin(client, query=""):
    answer = client.post(f"/mcp{query}", json=INITIALIZE)
    assert answer.status_code == 200, answer.text
    return {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}


def call(client, path, name, arguments, **headers):
    answer = client.post(path, json=message("tools/call", name=name, arguments=arguments), headers=headers)
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    return result["content"][0]["text"], result["isError"]


def refused(answer, status):
    assert answer.status_code == status, answer.text
    return answer.json()["error"]["message"]


def test_each_session_has_an_environment_whose_id_is_that_of_the_session(client):
    one, other = begin(client), begin(client)
    text, failed = call(client, "/mcp", "suspend_line", SUSPENDED, **one)
    assert not failed, text
    changes = [client.get(f"/environments/{each['Mcp-Session-Id']}/diff").json()["diff"] for each in (one, other)]
    assert changes[0] != []
    assert changes[1] == []


def test_a_session_has_the_task_of_the_address(client):
    session = begin(client, f"?task={TASK}")
    assert client.get(f"/environments/{session['Mcp-Session-Id']}").json()["task"] == TASK
    assert "unknown task 'none'" in refused(client.post("/mcp?task=none", json=INITIALIZE), 404)


def test_an_environment_is_used_over_http_and_over_mcp_of_both_sides(client):
    path = make(client, TASK)
    assert call(client, f"{path}/user_mcp", "check_status_bar", {})[1] is False
    assert call(client, f"{path}/mcp", "check_status_bar", {}) == ("Error: Tool 'check_status_bar' not found.", True)
    client.post(f"{path}/user_tools/check_status_bar")
    found = client.get(f"{path}/trajectory").json()["trajectory"]
    assert [m["tool_calls"][0]["requestor"] for m in found[::2]] == ["user", "assistant", "user"]


def test_the_environment_of_a_session_that_ended_can_be_graded(client):
    session = begin(client, f"?task={TASK}")
    assert client.delete("/mcp", headers=session).status_code == 204
    assert client.post(f"/environments/{session['Mcp-Session-Id']}/grade").json()["outcome"] == "failed"
    assert "Mcp-Session-Id is missing" in detail(client.delete("/mcp"), 400)


@pytest.mark.parametrize("sent", [message("tools/list"), message("ping"), [message("ping")], "text"])
def test_what_is_not_in_a_session_is_refused(client, sent):
    before = client.get("/").json()["open"]
    assert "begin a session with 'initialize'" in refused(client.post("/mcp", json=sent), 400)
    assert client.get("/").json()["open"] == before


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{", "the body cannot be read"), (b'{"jsonrpc": "2.0", "id": 1, "method": "initialize"}', "protocolVersion")],
)
def test_a_bad_beginning_makes_no_environment(client, content, said):
    before = client.get("/").json()["open"]
    answer = client.post("/mcp", content=content)
    assert said in answer.json()["error"]["message"]
    assert "Mcp-Session-Id" not in answer.headers
    assert client.get("/").json()["open"] == before


def test_a_protocol_without_sessions_is_answered_with_the_known_versions(client):
    headers = {"MCP-Protocol-Version": "2099-01-01"}
    answer = client.post("/mcp", json=message("server/discover"), headers=headers)
    assert answer.status_code == 400
    assert "2025-06-18" in answer.json()["error"]["data"]["supported"]


def test_an_unknown_session_is_not_found_so_that_clients_begin_anew(client):
    answer = client.post("/mcp", json=message("tools/list"), headers={"Mcp-Session-Id": "none"})
    assert "no environment 'none'" in refused(answer, 404)
    assert "no environment 'none'" in detail(client.post("/environments/none/mcp", json=INITIALIZE), 404)


def test_streams_are_not_served(client):
    assert "expected POST or DELETE" in detail(client.get("/mcp"), 405)


def test_too_many_sessions_are_refused():
    with serving("mock", mcp=True, max_environments=1) as client:
        begin(client)
        assert "the limit is 1" in refused(client.post("/mcp", json=INITIALIZE), 429)


def test_sessions_count_for_the_quota_of_their_client():
    with serving("mock", mcp=True, max_per_client=1) as client:
        begin(client)
        assert "which is its limit" in refused(client.post("/mcp", json=INITIALIZE), 429)
        client.headers["Tau-Client"] = "other"
        begin(client)


def test_the_token_is_needed_for_mcp_too():
    with serving("mock", mcp=True, token="t" * 16) as client:
        assert client.post("/mcp", json=INITIALIZE).status_code == 401
        headers = {"Authorization": "Bearer " + "t" * 16}
        assert client.post("/mcp", json=INITIALIZE, headers=headers).status_code == 200
