"""The rules of telecom, the bank and the task lists: each fires on a conversation that breaks it, and on no other.

Every case is a conversation by hand: what is said is written here, and the results are those of the domain's tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from talks import Talk

from pytest_tau import load_domain
from pytest_tau.capabilities.policy_rules.lint import policy_texts
from pytest_tau.policy import MadeCall, Trajectory, Turn, load_rules, states

if TYPE_CHECKING:
    from pytest_tau.models import Requestor

TELECOM, BANK, MOCK = (load_domain(name) for name in ("telecom", "banking_knowledge", "mock"))
UNLOCK, CALL, GIVE = (
    "unlock_discoverable_agent_tool",
    "call_discoverable_agent_tool",
    "give_discoverable_user_tool",
)
USE = "call_discoverable_user_tool"


@pytest.mark.parametrize("name", ["airline", "banking_knowledge", "mock", "retail", "telecom"])
def test_each_rule_stands_for_a_sentence_of_the_policy(name: str) -> None:
    domain = load_domain(name)
    rules = load_rules(domain.spec)
    assert rules
    for rule in rules:
        assert any(states(rule.sentence, text) for text in policy_texts(domain)), rule.name


# Telecom


def telecom(*setup: tuple[Requestor, str, dict[str, Any]]) -> Talk:
    """A customer with two lines, who has named the second and was identified by it."""
    talk = Talk(TELECOM, *setup).user("I have a question about my line 303-555-0113.")
    return talk.call("get_customer_by_phone", phone_number="303-555-0113")


OF_LINE = {"customer_id": "C2011", "line_id": "L2102"}
READ_LINE = ("get_details_by_id", {"id": "L2102"})
READ_PLAN = ("get_details_by_id", {"id": "P2001"})


def test_a_conversation_by_the_book_of_telecom_breaks_nothing() -> None:
    talk = telecom().calls(READ_LINE).calls(READ_PLAN).call("get_data_usage", **OF_LINE)
    talk.agent("How many GB would you like? One GB costs $4.00.").user("Two, please.")
    talk.agent("2 GB cost $8.00, on your next bill. Do you confirm?").user("Yes, go ahead.")
    talk.call("refuel_data", **OF_LINE, gb_amount=2).agent("You have 2 GB more.").user("Thanks! ###STOP###")
    assert talk.breached == []


def test_one_call_at_a_time_and_no_text_next_to_it() -> None:
    assert telecom().calls(READ_LINE, READ_PLAN).breached == ["one-call"]
    assert telecom().calls(READ_LINE, text="One moment.").breached == ["no-text-with-call"]


def test_the_customer_is_identified_before_an_account_is_read() -> None:
    talk = Talk(TELECOM).user("My line 303-555-0113 is slow.").calls(READ_LINE)
    assert talk.breached == ["identification"]
    assert Talk(TELECOM).user("What is in plan P2001?").calls(READ_PLAN).breached == []


def test_the_customer_is_identified_before_technical_support() -> None:
    early = Talk(TELECOM).user("I have no service.").agent("Please look at the status bar.").phone("check_status_bar")
    assert early.breached == ["identification"]
    own_accord = Talk(TELECOM).user("I have no service.").agent("What is your phone number?").phone("check_status_bar")
    assert own_accord.breached == []
    late = telecom().agent("Please look at the status bar.").phone("check_status_bar")
    assert late.breached == []


@pytest.mark.parametrize(
    "call",
    [
        ("get_customer_by_id", {"customer_id": "C2012"}),
        ("get_details_by_id", {"id": "C2012"}),
        ("get_details_by_id", {"id": "L2103"}),
        ("get_details_by_id", {"id": "B2304"}),
        ("get_bills_for_customer", {"customer_id": "C2012"}),
    ],
    ids=lambda call: " ".join(map(str, call[1].values())),
)
def test_records_of_another_customer_stay_closed(call: tuple[str, dict[str, Any]]) -> None:
    assert telecom().calls(call).breached == ["own-records"]


def test_records_of_the_customer_are_open() -> None:
    talk = telecom().call("get_customer_by_id", customer_id="C2011").call("get_details_by_id", id="C2011")
    talk.call("get_bills_for_customer", customer_id="C2011").call("get_details_by_id", id="B2302").calls(READ_LINE)
    assert talk.breached == []


def test_a_customer_is_looked_up_by_what_the_user_has_said() -> None:
    by_name = ("get_customer_by_name", {"full_name": "Marisol Vega", "dob": "1984-03-09"})
    said = Talk(TELECOM).user("I am Marisol Vega, born on March 9, 1984.").calls(by_name)
    assert said.breached == []
    unsaid = Talk(TELECOM).user("I am Marisol Vega.").calls(by_name)
    assert unsaid.breached == ["own-records"]
    assert (
        Talk(TELECOM)
        .user("I am at (303) 555 0112.")
        .call("get_customer_by_phone", phone_number="303-555-0112")
        .breached
        == []
    )


def test_the_line_is_the_one_that_the_customer_has_named() -> None:
    right = telecom().calls(READ_LINE).call("enable_roaming", **OF_LINE)
    assert right.breached == []
    other = telecom().call("get_details_by_id", id="L2101")
    assert other.call("enable_roaming", customer_id="C2011", line_id="L2101").breached == ["named-line"]
    assert other.user("And the same for L2101.").breached == ["named-line"]
    named = telecom().user("Take L2101, please.").call("get_details_by_id", id="L2101")
    assert named.call("enable_roaming", customer_id="C2011", line_id="L2101").breached == []


def test_a_line_is_read_before_it_is_changed() -> None:
    assert "read-before-write" in telecom().user("My line is L2102.").call("enable_roaming", **OF_LINE).breached


def payment(bill_id: str, *, amount: str = "$32.00") -> Talk:
    """A customer who is asked to pay a bill, after the agent has named an amount."""
    talk = Talk(TELECOM).user("My number is 617-555-0108.").call("get_customer_by_phone", phone_number="617-555-0108")
    talk.call("get_bills_for_customer", customer_id="C2014").agent(f"Bill {bill_id} of {amount} is open.").user("Yes.")
    return talk.call("send_payment_request", customer_id="C2014", bill_id=bill_id)


def test_a_payment_is_asked_for_an_overdue_bill_whose_amount_was_stated() -> None:
    assert payment("B2311").breached == []
    assert payment("B2312").breached == ["overdue-bills-only"]
    assert payment("B2311", amount="$23.00").breached == ["bill-stated"]


def test_a_bill_is_called_paid_when_it_was_read_as_paid() -> None:
    assert payment("B2311").agent("Once the bill is paid, your line is resumed.").breached == []
    assert payment("B2311").agent("Your payment was received.").breached == ["verified-payment"]


PHONE_USER: tuple[Requestor, str, dict[str, Any]] = (
    "user",
    "set_user_info",
    {"name": "A customer", "phone_number": "617-555-0108"},
)


def test_a_line_is_resumed_once_its_bills_are_paid() -> None:
    talk = Talk(TELECOM, PHONE_USER).user("My number is 617-555-0108.")
    talk.call("get_customer_by_phone", phone_number="617-555-0108").call("get_details_by_id", id="L2107")
    talk.call("get_bills_for_customer", customer_id="C2014")
    talk.agent("Bill B2311 of $32.00 is overdue.").user("Send me the request.")
    talk.call("send_payment_request", customer_id="C2014", bill_id="B2311")
    unpaid = talk.phone("check_payment_request")
    before = list(unpaid.messages)
    unpaid.call("resume_line", customer_id="C2014", line_id="L2107")
    assert unpaid.breached == ["unpaid-bills"]

    paid = Talk(TELECOM, PHONE_USER)
    for message in before[1:]:  # the same again, and paid this time
        for call in getattr(message, "tool_calls", None) or []:
            paid.environment.call(call.name, call.arguments, call.requestor)
    paid.messages = before
    paid.phone("make_payment").call("get_details_by_id", id="B2311")
    paid.call("resume_line", customer_id="C2014", line_id="L2107").agent("Your payment was received.")
    assert paid.breached == []


def test_a_line_whose_contract_has_ended_is_never_resumed() -> None:
    talk = Talk(TELECOM).user("My number is 312-555-0119.").call("get_customer_by_phone", phone_number="312-555-0119")
    customer = talk.environment.agent_db.dump()
    owner = next(each for each in customer["customers"] if "L2116" in each["line_ids"])["customer_id"]
    talk.call("get_details_by_id", id="L2116").call("resume_line", customer_id=owner, line_id="L2116")
    assert "ended-contract" in talk.breached


def refuel(amount: float, *, asked: str, answer: str) -> Talk:
    talk = telecom().calls(READ_LINE).calls(READ_PLAN)
    return talk.agent(asked).user(answer).call("refuel_data", **OF_LINE, gb_amount=amount)


def test_data_is_bought_in_the_customer_s_amount_for_a_price_that_was_agreed_to() -> None:
    assert refuel(1, asked="One GB costs $4.00. Do you confirm?", answer="Yes, 1 GB.").breached == []
    assert refuel(1, asked="One GB?", answer="Yes, 1 GB.").breached == ["confirmation"]
    assert refuel(1, asked="One GB costs $4.00. Do you confirm?", answer="1 GB, hm.").breached == ["confirmation"]
    assert refuel(1, asked="It costs $4.00 per GB. Do you confirm?", answer="Yes.").breached == ["chosen-amount"]
    assert refuel(3, asked="Three cost $12.00. Do you confirm?", answer="Yes, 3 GB.").breached == ["refuel-limit"]


def test_a_line_is_not_suspended_to_find_a_fault() -> None:
    suspend = ("suspend_line", {**OF_LINE, "reason": "a test"})
    assert telecom().calls(READ_LINE).calls(suspend).breached == ["no-suspension"]
    wanted = telecom().user("Please suspend it while I am away.").calls(READ_LINE).calls(suspend)
    assert wanted.breached == []


TRANSFER = ("transfer_to_human_agents", {"summary": "A problem."})
NOTICE = "ONE MOMENT PLEASE, A HUMAN AGENT TAKES OVER FROM HERE."
USER: tuple[Requestor, str, dict[str, Any]] = (
    "user",
    "set_user_info",
    {"name": "Marisol Vega", "phone_number": "303-555-0113"},
)


@pytest.mark.parametrize(
    ("name", "problem", "left"),
    [
        ("turn_airplane_mode_on", "I have no service.", "airplane mode is still on"),
        ("unseat_sim_card", "I have no service.", "the SIM card is still missing"),
        ("turn_data_off", "My internet does not work.", "mobile data is still off"),
        ("turn_data_saver_mode_on", "My internet is slow.", "data saver is still on"),
        ("break_apn_mms_setting", "I cannot send a picture message.", "the address of the MMS centre is still missing"),
    ],
)
def test_a_transfer_comes_after_what_the_policy_offers(name: str, problem: str, left: str) -> None:
    talk = telecom(USER, ("user", name, {})).user(problem).calls(READ_LINE).calls(TRANSFER).agent(NOTICE)
    (breach,) = talk.report().breaches
    assert (breach.rule, breach.evidence) == ("transfer", left)


@pytest.mark.parametrize("problem", ["I want to change my plan.", "I want to buy a bicycle."])
def test_a_transfer_of_what_is_beyond_the_agent_is_allowed(problem: str) -> None:
    talk = Talk(TELECOM, USER, ("user", "turn_airplane_mode_on", {})).user(f"I am at 303-555-0113. {problem}")
    assert talk.calls(TRANSFER).agent(NOTICE).breached == []


def test_a_transfer_of_what_has_no_remedy_is_allowed_once_it_was_seen() -> None:
    locked = telecom(USER, ("user", "lock_sim_card", {"mode": "pin"})).user("I have no service.").calls(READ_LINE)
    unseen = [*locked.messages]
    assert locked.calls(TRANSFER).breached == ["transfer"]
    seen = telecom(USER, ("user", "lock_sim_card", {"mode": "pin"}))
    seen.messages = unseen
    assert seen.agent("Please check the SIM.").phone("check_sim_status").calls(TRANSFER).breached == []


def test_a_transfer_is_announced_in_the_words_of_the_policy() -> None:
    assert telecom(USER).user("I want another plan.").calls(TRANSFER).agent("Good luck!").breached == [
        "transfer-notice"
    ]


def test_an_agent_that_works_alone_is_not_asked_for_words() -> None:
    talk = Talk(TELECOM).call("get_customer_by_phone", phone_number="303-555-0113").calls(READ_LINE)
    talk.call("enable_roaming", **OF_LINE)
    found = talk.report(dialog=False)
    assert not found.breaches
    assert "identification" not in found.checked


# The bank


CUSTOMER = next(iter(BANK.environment().agent_db.dump()["users"]["data"].values()))
TIME = "2025-11-14 03:40:00 EST"
PROOF = {key: CUSTOMER[key] for key in ("name", "user_id", "address", "email", "phone_number", "date_of_birth")}
STRANGER = "Amanda Robertson"


def bank(*, said: str = "{name}, born on {date_of_birth}, phone {phone_number}.", **log: str) -> Talk:
    """A customer who proves who they are, and is verified."""
    talk = (
        Talk(BANK).user("I misplaced my debit card.").call("KB_search", query="freeze a debit card that is misplaced")
    )
    talk.call("KB_search", query="bank accounts of a customer, ids, balances")
    talk.agent("Who are you?").user("I am " + said.format(**CUSTOMER))
    talk.call("get_user_information_by_name", customer_name=CUSTOMER["name"]).call("get_current_time")
    return talk.call("log_verification", **{**PROOF, "time_verified": TIME, **log})


ACCOUNTS = "get_all_user_accounts_by_user_id_3847"
FREEZE = "freeze_debit_card_3892"


def test_a_conversation_by_the_book_of_the_bank_breaks_nothing() -> None:
    talk = bank().call(UNLOCK, agent_tool_name=ACCOUNTS).hidden(ACCOUNTS, user_id=CUSTOMER["user_id"])
    talk.agent("I will freeze your debit card. Do you confirm?").user("Yes, please.")
    talk.call(UNLOCK, agent_tool_name=FREEZE).hidden(FREEZE, card_id="dbc_1").agent("Done.").user("Bye. ###STOP###")
    assert talk.breached == []


@pytest.mark.parametrize(
    "said", ["{name}.", "{name}, phone {phone_number}.", "Somebody, born on {date_of_birth}, phone {phone_number}."]
)
def test_a_customer_gives_the_name_and_two_proofs(said: str) -> None:
    assert "identification" in bank(said=said).breached


@pytest.mark.parametrize("said", ["{name}, {email}, phone {phone_number}.", "{name}, I live at {address}, {email}"])
def test_any_two_proofs_are_enough(said: str) -> None:
    assert bank(said=said).breached == []


def test_records_are_read_after_the_verification() -> None:
    talk = Talk(BANK).user("What do I owe?").call("get_credit_card_accounts_by_user", user_id=CUSTOMER["user_id"])
    assert talk.breached == ["identification"]


def test_the_verification_is_logged_once_with_the_values_of_the_record() -> None:
    assert bank(time_verified="2025-11-14").breached == []
    assert bank(time_verified="today").breached == ["verification-log"]
    assert bank(email="other@example.com").breached == ["verification-log"]
    assert bank().call("log_verification", **PROOF, time_verified=TIME).breached == ["verification-log"]


def test_the_bank_shows_nobody_else_s_records() -> None:
    assert bank().call("get_user_information_by_name", customer_name=STRANGER).breached == ["own-records"]
    assert bank().call("get_referrals_by_user", user_id="38f40d3f54x").breached == ["own-records"]
    assert bank().call("get_user_information_by_id", user_id=CUSTOMER["user_id"]).breached == []


@pytest.mark.parametrize(("answer", "breached"), [("Yes, please.", []), ("What else?", ["confirmation"])])
def test_the_bank_changes_nothing_without_a_yes(answer: str, breached: list[str]) -> None:
    talk = bank().agent("I will freeze your debit card. Do you confirm?").user(answer)
    assert talk.call(UNLOCK, agent_tool_name=FREEZE).hidden(FREEZE, card_id="dbc_1").breached == breached


def test_reading_by_a_hidden_tool_needs_no_yes() -> None:
    talk = bank().call(UNLOCK, agent_tool_name=ACCOUNTS).hidden(ACCOUNTS, user_id=CUSTOMER["user_id"])
    assert talk.breached == []


def test_hidden_tools_are_named_by_documents_unlocked_and_used() -> None:
    assert bank().call(UNLOCK, agent_tool_name=FREEZE).breached == ["needed-tools"]
    assert bank().agent("I will freeze it. Do you confirm?").user("Yes.").hidden(FREEZE, card_id="dbc_1").breached == [
        "unlocked-tools"
    ]
    guessed = Talk(BANK).user("Hello.").call(UNLOCK, agent_tool_name=FREEZE)
    assert guessed.breached == ["documented-tools", "needed-tools"]


def test_the_customer_is_asked_to_use_a_tool_that_was_given() -> None:
    search = bank().call("KB_search", query="refer people share a link get_referral_link")
    given = search.call(GIVE, discoverable_tool_name="get_referral_link")
    assert given.agent("Is there anything else?").breached == ["given-tools"]
    assert given.agent("Please call get_referral_link.").breached == []


DISPUTE, CLOSE = "file_debit_card_transaction_dispute_6281", "close_debit_card_4721"


def made(name: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return name, arguments


def broken(rule: str, *calls: tuple[str, dict[str, Any]], used: str | None = None) -> list[int]:
    """The turns at which calls break a rule of the bank, each in a turn of its own; the user calls a tool at the end."""
    listed = [MadeCall(n, n, "assistant", *call, "done", False, "write", True) for n, call in enumerate(calls, 1)]
    turns = [Turn(call.turn_number, call.message_idx, "assistant", "", (call,)) for call in listed]
    if used:
        call = MadeCall(99, 99, "user", USE, {"discoverable_tool_name": used}, "done", False, "write", True)
        turns.append(Turn(99, 99, "user", "", (call,)))
    (checked,) = [each for each in load_rules(BANK.spec) if each.name == rule]
    return [breach.turn_number for breach in checked.check(Trajectory(tuple(turns)))]


@pytest.mark.parametrize(
    ("action", "others", "kept"),
    [
        ("keep_active", [], True),
        ("close_and_reissue", [], False),
        ("close_and_reissue", [made(CLOSE, card_id="c1", reason="lost")], True),
        ("close_and_reissue", [made(CLOSE, card_id="c2", reason="lost")], False),
        ("freeze_pending_investigation", [made(FREEZE, card_id="c1")], True),
        ("freeze_pending_investigation", [made(CLOSE, card_id="c1", reason="lost")], True),
        ("close_and_reissue", [made(FREEZE, card_id="c1")], False),
    ],
)
def test_the_card_action_of_a_dispute_is_carried_out(action: str, others: list[Any], kept: bool) -> None:
    assert broken("card-action", made(DISPUTE, card_id="c1", card_action=action), *others) == ([] if kept else [1])


SUBMIT, HISTORY, APPROVE = (
    "submit_credit_limit_increase_request_7392",
    "get_credit_limit_increase_history_4829",
    "approve_credit_limit_increase_5847",
)


@pytest.mark.parametrize(
    ("accounts", "breached"), [(("a", "a", "a"), []), (("a", "b", "a"), [3]), (("b", "a", "a"), [3])]
)
def test_a_limit_is_decided_after_the_steps_for_that_card(accounts: tuple[str, ...], breached: list[int]) -> None:
    steps = [
        made(name, credit_card_account_id=account)
        for name, account in zip((SUBMIT, HISTORY, APPROVE), accounts, strict=True)
    ]
    assert broken("limit-steps", *steps) == breached


def test_interest_that_is_corrected_is_reported() -> None:
    credit = made("apply_savings_account_credit_6831", account_id="s1", credit_type="interest_correction")
    report = made("submit_interest_discrepancy_report_7294", account_id="s1")
    assert broken("interest-report", credit) == [1]
    assert broken("interest-report", credit, report) == broken("interest-report", report, credit) == []
    refund = made("apply_savings_account_credit_6831", account_id="s1", credit_type="fee_refund")
    assert broken("interest-report", refund) == []


@pytest.mark.parametrize(("used", "breached"), [(None, [1]), ("other_tool", [1]), ("get_referral_link", [])])
def test_a_tool_that_is_given_is_used(used: str | None, breached: list[int]) -> None:
    given = made(GIVE, discoverable_tool_name="get_referral_link")
    assert broken("given-tools", given, used=used) == breached


def test_an_email_is_changed_after_its_document_was_read() -> None:
    change = ("change_user_email", {"user_id": CUSTOMER["user_id"], "new_email": "new@example.com"})
    asked = "I will change your email address to new@example.com. Do you confirm?"
    assert bank().agent(asked).user("Yes.").calls(change).breached == ["documents-first"]
    read = bank().call("KB_search", query="change the email address of the profile change_user_email")
    assert read.agent(asked).user("Yes.").calls(change).breached == []


@pytest.mark.parametrize(("said", "breached"), [("I am stuck.", ["transfer"]), ("Let me talk to a human agent.", [])])
def test_the_bank_transfers_who_wants_it(said: str, breached: list[str]) -> None:
    assert Talk(BANK).user(said).calls(TRANSFER).breached == breached


def test_the_bank_transfers_for_a_reason_that_a_document_gives() -> None:
    search = ("KB_search", {"query": "matters belong to a person: death of an account holder"})
    transfer = ("transfer_to_human_agents", {"summary": "A death.", "reason": "deceased_account_holder"})
    assert Talk(BANK).user("My father died.").calls(search).calls(transfer).breached == []
    assert Talk(BANK).user("My father died.").calls(transfer).breached == ["transfer"]


# The task lists


@pytest.mark.parametrize(
    ("call", "breached"),
    [
        (("create_task", {"user_id": "user_1", "title": "Tea"}), []),
        (("create_task", {"user_id": "nobody", "title": "Tea"}), ["existing-users"]),
        (("create_task", {"user_id": "user_1", "title": " "}), ["titles"]),
        (("update_task_status", {"task_id": "task_1", "status": "completed"}), []),
        (("update_task_status", {"task_id": "task_1", "status": "done"}), ["statuses"]),
    ],
    ids=str,
)
def test_the_task_lists(call: tuple[str, dict[str, Any]], breached: list[str]) -> None:
    assert Talk(MOCK).user("Please do it.").calls(call).agent("Done.").breached == breached


def test_who_wants_a_task_deleted_is_handed_over() -> None:
    asked = Talk(MOCK).user("Please delete the task task_1.")
    assert asked.agent("I cannot do that.").breached == ["deletion"]
    assert asked.calls(TRANSFER).breached == []
