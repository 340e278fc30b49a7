"""Embeddings by a model on this machine, with a library of the same interface in place of sentence-transformers."""

from __future__ import annotations

import asyncio
import json
import sys
from types import ModuleType

import pytest

from pytest_tau.chat import ChatRequest
from pytest_tau.errors import ConfigurationError, ModelError
from pytest_tau.integrations.default_embeddings import LocalEmbeddings, check_embeddings

pytestmark = pytest.mark.exhaustive


class Transformer:
    """Counts letters. Its numbers are floats of another type, as those of numpy are."""

    loaded: list[str] = []

    def __init__(self, name):
        if name == "missing":
            raise OSError("no such model")
        self.loaded.append(name)

    def encode(self, texts, show_progress_bar):
        assert show_progress_bar is False
        return [(len(text), text.count("a")) for text in texts]


@pytest.fixture(autouse=True)
def library(monkeypatch):
    module = ModuleType("sentence_transformers")
    module.SentenceTransformer = Transformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setattr(Transformer, "loaded", [])


def embed(embeddings, *texts, name="local/small"):
    request = ChatRequest(model=name, messages=[{"role": "user", "content": text} for text in texts])
    return json.loads(asyncio.run(embeddings.complete(request)).message["content"])


def test_each_text_has_its_numbers_and_a_model_is_loaded_once():
    embeddings = LocalEmbeddings()
    assert embed(embeddings, "abca", "xyz") == [[4.0, 2.0], [3.0, 0.0]]
    assert embed(embeddings, "a") == [[1.0, 1.0]]
    embed(embeddings, "a", name="local/large")
    assert Transformer.loaded == ["small", "large"]


def test_a_model_that_cannot_be_loaded_is_named():
    with pytest.raises(ModelError, match="local/missing: OSError: no such model"):
        embed(LocalEmbeddings(), "a", name="local/missing")


def test_the_library_is_named_if_it_is_missing(monkeypatch):
    check_embeddings("local/small", {})
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigurationError, match=r"pip install './pytest-tau\[embeddings\]'"):
        check_embeddings("local/small", {})
