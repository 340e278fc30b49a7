"""The party that is probably at fault."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau import load_domain
from pytest_tau.diagnosis import Attribution, Divergence
from pytest_tau.diagnosis.attribution import RULES, annotate_failure, attribute
from pytest_tau.diagnosis.explain import explain
from pytest_tau.diagnosis.turning_point import in_brief
from pytest_tau.models import Notes, Simulation, Task, ToolCall
from pytest_tau.policy import Rule
from pytest_tau.runner import simulate
from pytest_tau.testing import ScriptedParticipant

from .blames import REFUSED, answered, blamed, graded
from .tiny import action, agent, call, check, make, task, user

if TYPE_CHECKING:
    from pytest_tau.environment import Domain

#: Of a missing call that the user had asked for by its values, and of one of which that is not known.
NOT_DONE = "it did not do what the user had asked for"
UNASKED = "a required call was not made: whether the user asked for it decides"
#: How a row of the table in the documentation begins.
RENAME = action("rename", item_id="lamp", name="L")
#: What it takes to pass: the lamp is called L.
WANTED = task({"actions": [RENAME], "reward_basis": ["DB"]})


def ended(domain: Domain, asked: str, said: str) -> Attribution:
    """Of a conversation that ends so, with the lamp not renamed."""
    return blamed(domain, WANTED, agent("Hello"), user("Call the lamp L."), agent(asked), user(said))


# Errors


@pytest.mark.parametrize(
    ("reason", "error", "party", "evidence"),
    [
        ("unexpected_error", "Traceback:\n  here\nValueError: broken", "harness", "ValueError: broken"),
        ("infrastructure_error", "ModelError: 503, try later", "provider", "ModelError: 503, try later"),
        ("unexpected_error", "ReplayError: no such call", "harness", "ReplayError: no such call"),
        ("infrastructure_error", "BudgetError: $1 is spent", "harness", "BudgetError: $1 is spent"),
        ("user_error", "IndexError: the script has ended\nand so on", "user", "IndexError: the script has ended"),
        ("user_stop", "JudgeError: no answer", "provider", "JudgeError: no answer"),
        ("user_stop", "EvaluatorError: mine failed", "harness", "EvaluatorError: mine failed"),
        ("user_stop", None, "provider", "no error message"),
    ],
)
def test_errors_are_nobodys_who_talked(domain: Domain, reason: Any, error: str, party: str, evidence: str) -> None:
    kind = error.partition(":")[0] if error else None
    found = blamed(domain, WANTED, agent("Hello"), reason=reason, error=error, grading=False, kind=kind)
    assert (found.party, found.message_idx, found.evidence) == (party, None, evidence)


def test_an_error_of_a_name_that_is_no_error_of_this_kind(domain: Domain) -> None:
    """The text of an error is not looked at: an exception of the user's code may have any name."""
    how: dict[str, Any] = {"reason": "user_error", "grading": False}
    found = blamed(domain, WANTED, agent("Hello"), error="ReplayError: my own", **how)
    assert (found.party, found.reason) == ("user", "it failed with an error")


@pytest.mark.parametrize("reason", ["agent_error", "timeout", "context_window_exceeded"])
def test_an_agent_that_broke(domain: Domain, reason: Any) -> None:
    found = blamed(domain, WANTED, agent("Hello"), reason=reason, error="KeyError: 'x'")
    assert (found.party, found.evidence) == ("agent", "KeyError: 'x'")


def test_a_budget_is_nobodys_fault(domain: Domain) -> None:
    simulation = graded(domain, WANTED, agent("Hello"), reason="infrastructure_error", error="BudgetError: it is spent")
    simulation.note_error_kind("BudgetError")
    annotate_failure(simulation, WANTED, domain)
    assert "neither side failed: the budget is spent" in [line.text for line in explain(simulation)]


# Limits


