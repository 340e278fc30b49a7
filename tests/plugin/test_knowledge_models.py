"""Searches that call models: embeddings and ratings, with their cassettes, caches and faults."""

from __future__ import annotations

import json
import runpy

import pytest

from pytest_tau import SimulationSettings, simulate
from pytest_tau.cli import main
from pytest_tau.environment import Retrieval
from pytest_tau.errors import ConfigurationError
from pytest_tau.testing import ModelServer

from .test_knowledge import CONFTEST

pytest.importorskip("litellm")

AGENT = """
    class Agent:
        def __init__(self, tools):
            self.left = [(tools[0].name, {"query": "money back"}), ("refund", {"order": "A1"})]

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
        "actions": [{"action_id": "1", "name": "refund", "arguments": {"order": "A1"}}],
        "reward_basis": ["ACTION"],
    },
    "required_documents": ["refunds"],
}


@pytest.fixture
def shop(project, monkeypatch):
    monkeypatch.setenv("TAU_EMBEDDINGS", str(project.path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    project.write("conftest.py", CONFTEST)
    project.write("agent.py", AGENT)
    project.write("shop/documents/refunds.md", "# Refunds\nA refund takes 3 days.\n")
    project.write("shop/documents/hours.md", "# Hours\nOpen from 9 to 20.\n")
    project.tasks("shop/tasks/t.json", [TASK])
    return project


def embed(text):
    """A vector whose first number is for money, and whose second is for time."""
    return [1.0 if "efund" in text or "money" in text else 0.0, 1.0 if "Open" in text else 0.2]


def run(shop, server, *more, variant="openai_embeddings", **args):
    key = {"api_key": "k-12345", "api_base": server.base_url} if server else {"api_key": "k-12345"}
    given = {"embedding_args": key, "reranker_args": key, **args}
    return shop.run(
        *(
            "--tau-domain",
            "shop",
            "--tau-agent",
            "agent.py:Agent",
            "--tau-user",
            "gold",
            "--tau-agent-retrieval",
            variant,
        ),
        *("--tau-agent-retrieval-args", json.dumps(given), *more),
    )


def simulation(shop):
    (*_, path) = sorted(shop.path.glob(".tau/runs/2*/simulations.jsonl"))
    return json.loads(path.read_text().splitlines()[0])


@pytest.mark.exhaustive
def test_documents_are_found_by_meaning(shop):
    with ModelServer(lambda _: "", embeddings=embed) as server:
        run(shop, server).outcomes(passed=1)
        assert len(server.requests) == 2  # all documents, and the query
        text = json.dumps(simulation(shop))
        assert text.index("ID: refunds") < text.index("ID: hours")
        # Documents and query are in the cache now.
        run(shop, server).outcomes(passed=1)
        assert len(server.requests) == 2
    for path in shop.path.rglob("*"):
        assert not path.is_file() or b"k-12345" not in path.read_bytes(), path


def test_simulations_without_pytest_search_by_meaning(shop):
    names = runpy.run_path(str(shop.path / "conftest.py"))
    domain = names["pytest_tau_domains"]()[0].load()
    agent = runpy.run_path(str(shop.path / "agent.py"))["Agent"]
    with ModelServer(lambda _: json.dumps({"score": 9}), embeddings=embed) as server:
        key = {"api_key": "k-12345", "api_base": server.base_url}
        retrieval = Retrieval("openai_embeddings", {"embedding_args": key})
        settings = SimulationSettings(retrieval=retrieval)
        done = simulate(domain.tasks()[0], domain=domain, agent=agent, user="gold", settings=settings)
        assert done.reward == 1, done.error
        assert len(server.requests) == 2
    assert (done.conditions or {})["retrieval"] == "openai_embeddings"
    assert done.model_usage["retrieval"].calls == 1


def test_simulations_without_pytest_need_the_key_of_the_embedding_model(shop):
    domain = runpy.run_path(str(shop.path / "conftest.py"))["pytest_tau_domains"]()[0].load()
    settings = SimulationSettings(retrieval=Retrieval("openai_embeddings"))
    with pytest.raises(ConfigurationError, match=r"retrieval variant 'openai_embeddings': .*OPENAI_API_KEY"):
        simulate(domain.tasks()[0], domain=domain, agent="gold", settings=settings)


def test_export_has_the_variant_and_its_arguments(shop):
    with ModelServer(lambda _: "", embeddings=embed) as server:
        run(shop, server, top_k=3).outcomes(passed=1)
    assert main(["export", "--format", "tau2", "-o", "out.json"]) == 0
    info = json.loads((shop.path / "out.json").read_text(encoding="utf-8"))["info"]
    assert info["retrieval_config"] == "openai_embeddings"
    assert info["retrieval_config_kwargs"]["top_k"] == 3
    assert "k-12345" not in json.dumps(info)


def test_searches_are_replayed_without_model_and_cache(shop):
    with ModelServer(lambda _: "", embeddings=embed) as server:
        run(shop, server, "--tau-record").outcomes(passed=1)
    for path in (shop.path / "cache").rglob("*.f64"):
        path.unlink()
    run(shop, server, "--tau-replay").outcomes(passed=1)
    shop.write("shop/documents/hours.md", "# Hours\nOpen from 9 to 21.\n")
    run(shop, server, "--tau-replay").outcomes(errors=1)


def test_model_that_changes_its_dimension_is_an_error_of_the_run(shop):
    with ModelServer(lambda _: "", embeddings=lambda text: [1.0] * (3 if "money" in text else 2)) as server:
        found = run(shop, server)
    found.outcomes(errors=1)
    found.line("the embedding of the query has 3 numbers, and that of document 'hours' has 2: the model has changed")


def test_failing_model_is_an_error_of_the_run(shop):
    def fail(text):
        raise ValueError("no embedding today")

    with ModelServer(lambda _: "", embeddings=fail) as server:
        run(shop, server, embedding_args={"api_key": "k", "api_base": server.base_url, "num_retries": 0}).outcomes(
            errors=1
        )


def test_missing_key_is_a_usage_error(shop):
    found = shop.run("--tau-domain", "shop", "--tau-agent", "noop", "--tau-agent-retrieval", "openai_embeddings")
    found.usage_error("retrieval variant 'openai_embeddings': model 'openai/text-embedding-3-large' needs a key")


def test_missing_library_is_a_usage_error(shop):
    found = shop.run("--tau-domain", "shop", "--tau-agent", "noop", "--tau-agent-retrieval", "local_embeddings")
    found.usage_error("local_embeddings", "pip install './pytest-tau[embeddings]'")


def test_model_rates_documents(shop):
    def rate(request):
        text = request["messages"][-1]["content"]
        return json.dumps({"relevance_score": 8 if "takes 3 days" in text else 2})

    with ModelServer(rate) as server:
        run(shop, server, variant="bm25_reranker").outcomes(passed=1)
    text = json.dumps(simulation(shop))
    assert "Score: 8.0000" in text and "ID: hours" not in text


def test_document_whose_rating_fails_is_dropped(shop):
    with ModelServer(lambda request: "seven") as server:
        run(shop, server, variant="bm25_reranker").outcomes(passed=1)
    assert "No relevant documents found." in json.dumps(simulation(shop))


def test_missing_sandbox_is_a_usage_error(shop, monkeypatch):
    monkeypatch.setenv("PATH", str(shop.path))
    found = shop.run("--tau-domain", "shop", "--tau-agent", "noop", "--tau-agent-retrieval", "terminal_use")
    found.usage_error("'terminal_use' runs shell commands in a sandbox: install bubblewrap")
