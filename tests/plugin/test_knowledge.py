"""Options and hooks of knowledge bases, in runs of a domain that a project has of its own."""

from __future__ import annotations

import json

import pytest

CONFTEST = """
    from pytest_tau import domain_of
    from pytest_tau.knowledge import Knowledge

    def refund(order: str) -> str:
        '''Refund an order.

        Args:
            order: The order.
        '''
        return "done"

    def pytest_tau_domains():
        return [domain_of(
            "shop", tools=[refund], reads={"refund"}, policy="Be kind.", folder="shop", knowledge=Knowledge("documents")
        )]
"""
AGENT = """
    class Agent:
        def __init__(self, tools, policy):
            self.left = [("KB_search", {"query": "opening hours"}), ("refund", {"order": "A1"})]
            names = [tool.name for tool in tools]
            assert ("KB_search" in names) == ("Branch 1" not in policy), names
            if names[0] == "refund":
                self.left = self.left[1:]

        def respond(self, message):
            if not self.left:
                return "That is all. ###STOP###"
            name, arguments = self.left.pop(0)
            return {"content": None, "tool_calls": [{"id": name, "function": {"name": name, "arguments": arguments}}]}

        def is_stop(self, message):
            return "###STOP###" in (message.content or "")
"""
TASK = {
    "id": "half-refund",
    "user_scenario": {"instructions": "Ask for a refund of order A1."},
    "evaluation_criteria": {
        "actions": [{"action_id": "1", "name": "refund", "arguments": {"order": "A2"}}],
        "reward_basis": ["ACTION"],
    },
    "required_documents": ["refunds", "hours/1"],
}


@pytest.fixture
def shop(project):
    project.write("conftest.py", CONFTEST)
    project.write("agent.py", AGENT)
    project.write("shop/documents/refunds.md", "# Refunds\nA refund takes 3 days.\n")
    for number in range(1, 13):
        project.write(f"shop/documents/hours/{number}.md", f"# Hours {number}\nBranch {number}: opening hours to 20\n")
    project.tasks("shop/tasks/t.json", [TASK])
    return project


def run(shop, *args):
    return shop.run("--tau-domain", "shop", "--tau-agent", "agent.py:Agent", "--tau-user", "gold", *args)


def settings(shop):
    (path,) = shop.path.glob(".tau/runs/*/run.json")
    return json.loads(path.read_text())["settings"]


def test_default_variant_is_in_the_header(shop):
    run(shop).line("tau: domain shop", "retrieval bm25")
    assert "agent_retrieval" not in settings(shop)


def test_variant_and_arguments_are_shown_and_recorded(shop):
    found = run(
        shop,
        "--tau-agent-retrieval",
        "bm25",
        "--tau-agent-retrieval-args",
        '{"top_k": 3, "embedding_args": {"api_key": "s"}}',
    )
    found.line("tau: domain shop", "retrieval bm25")
    found.line("again: pytest", "--tau-agent-retrieval bm25", "--tau-agent-retrieval-args", "top_k")
    found.lacks("api_key")
    recorded = settings(shop)
    assert (recorded["agent_retrieval"], recorded["agent_retrieval_args"]) == (
        "bm25",
        {"embedding_args": {}, "top_k": 3},
    )


def test_variant_can_be_an_ini_key(shop):
    shop.write("pytest.toml", '[pytest]\ntau_agent_retrieval = "full_kb"\ntau_agent_retrieval_args = {top_k = 3}\n')
    run(shop).line("tau: domain shop", "retrieval full_kb")
    assert settings(shop)["agent_retrieval_args"] == {"top_k": 3}


def test_resumed_run_must_have_the_same_variant(shop):
    run(shop)
    found = run(shop, "--tau-resume", "--tau-agent-retrieval", "full_kb")
    found.usage_error("agent_retrieval", "full_kb")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["--tau-agent-retrieval", "bm52"], "unknown retrieval variant 'bm52'; did you mean 'bm25'"),
        (["--tau-agent-retrieval-args", '{"topk": 3}'], "unknown retrieval argument 'topk'"),
        (["--tau-agent-retrieval-args", '{"top_k": 0}'], "retrieval argument 'top_k'"),
        (["--tau-agent-retrieval-args", "[]"], "--tau-agent-retrieval-args: expected a JSON object"),
    ],
)
def test_bad_values_are_usage_errors(shop, args, problem):
    run(shop, *args).usage_error(problem)


def test_domain_without_knowledge_base_is_a_usage_error(project):
    found = project.run("--tau-domain", "mock", "--tau-agent-retrieval", "bm25")
    found.usage_error("domain 'mock' has no knowledge base: remove --tau-agent-retrieval")


def test_bad_document_is_a_usage_error(shop):
    shop.write("shop/documents/bad.json", "{")
    run(shop).usage_error("bad.json: not valid JSON")


def test_tool_of_the_domain_with_the_name_of_a_retrieval_tool_is_a_usage_error(shop):
    shop.write(
        "conftest.py", CONFTEST.replace("refund(", "grep(").replace("refund]", "grep]").replace('"refund"', '"grep"')
    )
    run(shop, "--tau-agent-retrieval", "grep").usage_error("the domain has a tool 'grep', as has the retrieval variant")


INDEX = """
    class Backwards:
        def __init__(self, documents):
            self.ids = [document.id for document in documents][::-1]

        def search(self, query, k):
            return [(id, 1.0) for id in self.ids[:k]]

    def pytest_tau_indexes():
        return {"backwards": Backwards}
"""


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["one", "workers"])
def test_plugin_can_add_an_index(shop, workers):
    shop.write("conftest.py", CONFTEST + INDEX)
    run(shop, "--tau-agent-retrieval", "backwards", *workers).line("tau: domain shop", "retrieval backwards")
    (path,) = shop.path.glob(".tau/runs/*/simulations.jsonl")
    answer = json.loads(path.read_text().splitlines()[0])
    assert "1. Refunds\n   ID: refunds\n   Score: 1.0000" in json.dumps(answer).replace("\\n", "\n")


@pytest.mark.parametrize("result", ["[1]", '{"x": 3}'])
def test_bad_result_of_the_hook_is_a_usage_error(shop, result):
    shop.write("conftest.py", CONFTEST + INDEX.replace('{"backwards": Backwards}', result))
    run(shop, "--tau-agent-retrieval", "backwards").usage_error(
        "pytest_tau_indexes (conftest.py:", "expected a dict of names"
    )


def test_index_with_unknown_documents_is_an_error_of_the_run(shop):
    shop.write("conftest.py", CONFTEST + INDEX.replace("(id, 1.0)", "('gone', 1.0)"))
    found = run(shop, "--tau-agent-retrieval", "backwards")
    found.outcomes(errors=1)
    found.line("the index of 'backwards' found 'gone', which is not the id of a document")