def test_side_with_most_failed_calls_is_at_fault(domain: Domain) -> None:
    mine, theirs = answered(call("fly"), "Error: a", error=True), answered(call("swim", "user"), "Error: u", error=True)
    how: dict[str, Any] = {"reason": "too_many_errors", "error": "3 failed tool calls, the limit is 3"}
    assert blamed(domain, WANTED, *mine, *theirs, *mine, **how).party == "agent"
    found = blamed(domain, WANTED, *mine, *theirs, *theirs, **how)
    assert (found.party, found.message_idx, found.evidence) == ("user", 4, "Error: u")


def test_an_agent_that_does_not_come_to_an_end(domain: Domain) -> None:
    again = [user("Hi"), agent("Hm."), user("Well?"), agent("Hm.")]
    found = blamed(domain, WANTED, *again, reason="max_steps", error="200 steps, the limit is 200")
    assert (found.party, found.evidence) == ("agent", "200 steps, the limit is 200")


def test_a_user_that_does_not_stop_although_all_is_done(domain: Domain) -> None:
    done = [
        *answered(call("rename", item_id="lamp", name="L")),
        agent("Done."),
        user("Thanks!"),
        agent("Bye."),
        user("Bye!"),
    ]
    found = blamed(domain, WANTED, *done, reason="max_steps")
    assert (found.party, found.message_idx, found.evidence) == ("user", 5, "Bye!")
    # An agent that still calls tools is the one that goes on.
    more = [*done, *answered(call("look", item_id="lamp"))]
    assert blamed(domain, WANTED, *more, reason="max_steps").party == "agent"


# How the user left


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("I can rename it. Shall I do so?", "Yes, please. ###STOP###"),
        ("Please confirm the name L (yes/no).", "I confirm. ###STOP###"),
        ("Once you confirm, I will proceed.", "Please go ahead, thank you!###STOP###"),
        ("What is your id?", "It is 7. Please proceed with it. ###TRANSFER###"),
    ],
)
def test_a_user_that_agrees_and_leaves(domain: Domain, asked: str, said: str) -> None:
    found = ended(domain, asked, said)
    assert (found.party, found.message_idx) == ("user", 3)
    assert "agreed" in found.reason
    assert asked in found.evidence
    assert said in found.evidence


@pytest.mark.parametrize(
    "asked",
    [
        "Please hold, I am looking.",
        "I will now rename the lamp.",
        "I\N{RIGHT SINGLE QUOTATION MARK}ll now do it.",
        "I will rename it right away.",
        "I will rename it now.",
        "I'll rename it for you.",
        "I am going to rename it.",
        "I\N{RIGHT SINGLE QUOTATION MARK}m renaming it now",
        "Let me rename it",
        "The lamp has been found. I will rename it right away.",
    ],
)
def test_a_user_that_leaves_when_the_agent_is_about_to_act(domain: Domain, asked: str) -> None:
    found = ended(domain, asked, "Thanks! ###STOP###")
    assert (found.party, found.message_idx) == ("user", 3)
    assert "about to act" in found.reason


def test_an_agent_that_announces_the_same_again_is_not_about_to_act(domain: Domain) -> None:
    waits = [user("Call the lamp L."), agent("I will now rename the lamp."), user("All right.")]
    found = blamed(domain, WANTED, *waits, agent("I will now rename the lamp."), user("I give up. ###STOP###"))
    assert (found.party, found.reason, found.message_idx) == ("agent", NOT_DONE, 1)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Is there nobody else?###TRANSFER###", "it asked something and ended the conversation in the same message"),
        ("Fine. ###TRANSFER###", "it ended the conversation as transferred, but the agent had not transferred it"),
        ("###OUT-OF-SCOPE###", "it ended the conversation as out of scope"),
    ],
)
def test_a_user_that_leaves_instead_of_answering(domain: Domain, said: str, reason: str) -> None:
    found = ended(domain, "Of which colour is the lamp?", said)
    assert (found.party, found.reason, found.message_idx) == ("user", reason, 3)
    assert found.evidence == (said if "asked" in reason else "Of which colour is the lamp?")


