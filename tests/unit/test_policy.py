"""Rules of a policy: the view of a conversation, the makers of rules, bad rules, and what is stored."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import DomainSpec
from pytest_tau.environment.toolkit import ToolInfo
from pytest_tau.errors import ConfigurationError
from pytest_tau.language import asks_for_yes
from pytest_tau.models import AssistantMessage, Task, ToolCall, ToolMessage, UserMessage
from pytest_tau.policy import (
    Breach,
    PolicyReport,
    Rule,
    Trajectory,
    check_policy,
    confirmation,
    done_claims,
    identification,
    is_no,
    is_yes,
    load_rules,
    mentions,
    no_text_with_calls,
    nothing_unasked,
    one_call_at_a_time,
    own_records,
    read_before_write,
    stated_details,
    transfer_notice,
)
from pytest_tau.policy.check import run_rules

from . import tiny

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_tau.models import Message

TOOLS = {
    "find": ToolInfo("read", mutates=False),
    "profile": ToolInfo("read", mutates=False),
    "order": ToolInfo("read", mutates=False),
    "cancel": ToolInfo("write", mutates=True),
    "transfer_to_human_agents": ToolInfo("generic", mutates=False),
    "gift": ToolInfo("write", mutates=True),
}
HELLO = "Hi! How can I help you today?"
NOTICE = "Please hold, a person takes over."


def agent(text: str = "", *calls: ToolCall) -> AssistantMessage:
    return AssistantMessage(content=text or None, tool_calls=list(calls) or None)


def user(text: str) -> UserMessage:
    return UserMessage(content=text)


def result(value: Any, *, error: bool = False) -> ToolMessage:
    return ToolMessage(content=value if isinstance(value, str) else json.dumps(value), error=error)


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def made(name: str, /, value: Any = "ok", *, error: bool = False, **arguments: Any) -> list[Message]:
    """Return a call and its result."""
    return [agent("", call(name, **arguments)), result(value, error=error)]


def trajectory(*parts: Message | list[Message], **options: Any) -> Trajectory:
    messages = [message for part in parts for message in (part if isinstance(part, list) else [part])]
    return Trajectory.of(messages, TOOLS, **options)


def evidence(rule: Rule, found: Trajectory) -> list[tuple[int, str]]:
    return [(each.turn_number, each.evidence) for each in rule.check(found)]


FOUND = made("find", "ann_1", email="ann@x.org")
OWN = {"user_id": "ann_1", "status": "pending", "address": "1 Elm Street"}
OTHER = {"user_id": "bob_2", "status": "pending", "address": "9 Oak Street"}


# The trajectory


def test_turns_are_numbered_from_one_and_calls_have_their_results() -> None:
    found = trajectory(
        agent(HELLO),
        user("Cancel #W1"),
        [
            agent("", call("order", order_id="#W1"), call("cancel", order_id="#W1")),
            result(OWN),
            result("no", error=True),
        ],
    )
    assert [(turn.number, turn.message_idx, turn.side) for turn in found.turns] == [
        (1, 0, "assistant"),
        (2, 1, "user"),
        (3, 2, "assistant"),
    ]
    first, second = found.calls
    assert (first.turn_number, first.message_idx, first.kind, first.failed, first.value) == (3, 2, "read", False, OWN)
    assert (second.failed, second.mutates, second.value) == (True, True, "no")
    assert found.writes == (second,)
    assert found.before(second) == []
    assert [turn.text for turn in found.agent_texts(before=second)] == [HELLO]
    assert [turn.text for turn in found.user_texts(after=found.turns[0])] == ["Cancel #W1"]


def test_a_call_without_a_result_counts_as_failed_and_an_unknown_tool_has_no_kind() -> None:
    (only,) = trajectory(agent("", call("fly"))).calls
    assert (only.failed, only.kind, only.mutates, only.result, only.value) == (True, None, False, None, None)


def test_messages_and_arguments_are_copies() -> None:
    source = [agent("", call("cancel", order_id="#W1"))]
    found = Trajectory.of(source, TOOLS)
    found.calls[0].arguments["order_id"] = "changed"
    found.messages[0].tool_calls[0].arguments["order_id"] = "changed"  # type: ignore[union-attr,index]
    assert source[0].tool_calls is not None
    assert source[0].tool_calls[0].arguments == {"order_id": "#W1"}


def test_the_state_before_a_call_is_a_copy(tmp_path: Path) -> None:
    domain, task = tiny_domain(tmp_path)
    messages = [
        *made("rename", {}, item_id="lamp", name="first"),
        *made("rename", {}, item_id="lamp", name="second"),
    ]
    found = Trajectory.of(messages, domain.environment(task).tool_infos, start=lambda: domain.environment(task))
    first, second = found.calls

    def name(place: Any) -> str:
        state = found.state_before(place)
        assert state is not None
        record = state.agent_db.items["lamp"]  # type: ignore[attr-defined]
        before = str(record.name)
        record.name = "spoiled"
        return before

    assert [name(second), name(first), name(second)] == ["first", "Lamp", "first"]
    assert Trajectory.of(messages, {}).state_before(first) is None


# Wording


@pytest.mark.parametrize(
    "text", ["Yes, please.", "yes", "Sure, go ahead", "That works for me.", "No problem, proceed."]
)
def test_agreement_is_recognised(text: str) -> None:
    assert is_yes(text)


@pytest.mark.parametrize("text", ["No, thanks.", "Not yet", "It is no longer needed.", "What does it cost?", ""])
def test_anything_else_is_no_agreement(text: str) -> None:
    assert not is_yes(text)


def test_refusals_and_requests_for_agreement_are_recognised() -> None:
    assert is_no("No, wait.")
    assert not is_no("No problem, go ahead.")
    assert asks_for_yes("I will cancel it. Do you confirm? (yes/no)")
    assert not asks_for_yes("What is the order id?")


def test_a_text_mentions_whole_values_only() -> None:
    assert mentions("Order #W123, please", "#W123")
    assert mentions("order W123.", "#W123")
    assert mentions("on the First floor", "first_floor")
    assert not mentions("in 2012", "12")
    assert not mentions("anything", "")
    assert not mentions("anything", "#")


# Makers of rules, each with a conversation that keeps and one that breaks the rule


def test_one_call_at_a_time() -> None:
    rule = one_call_at_a_time("One call.")
    assert evidence(rule, trajectory(agent(HELLO), FOUND)) == []
    two = [agent("", call("find", email="x"), call("order", order_id="#W1")), result("a"), result("b")]
    assert evidence(rule, trajectory(agent(HELLO), two)) == [(2, "2 calls in one message: find, order")]


def test_no_text_with_calls() -> None:
    rule = no_text_with_calls("No text.")
    assert evidence(rule, trajectory(agent(HELLO), FOUND)) == []
    both = [agent("One moment.", call("find", email="x")), result("a")]
    assert evidence(rule, trajectory(agent(HELLO), both)) == [(2, 'with the text "One moment."')]


def test_identification() -> None:
    rule = identification("First the customer.", by=finds, guarded=["order", "cancel"])
    assert evidence(rule, trajectory(FOUND, made("order", OWN, order_id="#W1"))) == []
    assert evidence(rule, trajectory(made("order", OWN, order_id="#W1"), FOUND)) == [
        (1, "before the customer was identified")
    ]
    refused = made("find", "Error: nobody", error=True, email="x@x.org")
    assert len(evidence(rule, trajectory(refused, made("cancel", order_id="#W1")))) == 1


def finds(made: Any) -> str | None:
    return made.result if made.name == "find" else None


def owner(made: Any, _: Trajectory) -> str | None:
    return made.arguments.get("user_id") or (made.value.get("user_id") if isinstance(made.value, dict) else None)


OWN_RECORDS = own_records("Only theirs.", by=finds, owner=owner, private=["profile"])


def test_records_of_the_customer_are_their_own() -> None:
    kept = trajectory(user("ann@x.org"), FOUND, made("profile", OWN, user_id="ann_1"), made("order", OWN, order_id="1"))
    assert evidence(OWN_RECORDS, kept) == []
    assert evidence(OWN_RECORDS, trajectory(made("profile", OTHER, user_id="bob_2"))) == []  # nobody is identified


def test_a_profile_of_another_customer_is_not_read() -> None:
    found = trajectory(FOUND, made("profile", OTHER, user_id="bob_2"))
    assert evidence(OWN_RECORDS, found) == [(2, "reads the profile of bob_2; the customer is ann_1")]


def test_a_record_of_another_customer_is_not_changed() -> None:
    found = trajectory(FOUND, made("cancel", OTHER, order_id="#W9"))
    assert evidence(OWN_RECORDS, found) == [(2, "changes a record of bob_2; the customer is ann_1")]


def test_reading_another_customer_s_order_is_a_breach_once_it_is_passed_on() -> None:
    read = made("order", OTHER, order_id="#W9")
    assert evidence(OWN_RECORDS, trajectory(FOUND, read, agent("That order is not yours."))) == []
    ((turn, text),) = evidence(OWN_RECORDS, trajectory(FOUND, read, agent("It goes to 9 Oak Street.")))
    assert turn == 3
    assert "passes on 9 Oak Street of bob_2" in text


def test_a_customer_whom_the_user_names_is_a_customer_too() -> None:
    second = made("find", "bob_2", email="bob@x.org")
    later = made("cancel", OTHER, order_id="#W9")
    assert evidence(OWN_RECORDS, trajectory(FOUND, user("Or rather bob@x.org"), second, later)) == []
    assert len(evidence(OWN_RECORDS, trajectory(FOUND, second, later))) == 1


def named(made: Any, _: Trajectory) -> Iterator[tuple[str, list[Any]]]:
    yield f"order {made.arguments['order_id']}", [made.arguments["order_id"]]


def test_read_before_write() -> None:
    rule = read_before_write("Read it.", needs=named, reads=["order"])
    cancel = made("cancel", order_id="#W1")
    assert evidence(rule, trajectory(made("order", OWN, order_id="#W1"), cancel)) == []
    assert evidence(rule, trajectory(made("order", {"also": "#W1"}, order_id="#W2"), cancel)) == []
    assert evidence(rule, trajectory(made("order", OWN, order_id="#W2"), cancel)) == [
        (2, "order #W1 was not read before")
    ]
    exact = read_before_write("Read it.", needs=named, reads=["order"], exact=True)
    assert len(evidence(exact, trajectory(made("order", {"all": ["#W1"]}, order_id="#W2"), cancel))) == 1
    assert evidence(exact, trajectory(made("order", {"id": "#W1"}, order_id="#W2"), cancel)) == []
    together = [agent("", call("order", order_id="#W1"), call("cancel", order_id="#W1")), result(OWN), result("ok")]
    assert len(evidence(rule, trajectory(together))) == 1


CONFIRM = "I will cancel order #W1. Do you confirm? (yes/no)"
CANCEL = made("cancel", order_id="#W1")


@pytest.mark.parametrize(
    "talk",
    [
        [user("Cancel #W1"), agent(CONFIRM), user("Yes.")],
        [user("Cancel #W1"), agent(CONFIRM), user("Yes. What is the refund?"), agent("$5."), user("Fine, thanks.")],
        [user("Cancel #W1"), agent("I will cancel #W1 now."), user("Yes, do it.")],
    ],
)
def test_agreement_before_a_write_is_found(talk: list[Message]) -> None:
    rule = confirmation("Wait for yes.", needs=named)
    assert evidence(rule, trajectory(agent(HELLO), talk, CANCEL, made("cancel", order_id="#W1"))) == []


@pytest.mark.parametrize(
    ("talk", "why"),
    [
        ([], "the user had not said anything"),
        ([user("Yes, cancel #W1")], 'no yes before it: the user\'s last words were "Yes, cancel #W1"'),
        ([user("Cancel #W1"), agent(CONFIRM), user("No.")], 'no yes before it: the user\'s last words were "No."'),
        ([user("Cancel it"), agent("Which one?"), user("#W1")], 'no yes before it: the user\'s last words were "#W1"'),
    ],
)
def test_a_write_without_agreement_is_a_breach(talk: list[Message], why: str) -> None:
    rule = confirmation("Wait for yes.", needs=named)
    ((_, text),) = evidence(rule, trajectory(agent(HELLO), talk, CANCEL))
    assert text == why
    assert evidence(confirmation("Wait.", exempt=["cancel"]), trajectory(agent(HELLO), talk, CANCEL)) == []


def test_an_agreement_is_taken_back_by_a_refusal() -> None:
    talk = [user("Cancel #W1"), agent(CONFIRM), user("Yes."), agent("Really?"), user("No, wait.")]
    assert len(evidence(confirmation("Wait.", needs=named), trajectory(agent(HELLO), talk, CANCEL))) == 1


def test_stated_details() -> None:
    rule = stated_details("Spell it out.", needs=named)
    assert evidence(rule, trajectory(agent(CONFIRM), user("Yes"), CANCEL)) == []
    # It was agreed to earlier, or the user has named it.
    asked = [user("Cancel it"), agent(CONFIRM), user("Yes"), agent("To which card?"), user("Visa"), agent("Fine. So?")]
    assert evidence(rule, trajectory(agent(HELLO), asked, user("Go on"), CANCEL)) == []
    assert evidence(rule, trajectory(agent("Shall I?"), user("Yes, cancel #W1"), CANCEL)) == []
    ((turn, text),) = evidence(rule, trajectory(agent("I cancel #W2. Yes?"), user("Yes"), CANCEL))
    assert (turn, text) == (3, "order #W1 was not named to the user before")


def test_claims_of_changes_that_were_not_made() -> None:
    rule = done_claims("Only what is true.", ids=["order_id"])
    asked = [user("Cancel #W1"), *made("order", OWN, order_id="#W1"), agent(CONFIRM), user("Yes")]
    said = agent("Order #W1 has been cancelled.")
    assert evidence(rule, trajectory(agent(HELLO), asked, CANCEL, said)) == []
    ((turn, text),) = evidence(rule, trajectory(agent(HELLO), asked, said))
    assert (turn, text) == (6, 'says "Order #W1 has been cancelled.", and no call did so')
    refused = made("cancel", "Error", error=True, order_id="#W1")
    assert len(evidence(rule, trajectory(agent(HELLO), asked, refused, said))) == 1
    assert evidence(rule, trajectory(agent(HELLO), asked, refused, agent("That was not possible."))) == []
    # What a record shows already is no claim of a change: nobody has just agreed to one.
    assert evidence(rule, trajectory(agent(HELLO), user("What about #W1?"), said)) == []
    # A draft that is put to the user was changed, and nothing else.
    draft = "I have updated the details of #W1: the lamp only."
    assert evidence(rule, trajectory(agent(HELLO), asked, agent(f"{draft} Shall I proceed?"))) == []
    assert len(evidence(rule, trajectory(agent(HELLO), asked, agent(draft)))) == 1
    recap = "Done. As mentioned, order #W1 has been cancelled."
    for text in (recap, "No changes have been made to order #W1.", "I've added a note for the human agent."):
        assert evidence(rule, trajectory(agent(HELLO), asked, agent(text))) == []
    shown = made("order", {"id": "#W1", "status": "cancelled"}, order_id="#W1")
    assert evidence(rule, trajectory(agent(HELLO), asked, shown, said)) == []
    # It was done before the agreement, which was about something else.
    earlier = [
        user("Cancel #W1"),
        agent(CONFIRM),
        user("Yes"),
        *CANCEL,
        agent("I will order #W2. Confirm?"),
        user("Yes"),
    ]
    assert evidence(rule, trajectory(agent(HELLO), earlier, said)) == []
    both = agent("Order #W1 has been cancelled. Shall I proceed with the next one?")
    assert len(evidence(rule, trajectory(agent(HELLO), asked, both))) == 1


def test_a_transfer_is_followed_by_the_notice_and_nothing_else() -> None:
    rule = transfer_notice("Then say it.", notice=NOTICE)
    transfer = made("transfer_to_human_agents", summary="x")
    assert evidence(rule, trajectory(transfer, agent(NOTICE))) == []
    assert evidence(rule, trajectory(transfer, agent(f"`{NOTICE}`"))) == []
    assert evidence(rule, trajectory(transfer)) == []
    assert evidence(rule, trajectory(transfer, agent("Bye."))) == [(2, 'says "Bye." after the transfer')]
    assert evidence(rule, trajectory(transfer, CANCEL)) == [(2, "a call after the transfer")]
    # Another edition of a policy, which does not forbid more words.
    more, other = f"{NOTICE} I wish you a good day.", f"Say: {NOTICE}"
    assert len(evidence(rule, trajectory(transfer, agent(more), policy="Then say it."))) == 1
    assert evidence(rule, trajectory(transfer, agent(more), policy=other)) == []
    by_policy = transfer_notice("Then say it.")
    transferred = "You are being transferred to a human agent. Please wait."
    assert evidence(by_policy, trajectory(transfer, agent(f"{transferred} Bye."), policy=f"Say: {transferred}")) == []
    assert evidence(by_policy, trajectory(transfer, agent(NOTICE), policy=f"Say: {NOTICE}")) == []
    assert len(evidence(by_policy, trajectory(transfer, agent(NOTICE), policy="Say: Hold the line."))) == 1


def test_nothing_is_offered_that_was_not_asked_for() -> None:
    rule = nothing_unasked("Never.", offer=r"voucher", asked=r"voucher|compensat", tools=["gift"])
    offer = agent("I can send you a voucher.")
    assert evidence(rule, trajectory(user("Any compensation?"), offer)) == []
    assert evidence(rule, trajectory(user("I am late."), offer)) == [
        (2, 'brings up "voucher", which the user had not asked for')
    ]
    assert evidence(rule, trajectory(user("I am late."), made("gift"))) == [
        (2, 'brings up "gift", which the user had not asked for')
    ]


# Rules of a domain, and bad rules


def tiny_domain(tmp_path: Path, **fields: Any) -> tuple[Any, Task]:
    domain = tiny.make(tmp_path, **fields)
    return domain, tiny.task()


def always(found: Trajectory) -> Iterator[Breach]:
    yield found.breach(found.turns[-1], "always")


ALWAYS = Rule("always", "A sentence.", always)


def spec(rules: Any) -> DomainSpec:
    return DomainSpec("tiny", tiny.__file__, tiny.__file__, tiny.TinyDB, tiny.TinyTools, rules=rules)  # type: ignore[arg-type]


def test_rules_are_objects_or_names_of_them() -> None:
    several = f"{__name__}:SEVERAL"
    assert [rule.name for rule in load_rules(spec([ALWAYS, several]))] == ["always", "second", "third"]
    assert [rule.name for rule in load_rules(spec(several))] == ["second", "third"]
    assert load_rules(spec(())) == []


SEVERAL = [Rule("second", "A.", always), Rule("third", "B.", always)]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("nowhere.rules:RULES", "domain 'tiny': rules: cannot import 'nowhere.rules:RULES': ModuleNotFoundError"),
        ("json:RULES", "cannot import 'json:RULES': AttributeError"),
        (["json:dumps"], "expected Rule objects, or 'module:attribute' of one or of a list of them, got 'json:dumps'"),
        ([42], "expected Rule objects, or 'module:attribute' of one or of a list of them, got 42"),
        ([ALWAYS, ALWAYS], "domain 'tiny': two rules are called 'always'"),
    ],
)
def test_rules_that_cannot_be_loaded_are_refused(rules: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        load_rules(spec(rules))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (("Two Words", "A.", always), "rule 'Two Words': expected a name of lower-case words joined by hyphens"),
        (("one", " ", always), "rule 'one': expected the sentence of the policy"),
        (("one", "A.", "always"), "rule 'one': expected check(trajectory), got 'always'"),
    ],
)
def test_a_rule_has_a_name_a_sentence_and_a_function(values: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        Rule(*values)
    assert problem in str(error.value)


def endless(_: Trajectory) -> list[Breach]:
    while True:
        time.sleep(0.001)


def leaves(_: Trajectory) -> list[Breach]:
    raise SystemExit(3)


BAD = [
    (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
    (leaves, "SystemExit: 3"),
    (lambda _: None, "expected breaches, got None"),
    (lambda _: "breach", "expected breaches, got 'breach'"),
    (lambda _: [1], "expected a Breach with the number of a turn, got 1"),
    (lambda _: [Breach(99, "x")], "expected a Breach with the number of a turn, got Breach(turn_number=99"),
    (endless, "no end after 0.2 s"),
]


def test_bad_rules_are_reported_and_the_others_are_checked() -> None:
    rules = [Rule(f"bad-{number}", "A.", check) for number, (check, _) in enumerate(BAD)]  # type: ignore[arg-type]
    found = run_rules([*rules, ALWAYS], trajectory(agent(HELLO)), seconds=0.2)
    for outcome, (_, why) in zip(found, BAD, strict=False):
        assert isinstance(outcome, str)
        assert outcome.startswith(why)
    assert isinstance(found[-1], list)
    assert [each.evidence for each in found[-1]] == ["always"]


def test_a_rule_that_does_not_end_has_one_thread_for_all_conversations() -> None:
    begun, let_go = [], threading.Event()

    def slow(_: Trajectory) -> list[Breach]:
        begun.append(threading.current_thread())
        let_go.wait(10)
        return []

    rules = [Rule("slow", "A.", slow)]
    for _ in range(3):
        assert run_rules(rules, trajectory(agent(HELLO)), seconds=0.01) == ["no end after 0.01 s"]
    let_go.set()
    begun[0].join()
    assert len(begun) == 1
    assert run_rules(rules, trajectory(agent(HELLO))) == [[]]


def test_an_endless_number_of_breaches_is_cut_off() -> None:
    def many(found: Trajectory) -> Iterator[Breach]:
        while True:
            yield found.breach(found.turns[0], "again")

    (found,) = run_rules([Rule("many", "A.", many)], trajectory(agent(HELLO)))
    assert len(found) == 100


def test_what_a_task_begins_with_is_nobody_s_breach(tmp_path: Path) -> None:
    domain, _ = tiny_domain(tmp_path)
    every = Rule("every", "A.", lambda found: [found.breach(turn, "x") for turn in found.turns])
    history = [agent(HELLO), user("Hello")]
    given = tiny.task(state={"message_history": [each.model_dump(exclude_none=True) for each in history]})
    report = check_policy([*history, agent("Bye.")], given, domain, rules=[every])
    assert report is not None
    assert [each.message_idx for each in report.breaches] == [2]


def test_rules_about_the_dialogue_are_not_checked_without_one(tmp_path: Path) -> None:
    domain, task = tiny_domain(tmp_path)
    rules = [ALWAYS, Rule("talk", "A.", always, needs_dialog=True)]
    for options, checked in (({}, ("always", "talk")), ({"dialog": False}, ("always",))):
        report = check_policy([agent(HELLO)], task, domain, rules=rules, **options)  # type: ignore[arg-type]
        assert report is not None
        assert report.checked == checked
    assert check_policy([agent(HELLO)], task, domain) is None


# What is stored


def test_a_report_is_read_as_it_was_written(tmp_path: Path) -> None:
    domain, task = tiny_domain(tmp_path)
    broken = Rule("b", "A.", lambda found: [found.breach(call, "x") for call in found.calls])
    bad = Rule("bad", "A.", lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
    messages = [agent(HELLO), *made("rename", {}, item_id="lamp", name="New")]
    report = check_policy(messages, task, domain, rules=[broken, bad])
    assert report is not None
    assert report.as_dict() == {
        "score": 0.0,
        "checked": ["b"],
        "breaches": [
            {
                "rule": "b",
                "message_idx": 1,
                "call": {"name": "rename", "arguments": {"item_id": "lamp", "name": "New"}},
                "evidence": "x",
            }
        ],
        "problems": {"bad": "ZeroDivisionError: division by zero"},
    }
    again = PolicyReport.read(**json.loads(json.dumps(report.as_dict())))
    assert again == report
    assert (again.score, again.score_of("b"), again.score_of("bad"), again.counts) == (0.0, 0.0, None, {"b": 1})
    assert again.breaches[0].line() == 'message 1: rename(item_id="lamp", name="New"): x'


@pytest.mark.parametrize(
    "foreign",
    [
        *({}, {"checked": "x", "breaches": []}, {"checked": [], "breaches": [{"rule": 1}]}),
        {"checked": ["a"], "breaches": [{"rule": "a", "message_idx": 0, "call": "x"}]},
    ],
)
def test_a_report_of_another_form_is_refused(foreign: Any) -> None:
    with pytest.raises(ValueError, match=r"is not|needs a rule"):
        PolicyReport.read(**foreign)
