"""``--tau-approver``: the summary, the report of a failure, the page, CSV, workers, gates, usage errors."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from pytest_tau.cli import main

SABOTEUR = "pytest_tau.capabilities.approvals.saboteurs:"
APPROVERS = """
import time

def strict(request):
    return ("rejected", "Not today.")

def never(request):
    time.sleep(60)
"""


@pytest.fixture
def approved(project):
    def run(agent, *args, domain="mock-approvals"):
        project.write("approvers.py", APPROVERS)
        return project.run("--tau-domain", domain, "--tau-agent", agent, "--tau-user", "gold", *args)

    return run


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_summary_says_how_requests_were_answered(approved, project, workers) -> None:
    run = approved(f"{SABOTEUR}ActsAfterRejection", "--tau-results", "runs", *workers)
    run.outcomes(passed=3, failed=2)
    run.line("tau:  approvals      6 requests (3 approved, 2 rejected, 1 asked back); 2 of 5 calls without the")
    run.line("approval that it needs (rejection 2)")
    run.line("approvals: message 4 update_task_status(", ": rejected in message 2: The plants have been dry")
    run.line("it broke the rule 'rejection' of the policy (message 4)")
    (folder,) = (project.path / "runs").iterdir()
    stored = [json.loads(line) for line in (folder / "simulations.jsonl").read_text(encoding="utf-8").splitlines()]
    made = {each["task_id"]: each["facts"]["approvals"] for each in stored}
    assert {task: (each["asked"], each["unapproved"]) for task, each in made.items()} == {
        "completed-as-approved": (1, 0),
        "not-completed-after-a-no": (1, 1),
        "created-after-a-question": (2, 0),
        "one-of-two-changes": (2, 1),
        "no-approval-needed": (0, 0),
    }
    assert made["created-after-a-question"]["requests"][0]["text"] == "Which printer is it for?"


def test_reports_and_gates_have_the_figures(approved, project) -> None:
    run = approved(
        f"{SABOTEUR}ActsWithoutAsking",
        *("--tau-html", "r.html", "--junitxml", "r.xml"),
        *("--tau-gate", "unapproved<=0", "--tau-gate", "policy.approval>=1"),
    )
    run.line("gate unapproved <= 0: 1.000", "missed")
    run.line("gate policy.approval >= 1: 0.200", "missed")
    run.line("it broke the rule 'approval' of the policy (message 2)")
    page = (project.path / "r.html").read_text(encoding="utf-8")
    packed = re.findall(r"H4sI[A-Za-z0-9+/=]+", page)
    assert any(b"no approval was asked for" in gzip.decompress(base64.b64decode(part)) for part in packed)
    assert '"tau_unapproved" value="1"' in (project.path / "r.xml").read_text(encoding="utf-8")


def test_another_approver_is_another_run(approved, project) -> None:
    run = approved("gold", "--tau-approver", "approvers.py:strict", "--tau-task", "completed-as-approved")
    run.outcomes(failed=1)
    run.line("rejected in message 2: Not today.")
    run.line("again: pytest", "--tau-approver approvers.py:strict")


def test_an_approver_that_never_answers_is_an_error_of_the_trial(approved) -> None:
    run = approved(
        "gold", "--tau-approver", "approvers.py:never", "--tau-timeout", "0.3", "--tau-task", "completed-as-*"
    )
    run.outcomes(errors=1)
    run.line("capability 'approvals': call: request_approval was not answered in 0.3 s")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--tau-approver", "boss"), "--tau-approver: unknown approver 'boss'"),
        (("--tau-approver", "approvers.py:nobody"), "unknown attribute 'nobody'"),
        (
            ("--tau-approver", "human", "--tau-approver-llm", "m"),
            "'human' and --tau-approver-llm m: expected one approver",
        ),
    ],
)
def test_an_approver_that_cannot_be_used_is_a_usage_error(approved, args, problem) -> None:
    approved("gold", *args).usage_error(problem)


def test_an_approver_of_a_run_without_approvals_is_a_usage_error(approved) -> None:
    run = approved("gold", "--tau-approver", "approvers.py:strict", domain="mock")
    run.usage_error("no call of the run needs an approval")


def test_a_run_without_approvals_says_nothing_of_them(approved) -> None:
    run = approved("gold", domain="mock")
    assert not [line for line in run.text.splitlines() if line.startswith("tau:  approvals")]


def test_a_script_of_another_form_is_a_usage_error(approved, project, a_task) -> None:
    wrong = a_task("t") | {"annotations": {"tau.approver": {"answers": [{"answer": "perhaps"}]}}}
    project.tasks("mock-approvals/t.tau.json", [wrong])
    project.run("--tau-agent", "gold").usage_error("task t: annotations.tau.approver", "'approve', 'reject' or 'ask'")


AGENT = """
from pytest_tau.testing import ScriptedParticipant, call