@pytest.mark.parametrize("asked", ["I am transferring you.", "If you like, a human agent takes over. Shall I?"])
def test_a_transfer_that_the_agent_spoke_of_is_the_agents(domain: Domain, asked: str) -> None:
    assert ended(domain, asked, "Yes. ###TRANSFER###").party == "agent"


def test_out_of_scope_after_a_failed_call_is_not_the_users(domain: Domain) -> None:
    failed = answered(call("look", item_id="x"), "Error: no item x", error=True)
    found = blamed(domain, WANTED, *failed, agent("Which item?"), user("###OUT-OF-SCOPE###"))
    assert (found.party, found.reason) == ("undecided", UNASKED)


SEND = task({"actions": [action("price", item_id="lamp", price=150)], "reward_basis": ["DB"]})


@pytest.mark.parametrize(
    ("wanted", "asked", "said"),
    [
        # It has refused the missing call, with these words or others, and offers something else.
        (WANTED, "That cannot be done.", "Is there nobody else?###TRANSFER###"),
        (WANTED, "I cannot rename the lamp. Shall I look for another one?", "Yes, please. ###STOP###"),
        (WANTED, "Unfortunately, renaming is not allowed. I am looking for another one now.", "Fine. ###STOP###"),
        # It was about to make another one.
        (SEND, "The price is 50. Shall I set the price to 50 for the item?", "Yes, please. ###STOP###"),
        (SEND, "I will set the 50 price now.", "Great. ###STOP###"),
    ],
)
def test_a_user_that_leaves_when_the_agent_was_not_heading_there(
    domain: Domain, wanted: Task, asked: str, said: str
) -> None:
    talk = [agent("Hello"), user("Please do it."), agent(asked), user(said)]
    expected = ("agent", REFUSED) if "cannot rename" in asked else ("undecided", UNASKED)
    found = blamed(domain, wanted, *talk)
    assert (found.party, found.reason) == expected


@pytest.mark.parametrize(
    "asked",
    [
        "Removing the desk is not possible. Shall I rename the lamp?",
        "I cannot rename the desk. Shall I rename the lamp?",
        "I cannot tell the name of the street. Which lamp?",
        "The lamp is in room 3. Shall I set the 150 price?",
    ],
)
def test_what_else_the_agent_has_refused_or_named_does_not_excuse_the_user(domain: Domain, asked: str) -> None:
    wanted = SEND if "price" in asked else WANTED
    talk = [agent("Hello"), user("Please do it."), agent(asked), user("Yes, please. ###STOP###")]
    assert blamed(domain, wanted, *talk).party == "user"


def test_what_was_refused_before_the_agent_asks_for_a_yes_is_past(domain: Domain) -> None:
    refused = [user("Call the desk D."), agent("I cannot rename the desk."), user("Then call the lamp L.")]
    asked = agent("The lamp is called L, and you get the rest at once. Do you confirm? (yes/no)")
    assert blamed(domain, WANTED, *refused, asked, user("Yes, please. ###STOP###")).party == "user"


def test_a_user_that_leaves_after_nothing_but_a_refusal(domain: Domain) -> None:
    """Nothing is to be written; the agent does not say what it should."""
    wanted = task({"communicate_info": ["42"], "reward_basis": ["COMMUNICATE"]})
    talk = [user("How many?"), agent("I cannot tell you that."), user("Is there nobody else? ###TRANSFER###")]
    assert blamed(domain, wanted, *talk).party == "undecided"
    talk[1] = agent("Which of them?")
    assert blamed(domain, wanted, *talk).party == "user"


def test_other_ids_are_another_call(domain: Domain) -> None:
    wanted = task({"actions": [action("add", item_id="HAT041", tags=["HAT202"])], "reward_basis": ["DB"]})
    said = [agent("I add HAT213. Shall I?"), user("Yes, please. ###STOP###")]
    assert blamed(domain, wanted, *said).party == "undecided"
    said = [agent("I add HAT041, not HAT213. Shall I?"), user("Yes, please. ###STOP###")]
    assert blamed(domain, wanted, *said).party == "user"


