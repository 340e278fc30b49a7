"""The texts of reports: a value that has just the width is whole, and one that is longer is cut to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_tau.evaluation import COMPONENTS
from pytest_tau.evaluation.component import StoredComponent
from pytest_tau.evaluation.component_reports import Check, difference_texts, short_json
from pytest_tau.models import Action, ActionCheck, Call, Difference, NLAssertionCheck, RewardInfo, ToolMessage

from .tiny import action, call

if TYPE_CHECKING:
    from collections.abc import Callable

ACTION, DB, NL = (
    next(component for component in COMPONENTS if component.name == name) for name in ("ACTION", "DB", "NL_ASSERTION")
)


def differing(length: int) -> RewardInfo:
    """A record that is missing, whose JSON has this length."""
    found = Difference(side="agent", path="items/lamp", expected="x" * (length - 2), got=None, missing="got")
    return RewardInfo(reward=0.0, reward_basis=["DB"], db_diff=[found])


def nearest(**arguments: str) -> str:
    """The line about a call that has failed with a result of the length of its argument."""
    wanted = ActionCheck(
        action=Action.model_validate(action("look", item_id="?")), action_match=False, action_reward=0.0
    )
    result = ToolMessage(id="1", content=arguments.pop("result", "no"), error=True)
    made = Call(message_idx=1, call=call("look", **arguments), result=result)
    return ACTION.explain(RewardInfo(reward=0.0, action_checks=[wanted]), [made])[1].text


def judged(length: int) -> str:
    check = NLAssertionCheck(nl_assertion="kind", met=False, justification="x" * length)
    return NL.explain(RewardInfo(reward=0.0, nl_assertions=[check]), [])[0].text


@pytest.mark.parametrize(
    ("text", "width"),
    [
        (lambda length: short_json("x" * (length - 2)), 60),
        (lambda length: difference_texts("x" * (length - 2), None, "got")[0], 60),
        (lambda length: difference_texts(None, "x" * (length - 2), "expected")[1], 60),
        (lambda length: difference_texts("x" * (length - 2), "y", None)[0], 60),
        (lambda length: difference_texts("y", "x" * (length - 2), None)[1], 60),
        (lambda length: DB.details(differing(length))[0], 60),
        (lambda length: DB.explain(differing(length), [])[1].text, 200),
        (lambda length: nearest(item_id="!", result="x" * length), 80),
        (judged, 120),
    ],
    ids=["json", "missing", "unexpected", "expected", "got", "detail", "record", "result", "judge"],
)
def test_a_value_is_cut_to_its_width(text: Callable[[int], str], width: int) -> None:
    whole, cut = text(width), text(width + 1)
    assert "…" not in whole
    assert "…" in cut
    assert len(cut) == len(whole)


def test_text_of_other_languages_is_as_it_is() -> None:
    assert short_json("é") == '"é"'


def test_a_check_is_placed_at_a_call_that_exists() -> None:
    calls = [Call(message_idx=3, call=call("look"))]
    check = Check("text", True, None, "label")
    assert check.of_call is False
    assert check.at_call(0, calls).message_idx == 3
    assert check.at_call(1, calls) is check.at_call(None, calls) is check


def test_a_component_without_a_check_lets_the_reward_be() -> None:
    assert StoredComponent("polite").value(RewardInfo(reward=1.0)) == 1.0
