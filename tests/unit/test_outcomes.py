"""Tasks with several right outcomes: what the state, the actions and partial credit are compared with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import check_reference, check_task, reference_states
from pytest_tau.errors import TaskFormatError
from pytest_tau.evaluation import GRADING_RULES, passes_without_agent
from pytest_tau.evaluation.components import known_components
from pytest_tau.evaluation.partial import current_state
from pytest_tau.models import RewardInfo, Task, parse_task
from pytest_tau.regrade.comparing import other_criteria
from pytest_tau.reports.domain import describe_domain, domain_markdown, domain_page

from . import tiny
from .tiny import action, agent, call, check, graded, task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_tau.environment import Domain

LAMP, DESK, SOFA = ({"item_id": "lamp", "name": name} for name in ("Light", "Desk", "Sofa"))
PRICED = {"item_id": "lamp", "price": 2.0}


def outcome(*actions: Any, why: str = "the user leaves it open") -> dict[str, Any]:
    return {"actions": [*actions], "why": why}


def several(*outcomes: Any, basis: Sequence[str] = ("DB",), **criteria: Any) -> Task:
    """A lamp that is to be called Light, or one of the given outcomes."""
    return task({"actions": [action("rename", **LAMP)], "outcomes": [*outcomes], "reward_basis": [*basis], **criteria})


DESKS = outcome(action("rename", **DESK), why="a lamp on a desk")
PRICES = outcome(action("rename", **SOFA), action("price", **PRICED))
NOTHING = outcome(why="the user may think better of it")


@pytest.mark.parametrize(
    ("made", "reward", "position", "places"),
    [
        ([call("rename", **LAMP)], 1, None, 0),
        ([call("rename", **DESK)], 1, 0, 0),
        ([call("rename", **SOFA), call("price", **PRICED)], 1, 1, 0),
        ([call("rename", **SOFA), call("price", item_id="lamp", price=3.0)], 0, 1, 1),
        ([call("rename", item_id="lamp", name="Other")], 0, None, 1),
        ([], 0, None, 1),
    ],
)
def test_the_state_of_any_outcome_is_right_and_the_nearest_is_named(
    domain: Domain, made: list[Any], reward: float, position: int | None, places: int
) -> None:
    info = graded(domain, several(DESKS, PRICES), *map(agent, made))
    assert (info.reward, info.compared_outcome, len(info.db_diff or [])) == (reward, position, places)
    assert info.reached_outcome == (position if reward else None)
    assert info.db_check is not None
    assert info.db_check.db_match is bool(reward)


def test_partial_credit_is_that_of_the_nearest(domain: Domain) -> None:
    made = agent(call("rename", **SOFA)), agent(call("price", item_id="lamp", price=3.0))
    info, alone = (graded(domain, each, *made) for each in (several(DESKS, PRICES), several()))
    assert info.partial is not None
    assert alone.partial is not None
    assert (info.partial["state"], info.partial["progress"]) == (0.5, 0.5)
    assert alone.partial["state"] == 0
    environment = domain.environment()
    environment.call("rename", SOFA)
    assert current_state(several(DESKS, PRICES), domain, environment) == 0.5
    assert current_state(several(), domain, environment) == 0


def test_an_outcome_may_leave_everything_as_it_is(domain: Domain) -> None:
    assert graded(domain, several(NOTHING)).reached_outcome == 0
    assert passes_without_agent(several(NOTHING), domain)
    assert not passes_without_agent(several(DESKS), domain)


def test_an_outcome_that_takes_no_calls_is_not_near_to_wrong_ones(domain: Domain) -> None:
    wanted = task(
        {
            "actions": [
                action("rename", **LAMP),
                action("rename", item_id="desk", name="Table"),
                action("count", by=4),
            ],
            "outcomes": [NOTHING],
            "reward_basis": ["DB"],
        }
    )
    info = graded(domain, wanted, agent(call("rename", **LAMP)))
    assert (info.compared_outcome, info.partial and info.partial["state"]) == (None, pytest.approx(1 / 3))


def test_the_actions_of_the_outcome_that_was_reached_are_compared(domain: Domain) -> None:
    wanted = several(DESKS, PRICES, basis=["DB", "ACTION"])
    info = graded(domain, wanted, agent(call("rename", **DESK)))
    assert info.reward_breakdown == {"DB": 1, "ACTION": 1}
    assert [each.action.arguments for each in info.action_checks or []] == [DESK]
    # The reference's state is that of the reference actions, which were not all made.
    way = several(DESKS, basis=["DB", "ACTION"], actions=[action("look", item_id="lamp"), action("rename", **LAMP)])
    info = graded(domain, way, agent(call("rename", **LAMP)))
    assert info.reward_breakdown == {"DB": 1, "ACTION": 0}


def test_without_an_outcome_those_actions_are_compared_of_which_most_were_made(domain: Domain) -> None:
    wanted = several(DESKS, PRICES, basis=["ACTION"])
    info = graded(domain, wanted, agent(call("rename", **SOFA)), agent(call("price", item_id="lamp", price=3.0)))
    assert [each.action_match for each in info.action_checks or []] == [True, False]
    assert info.partial is not None
    assert info.partial["actions"] == info.partial["progress"] == 0.5
    info = graded(domain, wanted, agent(call("count")))
    assert [each.action.arguments for each in info.action_checks or []] == [LAMP]


def test_what_else_is_checked_counts_for_each_outcome(domain: Domain) -> None:
    wanted = several(
        DESKS,
        basis=["DB", "ENV_ASSERTION", "COMMUNICATE"],
        env_assertions=[check("named", **LAMP)],
        communicate_info=["light"],
    )
    info = graded(domain, wanted, agent(call("rename", **DESK)), agent("The light is a desk."))
    assert info.reward_breakdown == {"DB": 1, "ENV_ASSERTION": 0, "COMMUNICATE": 1}


def test_a_verdict_says_which_outcome_it_is_about(domain: Domain) -> None:
    info = graded(domain, several(DESKS), agent(call("rename", **DESK)))
    stored = json.loads(info.model_dump_json())
    assert stored["outcome"] == {"position": 0, "why": "a lamp on a desk"}
    assert RewardInfo.model_validate(stored) == info
    assert other_criteria(info, several(DESKS)) == ""
    assert other_criteria(info, several()) != ""


def test_a_task_without_outcomes_is_stored_as_ever(domain: Domain) -> None:
    assert "outcomes" not in several().model_dump_json()
    info = graded(domain, several(), agent(call("rename", **LAMP)))
    assert "outcome" not in json.loads(info.model_dump_json())
    assert GRADING_RULES == 2


def test_the_states_of_outcomes_are_made_only_if_they_are_needed_and_once(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    carry_out = reference_states.after_reference_actions

    def counted(domain: Domain, task: Task) -> Any:
        made.append(str([each.arguments for each in task.criteria.actions or []]))
        return carry_out(domain, task)

    monkeypatch.setattr(reference_states, "after_reference_actions", counted)
    one, two, three = ({"item_id": "lamp", "name": name} for name in ("First", "Second", "Third"))
    wanted = several(*(outcome(action("rename", **each)) for each in (two, three)), actions=[action("rename", **one)])
    for _ in range(2):
        graded(domain, wanted, agent(call("rename", **one)))
    assert made == [str([one])]
    for _ in range(2):
        graded(domain, wanted, agent(call("rename", **two)))
    assert made == [str([one]), str([two])]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"outcomes": [{"actions": []}]}, "evaluation_criteria.outcomes.0.why"),
        ({"outcomes": [{"actions": [], "why": "x", "reason": "y"}]}, "evaluation_criteria.outcomes.0.reason"),
        ({"outcomes": [NOTHING], "actions": None}, "expected reference actions next to them"),
        ({"outcomes": {}}, "evaluation_criteria.outcomes"),
    ],
)
def test_the_format_of_outcomes(change: dict[str, Any], told: str) -> None:
    with pytest.raises(TaskFormatError, match=told):
        parse_task(tiny.raw_task("t", {"actions": [], **change}))


@pytest.mark.parametrize(
    ("wrong", "field", "told"),
    [
        (action("renam"), "actions.0.name", "unknown tool 'renam'"),
        (action("rename", item_id="lamp"), "actions.0.arguments", "name: missing"),
        (action("count", compare=["to"], by=1), "actions.0.compare_args", "to"),
    ],
)
def test_actions_of_outcomes_must_fit_the_domain(domain: Domain, wrong: Any, field: str, told: str) -> None:
    with pytest.raises(TaskFormatError, match=told) as caught:
        check_task(several(DESKS, outcome(wrong)), domain.spec, known_components(()))
    assert caught.value.field == f"evaluation_criteria.outcomes.1.{field}"


def test_an_outcome_whose_actions_fail_is_refused(domain: Domain) -> None:
    lost = action("rename", item_id="sofa", name="x")
    with pytest.raises(TaskFormatError, match="an action of another right outcome fails: rename") as caught:
        check_reference(several(DESKS, outcome(action("count"), lost)), domain)
    assert caught.value.field == "evaluation_criteria.outcomes.1.actions.1"
    check_reference(several(outcome(action("count"), lost | {"fails": True})), domain)


def test_pages_show_outcomes(tmp_path: Path) -> None:
    folder = tmp_path / "domain"
    tiny.write(folder)
    criteria = several(DESKS, outcome(action("count"), why="<b>&</b>")).criteria.model_dump(mode="json")
    (folder / "tasks" / "a.json").write_text(json.dumps([tiny.raw_task("one", criteria)]), encoding="utf-8")
    (folder / "tasks" / "split_tasks.json").unlink()
    found = describe_domain(tiny.spec(folder).load())
    page, markdown = domain_page(found), domain_markdown(found)
    assert "outcome 0: a lamp on a desk" in page
    assert "<b>&</b>" not in page
    assert "Outcome 0: a lamp on a desk" in markdown
    assert 'agent  rename(item_id="lamp", name="Desk")' in markdown
