"""The proof of other right outcomes, by hand or proposed for open choices, and what lint makes of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_tau.lint import lint_domain
from pytest_tau.models import Action, Outcome
from pytest_tau.policy import Breach, Rule
from pytest_tau.references import propose, prove

from . import tiny
from .test_outcomes import DESK, DESKS, LAMP, NOTHING, PRICES, SOFA, outcome, several
from .tiny import action, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.environment import Domain
    from pytest_tau.models import Task
    from pytest_tau.policy import Trajectory


class Open(NamedTuple):
    """An open choice, as ``open_choices`` returns it."""

    action: int
    argument: str
    alternatives: tuple[Any, ...]
    why: str = "all of them fit"


def no_sofas(trajectory: Trajectory) -> Iterator[Breach]:
    for turn in trajectory.turns:
        for made in turn.calls:
            if made.arguments.get("name") == "Sofa":
                yield Breach(turn.number, "a lamp is no sofa", made)


def no_calls(trajectory: Trajectory) -> Iterator[Breach]:
    yield from (Breach(turn.number, "called", turn.calls[0]) for turn in trajectory.turns if turn.calls)


RULES = [
    Rule("no-sofas", "The policy.", no_sofas, absolute=True),
    Rule("not-stated", "Never call.", no_calls, absolute=True),
    Rule("of-talk", "The policy.", no_calls),
]


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Domain:
    return tiny.make(tmp_path_factory.mktemp("ruled"), rules=RULES)


def problems(domain: Domain, wanted: Task) -> list[list[str]]:
    return [prove(wanted, domain, each) for each in wanted.criteria.outcomes or ()]


def test_a_right_outcome_is_proved(ruled: Domain) -> None:
    assert problems(ruled, several(DESKS, NOTHING)) == [[], []]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (outcome(action("price", item_id="lamp", price=3.0), why=" "), "why is empty: say why it is right as well"),
        (outcome(action("renam", **DESK)), "actions.0.name: unknown tool 'renam'; did you mean 'rename'?"),
        (outcome(action("rename", item_id="lamp")), "actions.0.arguments: rename: name: missing"),
        (outcome(action("count"), action("look", item_id="sofa")), "action 1 (look) fails: Error: no item sofa"),
        (
            outcome(action("count") | {"fails": True}),
            "action 0 (count) is meant to fail, and does not",
        ),
        (outcome(action("rename", **SOFA)), "it breaks the rule no-sofas: rename("),
        (outcome(action("rename", **LAMP)), "it leads to the same state as the reference actions: remove it"),
        (
            outcome(action("count"), action("rename", **LAMP), action("count", by=-1)),
            "it leads to the same state as the reference actions: remove it",
        ),
        (DESKS, "it leads to the same state as outcome 0: remove it"),
    ],
)
def test_what_is_not_proved_is_refused_with_the_reason(ruled: Domain, wrong: Any, told: str) -> None:
    first, second = problems(ruled, several(DESKS, wrong))
    assert (first, len(second)) == ([], 1)
    assert second[0].startswith(told)


def test_an_outcome_meets_what_else_the_task_checks(ruled: Domain) -> None:
    basis = ["DB", "ENV_ASSERTION", "COMMUNICATE", "NL_ASSERTION", "OF_A_PLUGIN"]
    named = {"communicate_info": ["so"], "nl_assertions": ["It is."], "env_assertions": [check("named", **LAMP)]}
    wanted = several(
        DESKS, outcome(action("rename", **LAMP), action("price", item_id="lamp", price=3.0)), basis=basis, **named
    )
    (problem,), proved = problems(ruled, wanted)
    assert problem.startswith("it does not earn reward 1: ENV_ASSERTION named")
    assert not proved


def test_an_outcome_that_is_not_one_of_the_task_is_compared_with_all(ruled: Domain) -> None:
    wanted = several(DESKS, NOTHING)
    for known, number in ((DESKS, 0), (NOTHING, 1)):
        assert prove(wanted, ruled, Outcome.model_validate(known)) == [
            f"it leads to the same state as outcome {number}: remove it"
        ]


def test_lint_reports_what_is_not_proved_as_an_error(ruled: Domain) -> None:
    wrong = several(DESKS, outcome(action("rename", **SOFA)), outcome(action("renam", **SOFA)))
    report = asyncio.run(lint_domain(ruled, None, [wrong]))
    found = [(each.severity, each.text) for each in report.findings if each.rule == "bad-outcome"]
    assert [severity for severity, _ in found] == ["error", "error"]
    assert [text.partition(": ")[0] for _, text in found] == ["outcome 1", "outcome 2"]
    right = asyncio.run(lint_domain(ruled, None, [several(DESKS)]))
    assert {each.rule for each in right.findings if each.severity == "error"} <= {"gold-breaks-rule"}


def test_lint_finds_actions_needed_that_another_outcome_lacks(ruled: Domain) -> None:
    wanted = several(DESKS, actions=[action("rename", **DESK), action("price", item_id="lamp", price=3.0)])
    report = asyncio.run(lint_domain(ruled, None, [wanted]))
    assert not [each.text for each in report.findings if each.rule == "action-not-needed"]
    null = asyncio.run(lint_domain(ruled, None, [several(NOTHING)]))
    assert [each.text for each in null.findings if each.rule == "passes-without-agent"] == [
        "a greeting alone earns reward 1: the reference actions, or those of another right outcome, do not change the "
        "databases"
    ]


def arguments(outcomes: list[Outcome]) -> list[list[dict[str, Any]]]:
    return [[each.arguments for each in found.actions] for found in outcomes]


def test_an_open_choice_is_proposed_as_outcomes_that_are_proved(ruled: Domain) -> None:
    wanted = several(DESKS)
    found = propose(wanted, ruled, [Open(0, "name", ("Candle", "Sofa", "Desk", "Light"))])
    assert arguments(found) == [[{"item_id": "lamp", "name": "Candle"}]]
    assert found[0].why == "action 0 (rename): name Candle instead of Light: all of them fit"
    assert not problems(ruled, several(DESKS, found[0].model_dump()))[1]
    assert [each.arguments for each in wanted.criteria.actions or []] == [LAMP]


def test_several_open_choices_are_combined(ruled: Domain) -> None:
    wanted = several(actions=[action("rename", **LAMP), action("add", item_id="sofa", tags=["red", "soft"])])
    found = propose(wanted, ruled, [Open(0, "name", ("Candle",)), Open(1, "tags.1", ("hard",), why="so")])
    changed = [(names["name"], tags["tags"]) for names, tags in arguments(found)]
    assert changed == [("Candle", ["red", "soft"]), ("Light", ["red", "hard"]), ("Candle", ["red", "hard"])]
    assert found[2].why == (
        "action 0 (rename): name Candle instead of Light: all of them fit; "
        "action 1 (add): tags.1 hard instead of soft: so"
    )


def test_a_value_that_several_actions_have_is_also_changed_in_all(ruled: Domain) -> None:
    wanted = several(actions=[action("sit", seat_id="s1", who="Ada"), action("sit", seat_id="s2", who="Ada")])
    found = propose(wanted, ruled, [Open(0, "who", ("Ben",))])
    assert [[each["who"] for each in made] for made in arguments(found)] == [["Ben", "Ada"], ["Ben", "Ben"]]


def test_many_open_choices_are_not_combined_for_ever(ruled: Domain) -> None:
    names = tuple(f"Lamp {number}" for number in range(9))
    wanted = several(actions=[action("rename", **LAMP), *(action("write_note", "user", note_id=str(n), text="t")
                                                          for n in range(6))])  # fmt: skip
    choices = [Open(0, "name", names), *(Open(n, "text", names) for n in range(1, 7))]
    assert 0 < len(propose(wanted, ruled, choices)) <= 64


def test_a_domain_that_does_not_show_its_state_has_no_outcomes(ruled: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruled.spec.agent_db, "comparable", False)
    (found,) = problems(ruled, several(DESKS))
    assert found == [
        "outcomes: domain 'tiny' does not give the final state, by which it is known which outcome was reached"
    ]


def test_the_task_is_not_changed(ruled: Domain) -> None:
    """The proof does not change what it looks at."""
    wanted = several(PRICES)
    before = wanted.model_dump_json()
    prove(wanted, ruled, Outcome(actions=[Action(action_id="a", name="count")], why="x"))
    propose(wanted, ruled, [Open(0, "name", ("Candle",))])
    assert wanted.model_dump_json() == before