def test_an_agent_that_has_announced_it_before_and_not_done_it_was_not_about_to(domain: Domain) -> None:
    talk = [user("Call the lamp L."), agent("I will rename it right away."), user("All right.")]
    found = blamed(domain, WANTED, *talk, agent("Shall I rename it, then?"), user("Yes, go ahead. ###STOP###"))
    assert (found.party, found.reason) == ("agent", NOT_DONE)


def test_a_required_call_that_the_tool_refused(domain: Domain) -> None:
    add, rename = action("add", item_id="sofa", tags=[]), action("rename", item_id="sofa", name="L")
    wanted = task({"actions": [add, rename], "reward_basis": ["DB"]})
    refused = answered(call("rename", item_id="sofa", name="L"), "Error: no item sofa", error=True)
    added = answered(call("add", item_id="sofa", tags=[]))
    found = blamed(domain, wanted, agent("Hello"), *refused, *added, agent("It failed."), user("Pity. ###STOP###"))
    assert (found.party, found.message_idx) == ("agent", 1)
    assert found.reason == "the tool refused a required call, and it did not succeed later"
    assert "Error: no item sofa" in found.evidence
    handed = answered(call("transfer", summary="It failed."))
    after = blamed(domain, wanted, agent("Hello"), *refused, *added, *handed, user("Pity. ###STOP###"))
    assert after.reason == found.reason


def test_a_call_that_has_done_another_part_is_not_the_one_with_other_arguments(domain: Domain) -> None:
    """The first seat was taken with a detail more than in the reference; the second one is missing."""
    first, second = (action("sit", seat_id=seat, who="Ann") for seat in ("s1", "s2"))
    wanted = task({"actions": [first, second], "reward_basis": ["DB"]})
    taken = answered(call("sit", seat_id="s1", who="Ann", row=1))
    simulation = graded(domain, wanted, agent("Hello"), *taken, agent("Done."), user("Thanks. ###STOP###"))
    missing = [{"name": "sit", "arguments": each["arguments"], "requestor": "assistant"} for each in (first, second)]
    reasons = ("a call has other arguments: who chose them decides", UNASKED)
    for call_left, reason in zip(missing, reasons, strict=True):
        found = attribute(simulation, Divergence(None, "missing", call_left, "never made: sit"), wanted, domain)
        assert found is not None
        assert found.reason == reason


@pytest.mark.parametrize(
    ("absolute", "said", "party"),
    [
        (True, "I cannot rename it: names stay.", "task"),
        (True, "Hello.", "agent"),  # it has refused nothing, and the user had asked for it
        (False, "I cannot rename it: names stay.", "agent"),
    ],
)
def test_a_task_that_requires_what_the_policy_forbids(tmp_path: Path, absolute: bool, said: str, party: str) -> None:
    def renamings(trajectory: Any) -> Any:
        for each in trajectory.of_tool("rename"):
            yield trajectory.breach(each, "a new name")

    strict = make(tmp_path, rules=[Rule("names", "Names stay.", renamings, absolute=absolute)])
    (strict.folder / "policy.md").write_text("# Rules\n\nNames stay.\n", encoding="utf-8")
    talk = [user("Call the lamp L."), agent(said), user("And now?"), agent("Is there anything else?")]
    left = graded(strict, WANTED, *talk, user("No. ###STOP###"))
    annotate_failure(left, WANTED, strict)
    assert left.info.blame.party == party
    evidence = 'names: rename(item_id="lamp", name="L"): a new name'
    assert (left.info.blame.evidence == evidence) is (party == "task")


