from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import tiktoken
from tiktoken import load, registry

from pytest_tau.chat.context_window import fit, token_counter
from pytest_tau.errors import ConfigurationError, ContextWindowError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# What fits


def system(size: int = 1, name: str = "policy") -> dict[str, Any]:
    return {"role": "system", "content": name, "size": size}


def said(name: str, role: str = "user", size: int = 10) -> dict[str, Any]:
    return {"role": role, "content": name, "size": size}


def called(name: str, *ids: str, size: int = 10) -> dict[str, Any]:
    calls = [{"id": call, "type": "function", "function": {"name": "look", "arguments": "{}"}} for call in ids]
    return {"role": "assistant", "content": name, "tool_calls": calls, "size": size}


def result(name: str, call: str, size: int = 10) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": name, "size": size}


def kept(messages: list[dict[str, Any]], budget: int, tools: list[dict[str, Any]] | None = None) -> list[str]:
    """What of the messages fits, with sizes as they say."""
    return [message["content"] for message in fit(messages, tools or [], budget, lambda counted: counted["size"])]


TALK = [
    system(),
    said("greeting", "assistant"),
    said("question"),
    called("two calls", "a", "b"),
    result("a's", "a"),
    result("b's", "b"),
    said("answer", "assistant"),
    said("thanks"),
]
ALL = [message["content"] for message in TALK]


@pytest.mark.parametrize(
    ("budget", "first"),
    [
        (71, "greeting"),
        (70, "question"),
        (61, "question"),
        (60, "two calls"),
        (51, "two calls"),
        # One less, and the calls go with both of their results.
        (50, "answer"),
        (21, "answer"),
        (20, "thanks"),
        (11, "thanks"),
    ],
)
def test_the_oldest_go_first_and_calls_go_with_their_results(budget: int, first: str) -> None:
    assert kept(TALK, budget) == ["policy", *ALL[ALL.index(first) :]]


def test_calls_that_the_model_is_to_hear_the_results_of_always_stay() -> None:
    assert kept(TALK[:6], 31) == ["policy", "two calls", "a's", "b's"]


def test_no_message_is_omitted_from_the_middle() -> None:
    talk = [system(), said("small", size=1), said("big", "assistant", size=50), said("new", size=1)]
    assert kept(talk, 30) == ["policy", "new"]


def test_tool_schemas_count() -> None:
    tools = [{"name": "look", "size": 20}, {"name": "rename", "size": 5}]
    assert kept(TALK, 96, tools) == ALL
    assert kept(TALK, 95, tools)[1] == "question"


def test_every_system_message_stays_where_it_is() -> None:
    talk = [system(), said("old"), system(5, "note"), said("newer", "assistant"), said("new")]
    assert kept(talk, 16) == ["policy", "note", "new"]
    assert kept(talk, 26) == ["policy", "note", "newer", "new"]


def test_a_result_of_no_call_goes_with_what_is_before_it() -> None:
    talk = [said("old"), result("stray", "z"), said("new")]
    assert kept(talk, 10) == ["new"]
    assert kept([result("stray", "z"), said("new")], 20) == ["stray", "new"]


def test_error_shows_the_tokens_that_do_not_fit() -> None:
    tools = [{"name": "look", "size": 300}]
    talk = [system(800), said("old"), said("new", size=50)]
    with pytest.raises(ContextWindowError) as caught:
        kept(talk, 1149, tools)
    assert str(caught.value) == (
        "a context budget of 1149 tokens is too small: the system message has 800, the schemas of 1 tools have 300, "
        "and the newest messages have 50"
    )
    assert caught.value.kind == "context_window"
    assert not caught.value.passing
    assert kept(talk, 1150, tools) == ["policy", "new"]


def test_before_anybody_has_spoken_only_system_and_tools_count() -> None:
    assert kept([system(5)], 5) == ["policy"]
    with pytest.raises(ContextWindowError):
        kept([system(5)], 4)


def test_the_conversation_itself_is_not_changed() -> None:
    before = copy.deepcopy(TALK)
    shown = fit(TALK, [], 50, lambda counted: counted["size"])
    assert before == TALK
    assert shown[-1] is TALK[-1]


# Counting