class it(ScriptedParticipant):
    def __init__(self):
        ask = call("request_approval", tool="refund", arguments={"amount": 900})
        super().__init__([ask, call("refund", amount=900), "Done."])

class user(ScriptedParticipant):
    def __init__(self):
        super().__init__(["I want 900 back.", "###STOP###"])
"""


def test_the_example_of_the_page(project) -> None:
    page = (Path(__file__).parents[2] / "docs/policy.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(?:python|json)\n(.*?)```", page[page.index("## A person must approve") :], re.DOTALL)
    project.write("conftest.py", blocks[0])
    project.write("parts.py", AGENT)
    task = {
        "id": "t",
        "user_scenario": {"instructions": "You want 900 back."},
        "evaluation_criteria": {"actions": []},
        "annotations": json.loads(blocks[1]),
    }
    project.write("tasks.json", json.dumps([task]))
    run = project.run("--tau-domain", "shop", "--tau-agent", "parts.py:it", "--tau-user", "parts.py:user")
    run.outcomes(failed=1)
    run.line("POLICY 0: broke rejection (message 4)")
    run.line("approvals: message 4 refund(amount=900): rejected in message 2: Too much.")


#: Answers in lines; it asks over MCP, and makes the call as it was approved.
PROGRAM = """
import json, sys, urllib.request

ARGUMENTS = {"task_id": "task_1", "status": "completed"}

def call(url, name, arguments):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    text = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).read().decode()
    data = next((line[6:] for line in text.splitlines() if line.startswith("data: ")), text)
    return json.loads(data)["result"]["content"][0]["text"]

for line in sys.stdin:
    message = json.loads(line)
    if "text" in message:
        asked = {"tool": "update_task_status", "arguments": ARGUMENTS}
        answer = json.loads(call(message["mcp_url"], "request_approval", asked))
        if answer["decision"] == "approved":
            answer["text"] = call(message["mcp_url"], "update_task_status", ARGUMENTS)
        print(json.dumps({"conversation": message["conversation"], "text": answer["text"]}), flush=True)
"""


@pytest.mark.exhaustive
def test_a_program_asks_over_mcp(project) -> None:
    project.write("program.py", PROGRAM)
    project.write("parts.py", AGENT)
    spec = f"stdio:{shlex.quote(sys.executable)} program.py"
    tasks = ("--tau-task", "*completed-a*")
    run = project.run("--tau-domain", "mock-approvals", "--tau-agent", spec, "--tau-user", "parts.py:user", *tasks)
    run.outcomes(passed=2)
    run.line("2 requests (", "1 rejected")


SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("shop")
paid = []

@server.tool()
def refund(amount: int) -> str:
    \"\"\"Pay money back.\"\"\"
    paid.append(amount)
    return "done"

if __name__ == "__main__":
    server.run()
"""
SERVER_CONFTEST = """
import sys
import pytest_tau
from pytest_tau.policy import with_approvals

def pytest_tau_domains():
    command = [sys.executable, "server.py"]
    policy = "Ask first. <!-- approval: MARK -->"
    return [with_approvals(pytest_tau.mcp_domain("shop", command=command, policy=policy, tasks="tasks.json"))]
"""


@pytest.mark.exhaustive
def test_the_tools_of_a_server_can_need_an_approval(project) -> None:
    pytest.importorskip("mcp")
    project.write("server.py", SERVER)
    project.write("parts.py", AGENT)
    criteria = {"actions": [], "reward_basis": ["COMMUNICATE"]}
    task = {"id": "t", "user_scenario": {"instructions": "Hi"}, "evaluation_criteria": criteria}
    project.write("tasks.json", json.dumps([task]))
    sides = ("--tau-domain", "shop", "--tau-agent", "parts.py:it", "--tau-user", "parts.py:user")
    project.write("conftest.py", SERVER_CONFTEST.replace("MARK", "refund(amount > 100)"))
    run = project.run(*sides)
    run.outcomes(passed=1)
    run.line("1 request (1 approved); 0 of 1 call without")
    project.write("conftest.py", SERVER_CONFTEST.replace("MARK", "refnd"))
    run = project.run(*sides)
    run.line("<!-- approval: refnd -->: unknown tool of the agent 'refnd'; did you mean 'refund'")


@pytest.mark.parametrize("domain", ["mock", "mock-approvals"])
def test_a_table_has_the_columns_only_where_a_domain_has_approvals(approved, project, capsys, domain):
    approved("gold", "--tau-num-tasks=1", "--tau-results=runs", domain=domain).outcomes(passed=1)
    (run,) = (project.path / "runs").iterdir()
    assert main(["export", "--format", "csv", str(run)]) == 0
    assert (",approvals,unapproved" in capsys.readouterr().out) == (domain == "mock-approvals")