def test_a_user_that_plays_the_agent(domain: Domain) -> None:
    said = [
        agent("Hello"),
        user("It is done. Is there anything else I can help you with?"),
        agent("No."),
        user("###STOP###"),
    ]
    found = blamed(domain, WANTED, *said)
    assert (found.party, found.message_idx) == ("user", 1)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("Is there anything else I can help you with?", "No, go ahead and have a nice day. ###STOP###"),
        ("Would you like me to look for another lamp?", "No, I leave it as it is. ###STOP###"),
        ("The lamp is called L now.", "Great! ###STOP###"),
        ("It cannot be renamed.", "###STOP###"),
        ("You will receive an email.", "Great! ###STOP###"),
        ("I will rename it now. The lamp has been renamed.", "Great! ###STOP###"),
        ("I will rename it. Is there anything else?", "No. ###STOP###"),
        ("I will rename it. Is that correct?", "No, thank you. ###STOP###"),
        ("I will rename it once you have paid.", "Then not. ###STOP###"),
        ("I will send you an email.", "Great! ###STOP###"),
        ("I will be here. Let me know.", "Great! ###STOP###"),
    ],
)
def test_a_user_that_simply_ends_it_is_not_at_fault(domain: Domain, asked: str, said: str) -> None:
    found = ended(domain, asked, said)
    assert found.party != "user"
    assert found.reason in (UNASKED, NOT_DONE, REFUSED)


def test_an_agent_that_did_it_otherwise_is_shown_the_call(domain: Domain) -> None:
    otherwise = answered(call("rename", item_id="lamp", name="M"))
    found = blamed(domain, WANTED, agent("Hello"), *otherwise, agent("Done."), user("Thanks. ###STOP###"))
    assert (found.party, found.message_idx) == ("undecided", 1)
    assert found.reason == "a call has other arguments: who chose them decides"
    assert 'rename(item_id="lamp", name="M")' in found.evidence


@pytest.mark.parametrize(
    "instead", [answered(call("rename", item_id="x", name="L"), error=True), answered(call("look", item_id="lamp"))]
)
def test_what_failed_or_has_nothing_to_do_with_it_is_not_in_its_place(domain: Domain, instead: list[Any]) -> None:
    found = blamed(domain, WANTED, agent("Hello"), *instead, agent("Done."), user("Thanks. ###STOP###"))
    assert found.reason == UNASKED


def test_how_the_user_left_does_not_excuse_what_was_broken_before(domain: Domain) -> None:
    broken = answered(call("remove", item_id="desk"))
    found = blamed(domain, WANTED, *broken, agent("Shall I rename it?"), user("Yes. ###STOP###"))
    assert (found.party, found.message_idx) == ("agent", 0)


# The final state


def test_a_call_of_the_users_that_broke_the_state(domain: Domain) -> None:
    wanted = task({"actions": [], "reward_basis": ["DB"]})
    noted = answered(call("write_note", "user", note_id="n", text="x"))
    found = blamed(domain, wanted, *noted, user("###STOP###"))
    assert (found.party, found.message_idx) == ("user", 0)
    assert "notes/n could no longer be absent" in found.evidence


def test_an_agent_that_hands_the_user_over(domain: Domain) -> None:
    handed = answered(call("transfer", summary="too hard"))
    found = blamed(domain, WANTED, user("Hi"), *handed, agent("Hold on."), user("###TRANSFER###"))
    assert (found.party, found.message_idx) == ("agent", 1)
    assert "transferred the user" in found.reason
    assert 'transfer(summary="too hard")' in found.evidence


def test_a_write_that_the_user_was_to_make(domain: Domain) -> None:
    wanted = task({"actions": [action("write_note", "user", note_id="n", text="x")], "reward_basis": ["DB"]})
    found = blamed(domain, wanted, agent("Done."), user("###STOP###"))
    assert (found.party, found.reason) == ("agent", "it never asked the user to make a required call")
    found = blamed(domain, wanted, agent("Please write the note."), user("###STOP###"))
    assert found.party == "undecided"


# What leaves no trace in a state