@pytest.fixture(scope="module")
def count() -> Callable[[Any], int]:
    return token_counter("openai/gpt-4.1")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("azure/gpt-4", "cl100k_base"),
        ("openrouter/openai/gpt-3.5-turbo", "cl100k_base"),
        ("openrouter/openai/gpt-oss-120b", "o200k_harmony"),
        ("anthropic/claude-sonnet-4", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_texts_count_as_the_model_has_them(model: str, encoding: str) -> None:
    text = "Größe: 42 Äpfel, 日本語, and antidisestablishmentarianism."
    assert token_counter(model)(text) == len(tiktoken.get_encoding(encoding).encode(text))


def test_a_message_counts_everything_in_it(count: Callable[[Any], int]) -> None:
    plain = {"role": "assistant", "content": "Let me look."}
    assert count(plain) == count("Let me look.") + count("assistant") + 3
    calls = called("", "call_1")["tool_calls"]
    assert count(plain | {"tool_calls": calls}) > count(plain) + 3
    calls[0]["function"]["arguments"] = '{"item_id": "a very long one, by comparison"}'
    assert count(plain | {"tool_calls": calls}) > count(plain | called("", "call_1")) + 8
    assert count(plain | {"reasoning_content": "First I look."}) == count(plain) + count("First I look.")
    parts = {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}]}
    assert count(parts) == count(plain) + count("text")
    assert count({"role": "assistant", "content": None}) == count("assistant") + 3


def test_a_schema_counts_as_json(count: Callable[[Any], int]) -> None:
    schema = {"type": "function", "function": {"name": "look", "description": "Größe", "parameters": {}}}
    assert count(schema) == count(json.dumps(schema, ensure_ascii=False))


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|im_start|> b", "\ud800 alone", "\0"])
def test_no_text_is_beyond_counting(count: Callable[[Any], int], text: str) -> None:
    assert count(text) > 0
    assert count({"role": "user", "content": text}) > count({"role": "user", "content": ""})


def test_endless_white_space_is_counted(count: Callable[[Any], int]) -> None:
    """The encoder itself panics on a million spaces, which a model that has lost its way does write."""
    assert 0 < count(" " * 1_000_000) < 1_000_000


def test_each_text_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[str] = []

    class Encoding:
        def encode_ordinary(self, text: str) -> list[int]:
            encoded.append(text)
            return [0] * len(text)

    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: Encoding())
    count = token_counter("m")
    for _ in range(3):
        assert count({"role": "user", "content": "abc"}) == 3 + len("user") + len("abc")
        assert count({"name": "look"}) == len('{"name": "look"}')
    assert sorted(encoded) == ["abc", "user", '{"name": "look"}']


# Where the encodings come from


@pytest.fixture
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a fresh process without a network."""
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    read = load.read_file

    def offline(path: str) -> bytes:
        if "://" in path:
            raise OSError("no network here")
        return read(path)

    monkeypatch.setattr(load, "read_file", offline)


@pytest.mark.usefixtures("nothing_loaded")
def test_litellm_s_files_serve_without_a_network_and_leave_no_trace(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert token_counter("openai/gpt-4.1")("Hello world") == 2
    assert not {"TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"} & set(os.environ)


@pytest.mark.usefixtures("nothing_loaded")
@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_a_cache_of_the_user_s_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(ConfigurationError) as caught:
        token_counter("openai/gpt-4.1")
    told = str(caught.value)
    assert "tokens for openai/gpt-4.1 are counted with tiktoken's encoding o200k_base" in told
    assert "OSError: no network here" in told
    assert "pip install './pytest-tau[llm]'" in told
    assert "TIKTOKEN_CACHE_DIR" in told
    assert os.environ[variable] == str(tmp_path)


@pytest.mark.usefixtures("nothing_loaded")
def test_an_encoding_that_litellm_lacks_is_not_put_into_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """gpt2 and the like come from tiktoken's own cache, or not at all."""
    asked: list[Any] = []
    monkeypatch.setattr(
        tiktoken, "get_encoding", lambda name: asked.append((name, os.environ.get("TIKTOKEN_CACHE_DIR")))
    )
    token_counter("ada")
    token_counter("gpt-4o")
    assert [name for name, _ in asked] == ["r50k_base", "o200k_base"]
    assert asked[0][1] is None
    assert asked[1][1].endswith("tokenizers")


@pytest.mark.usefixtures("nothing_loaded")
def test_without_litellm_tiktoken_looks_for_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(ConfigurationError, match="o200k_base, which could not be loaded"):
        token_counter("m")


def test_without_tiktoken_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(ConfigurationError, match=r"pip install .\./pytest-tau\[llm\]'"):
        token_counter("m")


@pytest.mark.exhaustive
def test_counting_imports_neither_litellm_nor_tiktoken_before_it_must() -> None:
    code = (
        "import sys; from pytest_tau.chat.context_window import fit, token_counter; assert 'tiktoken' not in sys.modules;"
        "token_counter('openai/gpt-4.1')('Hello'); assert 'litellm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
