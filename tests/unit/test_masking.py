"""Masking of keys in texts: what is one, and what stays readable."""

from __future__ import annotations

import json

import pytest

from pytest_tau.masking import is_secret, mask_secrets, masked


@pytest.mark.parametrize(
    "text",
    [
        "KeyError: 'order_id'",
        "missing key: customer_id",
        "Unexpected token: identifier, expected one of: number",
        "token_count: 12345678, max_tokens=4096",
        "basic information about the order",
        "PWD=/srv/project",
        "risk-management of task-force",
        "https://example.org/page?item=4&color=blue",
        "the signature is missing",
        "No such file: /home/ada/keys/id.txt",
    ],
)
def test_ordinary_errors_stay_as_they_are(text: str) -> None:
    assert mask_secrets(text) == text


def test_json_stays_json_and_values_are_masked_at_any_depth() -> None:
    text = json.dumps({"client_secret": "a1 b2 c3", "nested": [{"api_key": "abcdef123456"}], "kept": "yes"})
    assert json.loads(mask_secrets(text)) == {"client_secret": "***", "nested": [{"api_key": "***"}], "kept": "yes"}
    assert masked({"a": ["Bearer abcdefgh"], "n": 3}) == {"a": ["***"], "n": 3}


def test_masking_again_changes_nothing() -> None:
    text = mask_secrets("Authorization: Bearer abcdefgh, password='hunter2', https://a:b@c.example?sig=abc")
    assert mask_secrets(text) == text


@pytest.mark.parametrize("text", ["sk-" * 7000, "x-" * 10_000, "a" * 20_000, "api_key=" * 2500, "cookie:" * 3000])
def test_long_texts_are_masked_whole(text: str) -> None:
    assert mask_secrets(f"{text} sk-abcdef123456").endswith("***")


@pytest.mark.parametrize(
    ("name", "secret"),
    [("sig", True), ("extra_query", True), ("X-Signature", True), ("PWD", False), ("max_tokens", False)],
)
def test_names_of_secrets(name: str, secret: bool) -> None:
    assert is_secret(name) == secret