@pytest.mark.parametrize(
    ("criteria", "reason", "evidence"),
    [
        ({"communicate_info": ["42"]}, "it did not say a required text", "never said: '42'"),
        (
            {"actions": [action("look", item_id="lamp")], "reward_basis": ["ACTION"]},
            "it did not make required calls",
            "not made: look",
        ),
        (
            {"actions": [action("read_phone", "user")], "reward_basis": ["ACTION"]},
            "it did not get the user to make a required call",
            "not made: read_phone",
        ),
        (
            {"env_assertions": [check("phone_on", "user")], "actions": [], "reward_basis": ["ENV_ASSERTION"]},
            "a check was not met",
            "ENV_ASSERTION",
        ),
    ],
)
def test_what_was_left_undone(domain: Domain, criteria: Any, reason: str, evidence: str) -> None:
    """Nothing shows whether the agent was asked for it, or could know it."""
    found = blamed(domain, task(criteria), agent("Done."), user("###STOP###"))
    assert (found.party, found.message_idx, found.evidence) == ("undecided", None, evidence)
    assert found.reason.startswith(reason)
    assert found.candidates == ("agent", "user", "task")


def test_what_passed_is_nobodys_fault(domain: Domain) -> None:
    done = graded(domain, WANTED, *answered(call("rename", item_id="lamp", name="L")), user("###STOP###"))
    assert attribute(done, None) is None
    annotate_failure(done, WANTED, domain)
    assert done.info == Notes()


def test_every_rule_says_when_it_applies() -> None:
    assert len({rule.when for rule in RULES}) == len(RULES) == len({rule.apply for rule in RULES})


# In a trial, and in the report of its failure


def test_failed_trial_has_turning_point_and_blame(domain: Domain) -> None:
    failed = simulate(
        WANTED,
        domain=domain,
        agent=ScriptedParticipant([{"tool_calls": [call("remove", item_id="desk")]}, "Done."]),
        user=ScriptedParticipant(["Hi", "###STOP###"]),
    )
    assert failed.info.blame.party == "agent"
    assert failed.info.turning_point.message_idx == failed.info.blame.message_idx == 2
    texts = [line.text for line in explain(failed)]
    assert texts[1] == (
        'turning point: message 2, agent called remove(item_id="desk"): after it, the right final state was out of reach'
    )
    assert in_brief(failed) == "wrong call remove (message 2)"
    assert "looks like the agent's fault: it made a call that the user had not asked for (message 2)" in texts
    assert Simulation.model_validate_json(failed.model_dump_json()).info == failed.info


def explained(domain: Domain, wanted: Task, *replies: Any) -> list[str]:
    """The texts of the report of a failed trial."""
    user = ScriptedParticipant(["Hi", "###STOP###"])
    failed = simulate(wanted, domain=domain, agent=ScriptedParticipant([*replies, "Done."]), user=user)
    return [line.text for line in explain(failed)]


LIGHT = action("rename", item_id="lamp", name="Light")


@pytest.mark.parametrize(
    ("criteria", "made", "lines"),
    [
        (
            {"actions": [LIGHT, action("price", item_id="lamp", price=3)], "reward_basis": ["DB"]},
            [call("look", item_id="lamp")],
            [
                'turning point: never called rename(item_id="lamp", name="Light")',
                'never called price(item_id="lamp", price=3)',
            ],
        ),
        (
            {"actions": [action("write_note", "user", note_id="n", text="x")], "reward_basis": ["DB"]},
            [],
            ['turning point: never called (by the user) write_note(note_id="n", text="x")'],
        ),
        (
            {"actions": [LIGHT], "reward_basis": ["DB"]},
            [call("rename", item_id="lamp", name="Torch")],
            [
                'turning point: not made: rename(item_id="lamp", name="Light")',
                '  nearest call, message 2: name  expected "Light"   got "Torch"',
            ],
        ),
        (
            {"communicate_info": ["42", "lamp"], "reward_basis": ["COMMUNICATE"]},
            [],
            ["never said: '42', 'lamp'"],
        ),
    ],
    ids=["calls", "of-the-user", "other-arguments", "phrases"],
)
def test_what_is_missing_is_shown_once(domain: Domain, criteria: Any, made: list[ToolCall], lines: list[str]) -> None:
    texts = explained(domain, task(criteria), *({"tool_calls": [each]} for each in made))
    shown = texts[1 : texts.index("last messages")]
    assert [text for text in shown if not text.startswith(("undecided", "looks like"))] == lines


