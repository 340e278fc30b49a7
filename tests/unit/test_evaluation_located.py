"""What the built-in components say in reports: the lines of a failure, limits, reasons, and where a check was decided."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.evaluation import COMPONENTS, OFFICIAL, STRICT
from pytest_tau.evaluation.component import GradingInput
from pytest_tau.evaluation.evidence import Evidence, Row, StateChange, StateHistory, Turned
from pytest_tau.models import (
    Call,
    Difference,
    Divergence,
    Notes,
    RewardInfo,
    Simulation,
    ToolCall,
    ToolMessage,
    calls_in,
)

from .tiny import STOP, action, agent, call, check, graded, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

ACTION, COMMUNICATE, DB, ENV, NL = (
    next(component for component in COMPONENTS if component.name == name)
    for name in ("ACTION", "COMMUNICATE", "DB", "ENV_ASSERTION", "NL_ASSERTION")
)


def made(*calls: ToolCall, error: str | None = None) -> list[Call]:
    """Calls of one message each, from message 1."""
    result = ToolMessage(id="1", content=error, error=True) if error else None
    return [Call(message_idx=number, call=each, result=result) for number, each in enumerate(calls, 1)]


def texts(component: Any, info: RewardInfo, calls: Any = ()) -> list[str]:
    return [line.text for line in component.explain(info, list(calls))]


def point(message_idx: int, name: str) -> Divergence:
    return Divergence(message_idx, "diverged", {"name": name, "arguments": {}, "requestor": "assistant"}, "x")


def evidence(info: RewardInfo, *messages: Any, rows: Any = (), history: Any = None, **stored: Any) -> Evidence:
    simulation = Simulation(
        id="s",
        task_id="t",
        messages=list(messages),
        termination_reason="user_stop",
        reward_info=info,
        info=Notes(**stored),
    )
    return Evidence(simulation, calls_in(simulation.messages), list(rows), history or StateHistory(), OFFICIAL)


def wanted_names(domain: Domain, *names: str, grading: Any = OFFICIAL) -> RewardInfo:
    """The verdict on a conversation without calls, where each of these items had to be renamed."""
    actions = [action("rename", item_id=name, name="x") for name in names]
    return graded(domain, task({"actions": actions, "reward_basis": ["ACTION"]}), grading=grading)


GUESTS = [{"name": f"G{n}", "born": f"19{n}0-01-01"} for n in range(4)]
OLDER = [*GUESTS[:3], GUESTS[3] | {"born": "1999-12-31"}]


class TestActions:
    """Reference actions that were not made."""

    def test_three_are_shown_and_the_others_counted(self, domain: Domain) -> None:
        lines = texts(ACTION, wanted_names(domain, *"abcd"), made(call("count")))
        assert lines[0] == 'never called rename(item_id="a", name="x")'
        assert len(lines) == 4
        assert lines[-1] == "  and 1 more"
        assert len(texts(ACTION, wanted_names(domain, *"abc"))) == 3

    def test_one_that_was_made_keeps_the_others_apart(self, domain: Domain) -> None:
        info = wanted_names(domain, "a", "b", "c")
        assert info.action_checks is not None
        info.action_checks[0].action_match = True
        assert len(texts(ACTION, info)) == 2

    def test_that_of_the_user_is_named_so(self, domain: Domain) -> None:
        info = graded(domain, task({"actions": [action("switch", "user")], "reward_basis": ["ACTION"]}))
        assert texts(ACTION, info) == ["never called (by the user) switch()"]
        assert [each.text for each in ACTION.checks(info)] == ["user: switch()"]
        omission = ACTION.omission(info)
        assert omission is not None
        assert omission[0] == "it did not get the user to make a required call"

    def test_the_reason_names_three(self, domain: Domain) -> None:
        info = graded(
            domain,
            task(
                {
                    "actions": [action(name) for name in ("count", "switch", "look", "sit")],
                    "reward_basis": ["ACTION"],
                }
            ),
        )
        assert ACTION.omission(info) == (
            "it did not make required calls",
            "not made: count, switch, look",
        )

    def test_the_nearest_call_is_the_one_with_the_fewest_differences(self, domain: Domain) -> None:
        info = wanted_names(domain, "lamp")
        far, near = call("rename", item_id="desk", name="y"), call("rename", item_id="lamp", name="y")
        broken = ToolCall(name="rename", arguments={}, malformed="{")
        (head, line) = texts(ACTION, info, made(broken, far, near, far))
        assert head == 'not made: rename(item_id="lamp", name="x")'
        assert line.startswith("  nearest call, message 3: name  ")
        assert "item_id" not in line
        (_, line) = texts(ACTION, info, made(broken))
        expected = "Expecting property name enclosed in double quotes (column 2)"
        assert line == f"  nearest call, message 1: malformed arguments, not valid JSON: {expected}"
        listed = ToolCall(name="rename", arguments={}, malformed="[1]")
        assert texts(ACTION, info, made(listed))[1] == "  nearest call, message 1: malformed arguments"

    @pytest.mark.parametrize(
        ("compare", "name", "arguments", "difference"),
        [
            (None, "Light", {"title": "Light"}, 'title  not expected   got "Light"'),
            (["name"], "Light", {}, 'name  expected "Light"   missing'),
            # Of a long argument the place that differs
            (None, GUESTS, {"name": OLDER}, 'name/3/born  expected "1930-01-01"   got "1999-12-31"'),
            (None, GUESTS, {"name": GUESTS[:3]}, 'name/3  expected {"name": "G3", "born": "1930-01-01"}   missing'),
        ],
        ids=["argument-too-many", "compared-argument-missing", "place-in-a-long-argument", "missing-part"],
    )
    def test_how_the_nearest_call_differs(
        self, domain: Domain, compare: Any, name: Any, arguments: dict[str, Any], difference: str
    ) -> None:
        wanted = action("rename", compare=compare, item_id="lamp", name=name)
        info = graded(domain, task({"actions": [wanted], "reward_basis": ["ACTION"]}))
        (_, line) = texts(ACTION, info, made(call("rename", item_id="lamp", **arguments)))
        assert line == f"  nearest call, message 1: {difference}"

    def test_a_call_that_failed_is_shown_with_its_result(self, domain: Domain) -> None:
        near = call("rename", item_id="lamp", name="y")
        info = wanted_names(domain, "lamp")
        assert texts(ACTION, info, made(near, error="Error: no"))[1].endswith("  -> Error: no")
        (failed,) = made(near, error="Error: no")
        assert failed.result is not None
        failed.result.error = False
        assert "->" not in texts(ACTION, info, [failed])[1]

    def test_an_equal_call_was_made_by_another_or_for_another(self, domain: Domain) -> None:
        info = wanted_names(domain, "lamp", grading=STRICT)
        same = call("rename", "user", item_id="lamp", name="x")
        assert texts(ACTION, info, made(same))[1] == "  nearest call, message 1: the same, made by the user"

    def test_arguments_that_are_missing_differ_in_strict_grading_only(self, domain: Domain) -> None:
        less = made(call("rename", item_id="desk"))
        official, strict = (
            texts(ACTION, wanted_names(domain, "lamp", grading=grading), less)[1] for grading in (OFFICIAL, STRICT)
        )
        assert "name  " not in official
        assert 'name  expected "x"   missing' in strict

    def test_of_long_values_the_place_that_differs_is_shown(self, domain: Domain) -> None:
        def difference(expected: Any, got: Any) -> str:
            wanted = task({"actions": [action("count", by=expected)], "reward_basis": ["ACTION"]})
            return texts(ACTION, graded(domain, wanted), made(call("count", by=got)))[1]

        long = {"first": "x" * 40, "second": {"third": [1, 2, 3]}}
        assert "message 1: by/second/third" in difference(long, long | {"second": {"third": [1, 9, 3]}})
        assert "message 1: by  " in difference({"a": 1}, {"a": 2})
        # 58 characters between two quotes are 60.
        assert "message 1: by  " in difference(["x" * 54], ["y"])
        assert "message 1: by/0  " in difference(["x" * 56], ["y"])
        assert "message 1: by/0  " in difference(["y"], ["x" * 56])

    @pytest.mark.parametrize(
        ("met", "row", "note", "message"),
        [
            (True, Row("matched", 0, 1), "", 2),
            (False, Row("matched", 0, 1), "", None),
            (False, Row("differs", 0, 1, ("name", "item_id")), "made with other arguments: name, item_id", 2),
            (False, Row("differs", 0, 1), "", 2),
            (True, Row("differs", 0, 1, ("name",)), "", None),
            (False, Row("missing", 0, None), "never called", None),
            (False, Row("extra", None, 1), "", None),
        ],
    )
    def test_a_check_is_located_at_the_call_next_to_it(
        self, domain: Domain, met: bool, row: Row, note: str, message: int | None
    ) -> None:
        info = wanted_names(domain, "lamp")
        assert info.action_checks is not None
        info.action_checks[0].action_match = met
        talk = [user("Hi"), agent(call("count")), agent(call("rename", item_id="lamp", name="x"))]
        (found,) = ACTION.located(info, evidence(info, *talk, rows=[row]))
        assert (found.note, found.message_idx) == (note, message)


class TestPhrases:
    """What had to be said."""

    def unsaid(self, domain: Domain, *phrases: str, basis: str = "COMMUNICATE") -> RewardInfo:
        return graded(domain, task({"communicate_info": list(phrases), "reward_basis": [basis]}))

    def test_five_are_shown_and_three_are_the_reason(self, domain: Domain) -> None:
        six = self.unsaid(domain, *"abcdef")
        assert texts(COMMUNICATE, six) == ["never said: 'a', 'b', 'c', 'd', 'e' and 1 more"]
        assert texts(COMMUNICATE, self.unsaid(domain, *"abcde")) == ["never said: 'a', 'b', 'c', 'd', 'e'"]
        assert COMMUNICATE.omission(six) == ("it did not say a required text", "never said: 'a', 'b', 'c'")

    def test_they_are_shown_if_they_decide(self, domain: Domain) -> None:
        assert texts(COMMUNICATE, self.unsaid(domain, "a", basis="DB")) == []

    def test_a_phrase_is_located_where_the_agent_said_it_first(self, domain: Domain) -> None:
        talk = [user("Lamp?"), agent("Hm"), agent("A lamp"), agent("Lamp!")]
        info = graded(domain, task({"communicate_info": ["lamp", "desk"], "reward_basis": ["COMMUNICATE"]}), *talk)
        assert [each.message_idx for each in COMMUNICATE.located(info, evidence(info, *talk))] == [2, None]
        assert [each.message_idx for each in COMMUNICATE.located(info, evidence(info, *talk[:2]))] == [None, None]
        assert [each.note for each in COMMUNICATE.checks(info)] == ["", "never said"]


class TestDatabase:
    """Differences of the final databases."""

    def differing(self, domain: Domain, agents: int, users: int = 0, *, basis: str = "DB") -> RewardInfo:
        info = graded(domain, task({"actions": [action("count")], "reward_basis": [basis]}))
        info.db_diff = [
            Difference(side=side, path=f"t/{number}/f", expected=1, got=2)
            for side, most in (("agent", agents), ("user", users))
            for number in range(most)
        ]
        return info

    def test_eight_of_each_side_are_shown_and_the_others_counted(self, domain: Domain) -> None:
        lines = texts(DB, self.differing(domain, 9, 8))
        assert lines[0] == "database, agent side: 9 differences"
        assert lines[1].split() == ["t/0/f", "expected", "1", "got", "2"]
        assert lines[9] == "  and 1 more"
        assert lines[10] == "database, user side: 8 differences"
        assert len(lines) == 10 + 1 + 8

    def test_they_are_shown_if_they_decide(self, domain: Domain) -> None:
        assert texts(DB, self.differing(domain, 1, basis="COMMUNICATE")) == []

    def test_a_comparison_of_verdicts_shows_four(self, domain: Domain) -> None:
        assert DB.details(self.differing(domain, 5))[-1] == "and 1 more"
        assert len(DB.details(self.differing(domain, 5))) == 5
        assert len(DB.details(self.differing(domain, 4))) == 4

    def test_paths_stand_in_a_column_of_at_most_48(self, domain: Domain) -> None:
        info = self.differing(domain, 2)
        assert info.db_diff is not None
        info.db_diff[0].path = "p" * 30
        assert [line.index("expected") for line in texts(DB, info)[1:]] == [34, 34]
        info.db_diff[0].path = "p" * 60
        assert [line.index("expected") for line in texts(DB, info)[1:]] == [64, 52]

    @pytest.mark.parametrize(("count", "note"), [(0, ""), (1, "1 place differs"), (2, "2 places differ")])
    def test_the_note_counts_the_places(self, domain: Domain, count: int, note: str) -> None:
        info = self.differing(domain, count)
        assert [each.note for each in DB.located(info, evidence(info))] == [note]

    def located(self, info: RewardInfo, history: StateHistory, **stored: Any) -> int | None:
        talk = [user("Hi"), *(agent(call(name)) for name in ("count", "look", "count"))]
        (found,) = DB.located(info, evidence(info, *talk, history=history, **stored))
        return found.message_idx

    def test_without_differences_it_is_where_the_replay_turned(self, domain: Domain) -> None:
        info = self.differing(domain, 0)
        assert self.located(info, StateHistory(database=Turned(holds=False, call=1))) == 2
        assert self.located(info, StateHistory(database=Turned(holds=True, call=1))) is None
        assert self.located(info, StateHistory()) is None

    def test_it_is_the_last_write_to_a_place_that_is_wrong(self, domain: Domain) -> None:
        info = self.differing(domain, 1)
        right = StateChange("agent", "t/1/f", "1", "2")
        for path in ("t/0/f", "t/0", "t/0/f/deeper"):
            wrong = StateChange("agent", path, "1", "2")
            assert self.located(info, StateHistory(changes={0: [wrong], 1: [right, wrong], 2: [right]})) == 2
        for other in (StateChange("user", "t/0/f", "1", "2"), StateChange("agent", "t/0/fa", "1", "2")):
            assert self.located(info, StateHistory(changes={0: [other]})) is None

    def test_a_write_to_another_position_of_a_list_is_the_second_choice(self, domain: Domain) -> None:
        info = self.differing(domain, 1)
        assert info.db_diff is not None
        info.db_diff[0].path = "t/0/items/3/name"
        moved, exact = (StateChange("agent", f"t/0/items/{number}/name", "1", "2") for number in (1, 3))
        assert self.located(info, StateHistory(changes={1: [moved]})) == 2
        assert self.located(info, StateHistory(changes={0: [exact], 1: [moved]})) == 1

    @pytest.mark.parametrize(
        ("stored", "message"),
        [
            (point(2, "look"), 2),
            (point(2, "other"), 2),
            (point(0, "look"), None),
        ],
    )
    def test_a_stored_turning_point_comes_first(self, domain: Domain, stored: Any, message: int | None) -> None:
        wrong = StateChange("agent", "t/0/f", "1", "2")
        history = StateHistory(changes={2: [wrong]})
        assert self.located(self.differing(domain, 1), history, turning_point=stored) == message

    @pytest.mark.parametrize(("name", "position"), [("look", 1), ("other", 0)])
    def test_of_several_calls_of_a_message_it_is_the_one_with_the_name_or_the_first(
        self, domain: Domain, name: str, position: int
    ) -> None:
        info = self.differing(domain, 1)
        both = agent(None, call("count"), call("look"))
        (found,) = DB.located(info, evidence(info, both, turning_point=point(0, name)))
        assert (found.call, found.message_idx) == (position, 0)

    def test_a_state_without_a_reference_matches(self, domain: Domain) -> None:
        given = GradingInput(task({"reward_basis": ["DB"]}), [agent(call("count")), STOP], domain, OFFICIAL)
        info = RewardInfo(reward=0.0)
        DB.grade(given, info)
        assert DB.to_json(info) == {"db_match": True}

    def test_without_a_check_there_is_nothing_to_say(self) -> None:
        nothing = RewardInfo(reward=1.0)
        assert (DB.value(nothing), DB.checks(nothing), DB.to_json(nothing)) == (1.0, [], {"db_match": None})


class TestAssertions:
    """Statements about the final environment."""

    def unmet(self, domain: Domain, number: int, **fields: Any) -> RewardInfo:
        assertions = [check("named", item_id="lamp", name=str(each)) | fields for each in range(number)]
        return graded(domain, task({"env_assertions": assertions, "reward_basis": ["ENV_ASSERTION"]}))

    def test_six_are_shown_and_the_others_counted(self, domain: Domain) -> None:
        lines = texts(ENV, self.unmet(domain, 7))
        assert lines[0] == 'not met, assistant side: named(item_id="lamp", name="0")'
        assert lines[6:] == ["  and 1 more"]
        assert len(texts(ENV, self.unmet(domain, 6))) == 6

    def test_one_with_a_message_is_shown_with_it(self, domain: Domain) -> None:
        info = self.unmet(domain, 1, message="The lamp has its name.")
        assert texts(ENV, info)[1:] == ["  The lamp has its name."]
        assert [each.note for each in ENV.checks(info)] == ["The lamp has its name."]

    def test_one_that_must_be_false_says_so(self, domain: Domain) -> None:
        assertion = check("named", item_id="lamp", name="Lamp", value=False)
        info = graded(domain, task({"env_assertions": [assertion], "reward_basis": ["ENV_ASSERTION"]}))
        assert texts(ENV, info) == ['not met, assistant side: named(item_id="lamp", name="Lamp") to be false']
        assert ENV.checks(info)[0].text == 'assistant: named(item_id="lamp", name="Lamp") is false'

    def test_each_is_located_at_the_call_that_decided_it(self, domain: Domain) -> None:
        info = self.unmet(domain, 3)
        talk = [user("Hi"), agent(call("count")), agent(call("look"))]
        history = StateHistory(assertions=[Turned(holds=False, call=1), Turned(holds=True, call=0)])
        found = ENV.located(info, evidence(info, *talk, history=history))
        assert [each.message_idx for each in found] == [2, None, None]


def test_five_statements_are_shown(domain: Domain) -> None:
    from pytest_tau.testing import ScriptedJudge

    for number in (5, 6):
        wanted = task({"nl_assertions": [f"s{each}" for each in range(number)], "reward_basis": ["NL_ASSERTION"]})
        info = graded(domain, wanted, judge=ScriptedJudge({f"s{each}": False for each in range(number)}))
        lines = texts(NL, info)
        assert lines[0].startswith("judged untrue: s0  (")
        assert lines[5:] == ["  and 1 more"] * (number - 5)


def test_records_have_the_outcome_of_each_check(domain: Domain) -> None:
    from pytest_tau.testing import ScriptedJudge

    criteria = {
        "actions": [action("count"), action("look", item_id="lamp")],
        "env_assertions": [check("named", item_id="lamp", name=name) for name in ("Lamp", "Light")],
        "communicate_info": ["yes", "no"],
        "nl_assertions": ["kind", "rude"],
        "reward_basis": ["DB"],
    }
    judge = ScriptedJudge({"kind": True, "rude": False})
    info = graded(domain, task(criteria), agent(call("count")), agent("Yes."), judge=judge)
    assert ACTION.to_json(info) == {"actions": [True, False]}
    assert ENV.to_json(info) == {"env_assertions": [True, False]}
    assert COMMUNICATE.to_json(info) == {"communicate": [True, False]}
    assert NL.to_json(info) == {"nl_assertions": [True, False]}
    assert [each.of_call for each in ACTION.checks(info)] == [True, True]
    assert [each.of_call for each in COMMUNICATE.checks(info)] == [False, False]


def test_a_database_as_it_should_be_has_no_note(domain: Domain) -> None:
    info = graded(domain, task({"actions": [], "reward_basis": ["DB"]}))
    assert [(each.met, each.note) for each in DB.located(info, evidence(info))] == [(True, "")]


def test_evidence_cannot_be_exchanged() -> None:
    found = evidence(RewardInfo(reward=0.0))
    with pytest.raises(FrozenInstanceError):
        found.rows = []  # type: ignore[misc]
