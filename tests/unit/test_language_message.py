"""The text of a message without thoughts, fence and envelope."""

from __future__ import annotations

import json

import pytest

from pytest_tau.language import spoken
from pytest_tau.language.message import without_tokens


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Good morning, how may I help?", "Good morning, how may I help?"),
        ("  The bike is ready.\n", "The bike is ready."),
        ('{"message": "Your order has shipped."}', "Your order has shipped."),
        ('{"response": "Which size?\\nS or M?"}', "Which size?\nS or M?"),
        ('```json\n{"reply": "It is on its way."}\n```', "It is on its way."),
        ("```\nIt is on its way.\n```", "It is on its way."),
        ('{"type": "text", "content": "One moment."}', "One moment.\ntype: text"),
        (
            '{"status": "open", "message": "I can cancel it.", "next_step": "Please confirm.", "orders": ["#W1", "#W2"]}',
            "I can cancel it.\nstatus: open\nPlease confirm.\norders:\n- #W1\n- #W2",
        ),
        ('{"message": "A line\nbreak"}', "A line\nbreak"),
        ("<think>They want a refund.</think>Which card?", "Which card?"),
        ("They want a refund.\n</think>\n\nWhich card?", "Which card?"),
        ("<thinking>a</thinking> Hello. <thinking>b</thinking> Bye.", "Hello.  Bye."),
        ("<think>It ends <think> twice.</think> so</think>Which card?", "Which card?"),
        ("<think>It never ends", ""),
        ('Hello. <think type="plan">a</think>Bye. <seed:think>b</seed:think><Scratchpad>c</Scratchpad>', "Hello. Bye."),
        ("[THINK]They want [a] refund.[/THINK]Which [card]?", "Which [card]?"),
        ("\u25c1think\u25b7a\u25c1/think\u25b7Which card?", "Which card?"),
        ("<|channel|>analysis<|message|>a ###STOP###<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>", "Yes."),
        ("<|channel|>analysis<|message|>It never ends", ""),
        ('<think>x</think>```json\n{"message": "<think>y</think>Yes."}\n```', "Yes."),
        # No envelopes.
        ('{"name": "cancel_order", "arguments": {"message": "x"}}', '{"name": "cancel_order", "arguments": {"message": "x"}}'),
        ('{"message": 3}', '{"message": 3}'),
        ('{"order_id": "#W1"}', '{"order_id": "#W1"}'),
        ("{not JSON}", "{not JSON}"),
        ("Run this:\n```\nls\n```", "Run this:\n```\nls\n```"),
        ("1 < 2 and <b>bold</b>", "1 < 2 and <b>bold</b>"),
    ],
)  # fmt: skip
def test_what_is_spoken(text: str, said: str) -> None:
    assert spoken(text) == said
    assert spoken(said) == said


@pytest.mark.parametrize(
    "text", ["<think>" * 9_000, "</think>" * 9_000, "{" * 50_000 + "}", "```\n" * 20_000, "`" * 90_000]
)
def test_a_hostile_text_is_read_in_one_pass(text: str) -> None:
    assert isinstance(spoken(text), str)


def test_an_envelope_that_is_nested_too_deep_stays() -> None:
    deep = '{"message": "x", "y": ' + "[" * 5_000 + "]" * 5_000 + "}"
    assert spoken(deep) == deep
    assert spoken(json.dumps({"message": deep})) == deep


def test_tokens_are_not_said() -> None:
    assert without_tokens("Thank you. ###STOP###") == "Thank you."