def test_a_call_that_undoes_another_is_the_turning_point(domain: Domain) -> None:
    # The action was made, and undone: it is met, but missing in the end.
    there = {"tool_calls": [call("rename", item_id="lamp", name="Light")]}
    back = {"tool_calls": [call("rename", item_id="lamp", name="Lamp")]}
    texts = explained(domain, task({"actions": [LIGHT], "reward_basis": ["DB"]}), there, back)
    points = [text for text in texts if text.startswith("turning point: ")]
    assert points == [
        'turning point: message 4, agent called rename(item_id="lamp", name="Lamp"): after it, the right final state was '
        "out of reach"
    ]
    assert "not made" not in "".join(texts)


def test_a_call_that_repeats_another_names_it() -> None:
    once = {"action_id": "a", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Buy milk"}}
    wanted = task({"actions": [once], "reward_basis": ["DB"]})
    made = [{"tool_calls": [call(once["name"], **once["arguments"])]} for _ in range(2)]
    failed = simulate(
        wanted,
        domain=load_domain("mock"),
        agent=ScriptedParticipant([*made, "Done."]),
        user=ScriptedParticipant(["Hi", "###STOP###"]),
    )
    (point,) = (line.text for line in explain(failed) if line.text.startswith("turning point: "))
    assert point.startswith("turning point: message 4, agent called create_task(")
    assert point.endswith(") again, as in message 2: after it, the right final state was out of reach")
    assert in_brief(failed) == "repeated call create_task (message 4, as message 2)"


def test_a_trial_that_a_user_broke_has_a_blame_and_no_turning_point(domain: Domain) -> None:
    lost = simulate(
        WANTED, domain=domain, agent=ScriptedParticipant(["Hm."]), user=ScriptedParticipant([ValueError("no")])
    )
    assert lost.outcome == "error"
    assert lost.info.blame.party == "user"
    assert lost.info.turning_point is None
    assert "looks like the user's fault: it failed with an error" in [line.text for line in explain(lost)]


def test_a_passed_trial_costs_nothing(domain: Domain) -> None:
    passed = simulate(WANTED, domain=domain, agent="gold", user="gold")
    assert (passed.outcome, passed.info) == ("passed", Notes(saw_reference=("agent", "user")))


def test_evidence_that_is_nowhere_else_is_in_the_report(domain: Domain) -> None:
    left = graded(domain, WANTED, agent("Shall I rename the lamp?"), user("Yes! ###STOP###"))
    annotate_failure(left, WANTED, domain)
    told = next(line.text for line in explain(left) if line.text.startswith("looks like"))
    assert told.startswith(
        "looks like the user's fault: it agreed and ended the conversation in the same message (message 1): "
    )
    assert "Shall I rename the lamp?" in told


def test_a_domain_that_breaks_on_the_way_back_does_not_touch_the_verdict(
    domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = graded(domain, WANTED, agent("Done."), user("###STOP###"))
    verdict = failed.reward_info

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("out of order")

    monkeypatch.setattr(domain, "environment", broken)
    annotate_failure(failed, WANTED, domain)
    assert (failed.reward_info, failed.outcome) == (verdict, "failed")
    assert failed.info.turning_point_problem == "RuntimeError: out of order"
    assert failed.info.blame.party == "undecided"
    assert "turning point: not found, RuntimeError: out of order" in [line.text for line in explain(failed)]


def test_a_failure_of_gold_is_one_of_the_task_or_its_domain(domain: Domain) -> None:
    unmet = task(
        {
            "actions": [RENAME],
            "env_assertions": [check("named", item_id="lamp", name="Other")],
            "reward_basis": ["ENV_ASSERTION"],
        }
    )
    simulation = simulate(unmet, domain=domain, agent="gold", user="gold")
    assert simulation.info.blame.party == "task"
    report = "\n".join(line.text for line in explain(simulation))
    assert "looks like the task's fault: gold carries out the reference actions, so the task or its domain is" in report
    simulation.conditions = {**(simulation.conditions or {}), "changed": {"tool faults": "*:0.1"}}
    found = attribute(simulation, None)
    assert found is not None
    assert found.party == "undecided"
