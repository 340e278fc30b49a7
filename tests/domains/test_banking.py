"""The bank: what hidden tools, their logs and their texts do, on a small database."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import pytest_tau
from pytest_tau.environment import Domain, Environment
from pytest_tau.models import parse_task
from pytest_tau_domains.banking_knowledge import domain
from pytest_tau_domains.banking_knowledge.query import query
from pytest_tau_domains.banking_knowledge.tables import BankDB

USERS = {
    "u1": {"name": "Ada Berg", "user_id": "u1", "email": "ada@example.com"},
    "123": {"name": "Bo Lind", "user_id": "123", "email": "bo@example.com"},
}
ACCOUNTS = {
    "chk": {"account_id": "chk", "user_id": "u1", "class": "checking", "level": "Blue Account", "status": "OPEN"},
    "sav": {"account_id": "sav", "user_id": "u1", "class": "saving", "level": "Gold Account", "status": "OPEN"},
}
HOLDINGS = {"date_opened": "11/01/2025", "current_holdings": "100.00"}
CARD = {"account_id": "cc", "user_id": "u1", "current_balance": "$1,038.52", "credit_limit": "$1,000.00"}
PAYMENTS = {
    "p1": {"payment_date": "12/01/2024", "amount": "$1", "status": "ON_TIME"},
    "p2": {"payment_date": "01/01/2025", "amount": "$2", "status": "LATE"},
}
DATA = {
    "users": {"data": USERS, "notes": "People."},
    "accounts": {"data": {key: {**each, **HOLDINGS} for key, each in ACCOUNTS.items()}},
    "credit_card_accounts": {"data": {"cc": CARD}},
    "payment_history": {"data": {key: {"credit_card_account_id": "cc", **each} for key, each in PAYMENTS.items()}},
    "bank_account_transaction_history": {
        "data": {
            "t1": {"account_id": "chk", "date": "12/01/2024"},
            "t2": {"account_id": "chk", "date": "01/01/2025"},
            "t3": {"account_id": "chk", "date": "unknown"},
        }
    },
}


@pytest.fixture
def bank(tmp_path: Path) -> Domain:
    (tmp_path / "db.json").write_text(json.dumps(DATA), encoding="utf-8")
    shutil.copytree(domain.folder / "prompts", tmp_path / "prompts")
    return Domain(domain, tmp_path, tmp_path)


@pytest.fixture
def environment(bank: Domain) -> Environment:
    return bank.environment()


def call(environment: Environment, name: str, /, requestor: Any = "assistant", **arguments: Any) -> str:
    answer = environment.call(name, arguments, requestor)
    assert not answer.error, answer.content
    return answer.content or ""


def unlock(environment: Environment, name: str) -> None:
    assert call(environment, "unlock_discoverable_agent_tool", agent_tool_name=name).startswith(
        f"Tool unlocked: {name}"
    )


def use(environment: Environment, name: str, /, **arguments: Any) -> str:
    """Unlock a tool and call it."""
    unlock(environment, name)
    return call(environment, CALL, agent_tool_name=name, arguments=json.dumps(arguments))


def table(environment: Environment, name: str) -> dict[str, Any]:
    found: dict[str, Any] = environment.agent_db.dump()[name]["data"]
    return found


CALL = "call_discoverable_agent_tool"
GIVE = "give_discoverable_user_tool"
DEPOSIT = {"account_id": "chk", "check_amount": 25}


def logged(environment: Environment, name: str = "agent_discoverable_tools") -> list[str]:
    return [record["tool_name"] for record in table(environment, name).values()]


def action(name: str, **arguments: Any) -> dict[str, Any]:
    return {"action_id": name, "name": name, "arguments": arguments}


def a_task(*actions: dict[str, Any], **parts: Any) -> Any:
    criteria = {"actions": list(actions), "reward_basis": ["DB"]}
    return parse_task({"id": "t", "user_scenario": {"instructions": "x"}, "evaluation_criteria": criteria, **parts})


# The database


def test_notes_are_part_of_the_dump_and_of_the_hash(environment: Environment) -> None:
    other = environment.fork()
    other.agent_db.users.notes = "Others."  # type: ignore[attr-defined]
    assert other.dump()["agent"]["users"] == {"data": USERS, "notes": "Others."}
    assert other.dump()["agent"]["debit_cards"] == {"data": {}, "notes": ""}
    assert other.agent_db.digest() != environment.agent_db.digest()
    assert not other.agent_db.equals(environment.agent_db)
    assert [change.path for change in environment.agent_db.changes(other.agent_db)] == ["users (notes)"]


def test_unknown_tables_are_refused_and_other_keys_of_tables_dropped() -> None:
    assert BankDB.model_validate({"users": {"data": {}, "remark": 1}}).dump()["users"] == {"data": {}, "notes": ""}
    with pytest.raises(ValueError, match="user_list"):
        BankDB.model_validate({"user_list": {"data": {}}})


def test_initial_data_is_merged_field_by_field_for_both_sides(bank: Domain) -> None:
    added = {"users": {"data": {"u1": {"email": "new@example.com", "phone_number": "1"}, "u2": {"name": "Cy"}}}}
    data = {"initialization_data": {"agent_data": added}}
    environment = bank.environment(a_task(initial_state=data))
    assert table(environment, "users")["u1"] == {**USERS["u1"], "email": "new@example.com", "phone_number": "1"}
    assert list(table(environment, "users")) == ["u1", "123", "u2"]
    assert environment.user_db is environment.agent_db
    assert environment.dump()["agent"]["users"]["notes"] == "People."


def test_a_shared_database_is_compared_once(bank: Domain) -> None:
    one, other = bank.environment(), bank.environment()
    assert [side for side, _, _ in one.databases_with(other)] == ["agent"]
    copy = one.fork()
    assert copy.shared_db
    assert copy.agent_db is not one.agent_db


# Queries


def test_values_of_any_type_are_compared_as_text(environment: Environment) -> None:
    assert "Record ID: 123" in call(environment, "get_user_information_by_id", user_id=123)
    assert "No records found" in call(environment, "get_user_information_by_id", user_id=123.0)
    assert "No records found" in call(environment, "get_user_information_by_id", user_id=None)


def test_a_quote_breaks_or_extends_a_query(environment: Environment) -> None:
    assert call(environment, "get_user_information_by_id", user_id='a"b').startswith("Error: Invalid JSON: ")
    both = '123", "name__contains": "{}'
    assert "Bo Lind" in call(environment, "get_user_information_by_id", user_id=both.format("Lind"))
    assert "No records" in call(environment, "get_user_information_by_id", user_id=both.format("Ada"))
    for name in ("db", "db_name"):
        clash = call(environment, "get_user_information_by_id", user_id=f'123", "{name}": "x')
        assert clash.startswith("Error querying database: ")
    assert "Bo Lind" in call(environment, "get_user_information_by_id", user_id='123", "limit": "x')


@pytest.mark.parametrize(
    ("constraint", "found"),
    [
        ('"name__startswith": "Ada"', ["u1"]),
        ('"name__endswith": "Lind"', ["123"]),
        ('"name__ne": "Ada Berg"', ["123"]),
        ('"name__gt": "B"', ["123"]),
        ('"name__in": ["Ada Berg"]', ["u1"]),
        ('"name__nin": ["Ada Berg"]', ["123"]),
        ('"name__gt": 5', []),
        ('"phone__contains": "1"', []),
        ('"phone": null', ["u1", "123"]),
        ('"name__like": "Ada Berg"', ["u1"]),
    ],
)
def test_operators_of_queries(environment: Environment, constraint: str, found: list[str]) -> None:
    db = environment.agent_db
    text = query(db, "users", "email__contains", f'example.com", {constraint}, "email__ne": "')  # type: ignore[arg-type]
    assert [key for key in USERS if f"Record ID: {key}" in text] == found


def test_the_text_of_records_has_an_empty_line_before_each(environment: Environment) -> None:
    text = call(environment, "get_user_information_by_name", customer_name="Ada Berg")
    fields = "\n".join(f"   {name}: {value}" for name, value in USERS["u1"].items())
    assert text == f"Found 1 record(s) in 'users':\n\n1. Record ID: u1\n{fields}\n"


def test_an_error_of_a_query_counts_as_a_record(environment: Environment) -> None:
    order = {"user_id": "u1", "shipping_address": "x", "reason": "lost"}
    assert "Order ID: ccord_" in use(
        environment, "order_replacement_credit_card_7291", credit_card_account_id='no"ne', **order
    )
    assert list(table(environment, "credit_card_accounts")) == ["cc"]
    name = "close_credit_card_account_7834"
    assert use(environment, name, credit_card_account_id='no"ne', user_id="u1").startswith("Error: Failed to close")


# Wrappers


def test_a_tool_must_be_unlocked_and_unlocking_changes_no_database(environment: Environment) -> None:
    arguments = {"agent_tool_name": "example_agent_tool_0000"}
    before = environment.agent_db.digest()
    assert "has not been unlocked" in call(environment, CALL, **arguments)
    unlock(environment, "example_agent_tool_0000")
    assert environment.agent_db.digest() == before
    assert environment.mutates("unlock_discoverable_agent_tool", "assistant")
    assert call(environment, CALL, **arguments) == "Example tool executed successfully."
    assert logged(environment) == ["example_agent_tool_0000"]


def test_a_copy_has_what_was_unlocked_and_nothing_that_is_unlocked_later(environment: Environment) -> None:
    unlock(environment, "example_agent_tool_0000")
    copy = environment.fork()
    unlock(environment, "initial_transfer_to_human_agent_0218")
    assert call(copy, CALL, agent_tool_name="example_agent_tool_0000").startswith("Example")
    assert "not been unlocked" in call(copy, CALL, agent_tool_name="initial_transfer_to_human_agent_0218")


def test_a_refused_write_is_logged_and_a_wrong_argument_is_not(environment: Environment) -> None:
    assert use(environment, "freeze_debit_card_3892", card_id="none") == "Error: Debit card 'none' not found."
    assert logged(environment) == ["freeze_debit_card_3892"]
    for arguments in ({}, {"card_id": "x", "a": 1}, {"card_id": ["x"]}):
        text = use(environment, "unfreeze_debit_card_3893", **arguments)
        assert text.startswith("Error: Invalid arguments: ")
    wrong = call(environment, CALL, agent_tool_name="unfreeze_debit_card_3893", arguments="[]")
    assert wrong.startswith("Error: Invalid arguments: ")
    assert logged(environment) == ["freeze_debit_card_3892"]


def test_reads_are_logged_only_if_the_task_s_reference_actions_make_them(bank: Domain) -> None:
    name = "get_user_dispute_history_7291"
    task = a_task(action(CALL, agent_tool_name=name, arguments="{}"))
    for environment in (bank.environment(task), bank.environment(task, replay_history=False)):
        use(environment, name, user_id="u1")
        use(environment, "get_debit_dispute_status_7483", user_id="u1")
        assert logged(environment.fork()) == [name]
    environment = bank.environment()
    use(environment, name, user_id="u1")
    assert logged(environment) == []


def test_integers_become_floats_in_calls_and_not_when_given(environment: Environment) -> None:
    text = call(environment, GIVE, discoverable_tool_name="deposit_check_3847", arguments=json.dumps(DEPOSIT))
    assert '"check_amount": 25\n' in text
    name = "call_discoverable_user_tool"
    arguments = {"discoverable_tool_name": "deposit_check_3847", "arguments": json.dumps(DEPOSIT)}
    assert '"check_amount": 25.0\n' in call(environment, name, "user", **arguments)
    assert '"check_amount": 25\n' in call(environment, "deposit_check_3847", "user", **DEPOSIT)
    assert table(environment, "accounts")["chk"]["current_holdings"] == "$150.00"
    calls = table(environment, "user_discoverable_tool_calls").values()
    assert [each["arguments"]["check_amount"] for each in calls] == [25.0, 25]


@pytest.mark.parametrize("arguments", [{"user_id": "u1"}, None, 5])
def test_arguments_that_are_no_text_are_an_error(environment: Environment, arguments: Any) -> None:
    unlock(environment, "get_user_dispute_history_7291")
    given = {"agent_tool_name": "get_user_dispute_history_7291", "arguments": arguments}
    assert environment.call(CALL, given).error
    assert environment.call(GIVE, {"discoverable_tool_name": "get_referral_link", "arguments": arguments}).error
    bad = call(environment, CALL, agent_tool_name="get_user_dispute_history_7291", arguments="{")
    assert bad.startswith("Error: Invalid JSON in arguments: ")


def test_what_cannot_be_written_is_escaped_before_it_is_stored(environment: Environment) -> None:
    environment.agent_db.credit_card_transaction_history["t"] = {}  # type: ignore[attr-defined]
    name = "update_transaction_rewards_3847"
    assert "updated" in use(environment, name, transaction_id="t", new_rewards_earned="\ud800")
    assert table(environment, "credit_card_transaction_history")["t"] == {"rewards_earned": "\\ud800"}
    deep = {"agent_tool_name": name, "arguments": "[" * 200 + "]" * 200}
    assert environment.call(CALL, deep).error


def test_hidden_tools_answer_to_their_names_without_unlock_and_without_log(environment: Environment) -> None:
    assert call(environment, "example_agent_tool_0000").startswith("Example")
    assert call(environment, "get_card_last_4_digits", "user", credit_card_account_id="cc").startswith("Error: Tool")
    assert logged(environment) == []
    assert environment.call("example_agent_tool_0000", {}, "user").error
    offered = [tool.name for side in ("assistant", "user") for tool in environment.tools(side)]  # type: ignore[arg-type]
    assert offered[0] == "KB_search"
    assert len(offered) == 21
    assert not {"example_agent_tool_0000", "get_card_last_4_digits"} & set(offered)


def test_a_read_of_the_user_is_logged_and_is_not_replayed_under_its_own_name(environment: Environment) -> None:
    call(environment, GIVE, discoverable_tool_name="get_card_last_4_digits")
    assert "Last 4 digits" in call(environment, "get_card_last_4_digits", "user", credit_card_account_id="cc")
    assert logged(environment, "user_discoverable_tool_calls") == ["get_card_last_4_digits"]
    assert not environment.mutates("get_card_last_4_digits", "user")


def test_a_conversation_in_which_the_user_makes_such_a_read_is_graded() -> None:
    name = "get_card_last_4_digits"
    gives = {"tool_calls": [{"name": GIVE, "arguments": {"discoverable_tool_name": name}}]}
    reads = {"tool_calls": [{"name": name, "arguments": {"credit_card_account_id": "cc"}}]}
    requests = {"tool_calls": [{"name": "request_human_agent_transfer", "arguments": {}}]}
    said, answers = iter(["Hello.", reads, requests, "###STOP###"]), iter([gives, "Read the digits."])
    criteria = {
        "actions": [
            {"action_id": "give", "name": GIVE, "arguments": {"discoverable_tool_name": name}},
            {"action_id": "transfer", "requestor": "user", "name": "request_human_agent_transfer", "arguments": {}},
        ],
        "reward_basis": ["DB"],
    }
    simulation = pytest_tau.simulate(
        a_task(evaluation_criteria=criteria),
        domain=pytest_tau.load_domain("banking_knowledge"),
        agent=lambda messages, tools: next(answers),
        user=lambda messages, tools: next(said),
    )
    assert (simulation.error, simulation.reward) == (None, 1)


def test_lists_show_logs_also_when_they_are_empty(environment: Environment) -> None:
    assert call(environment, "list_discoverable_agent_tools") == (
        "Your called agent tools:\nNo records found in 'agent_discoverable_tools'."
    )
    call(environment, GIVE, discoverable_tool_name="get_referral_link")
    assert "tool_name: get_referral_link" in call(environment, "list_discoverable_user_tools", "user")


# Traps of single tools


def test_a_debit_card_cannot_be_ordered_from_holdings_with_a_currency_sign(environment: Environment) -> None:
    order = {
        "account_id": "chk",
        "user_id": "u1",
        "delivery_option": "rush",
        "delivery_fee": 15,
        "card_design": "classic",
    }
    order |= {"design_fee": 0, "shipping_address": "x"}
    credit = {"account_id": "chk", "amount": 5, "credit_type": "fee_refund"}
    rich = environment.fork()
    assert "Total Fees: $15.00 (Delivery: $15.0) - CHARGED" in use(rich, "order_debit_card_5739", **order)
    assert table(rich, "accounts")["chk"]["current_holdings"] == "85.00"
    (fee,) = (
        each for key, each in table(rich, "bank_account_transaction_history").items() if key.startswith("btxn_dc")
    )
    assert (fee["description"], fee["amount"]) == ("DEBIT CARD ORDER FEE - Delivery $15.0", -15.0)
    use(environment, "apply_checking_account_credit_5829", **credit)
    assert table(environment, "accounts")["chk"]["current_holdings"] == "$105.00"
    assert "minimum balance of $25. Current balance: $0.00" in use(environment, "order_debit_card_5739", **order)


def test_savings_credits_are_written_without_a_sign_and_repeat(environment: Environment) -> None:
    credit = {"account_id": "sav", "amount": 5, "credit_type": "goodwill_credit"}
    for held in ("105.00", "110.00"):
        assert use(environment, "apply_savings_account_credit_6831", **credit).startswith("\nCredit applied")
        assert table(environment, "accounts")["sav"]["current_holdings"] == held
    assert sum(key.startswith("txn_") for key in table(environment, "bank_account_transaction_history")) == 1


def test_payments_are_sorted_by_text_and_transactions_by_date(environment: Environment) -> None:
    text = use(environment, "get_payment_history_6183", credit_card_account_id="cc", months=5)
    assert text.index("12/01/2024") < text.index("01/01/2025")
    assert "(last 5 months):\nConsecutive on-time payments: 1\n\n  - Payment Date: 12/01/2024" in text
    text = use(environment, "get_bank_account_transactions_9173", account_id="chk")
    assert text.index("Record ID: t2") < text.index("Record ID: t1") < text.index("Record ID: t3")


def test_new_accounts_have_other_fields_than_those_of_the_file(environment: Environment) -> None:
    opened = {"user_id": "nobody", "account_type": "checking", "account_class": "Blue Account"}
    assert "Bank account opened" in use(environment, "open_bank_account_4821", **opened)
    (key,) = table(environment, "accounts").keys() - ACCOUNTS.keys()
    assert {"account_type": "checking", "account_class": "Blue Account"}.items() <= table(environment, "accounts")[
        key
    ].items()
    assert "not a checking account" in use(environment, "get_debit_cards_by_account_id_7823", account_id=key)
    assert use(environment, "open_bank_account_4821", **opened).startswith("Failed to open account")


@pytest.mark.parametrize(
    ("opened", "account_type", "eligible"),
    [
        ("10/31/2025", "savings", True),
        ("11/01/2025", "savings", False),
        ("x", "savings", False),
        ("x", "checking", True),
    ],
)
def test_eligibility_depends_on_the_age_of_a_checking_account(
    bank: Domain, opened: str, account_type: str, eligible: bool
) -> None:
    data = {"accounts": {"data": {"chk": {"date_opened": opened}}}}
    environment = bank.environment(a_task(initial_state={"initialization_data": {"agent_data": data}}))
    account = {"user_id": "u1", "account_type": account_type, "account_class": "Gold Account"}
    assert ("opened" in use(environment, "open_bank_account_4821", **account)) == eligible


def test_closing_early_takes_exactly_the_fee_except_for_savings(environment: Environment) -> None:
    environment.agent_db.accounts["chk"]["current_holdings"] = "24.00"  # type: ignore[attr-defined]
    assert use(environment, "close_bank_account_7392", account_id="chk") == "Error: Account unable to be closed."
    environment.agent_db.accounts["chk"]["current_holdings"] = "25.00"  # type: ignore[attr-defined]
    closed = use(environment, "close_bank_account_7392", account_id="chk")
    assert "Account Type: N/A" in closed
    assert table(environment, "accounts")["chk"]["current_holdings"] == "25.00"
    environment.agent_db.accounts["sav"]["current_holdings"] = "0"  # type: ignore[attr-defined]
    assert "closed successfully" in use(environment, "close_bank_account_7392", account_id="sav")


def test_an_interest_report_is_stored_nowhere(environment: Environment) -> None:
    before = environment.dump()["agent"]
    report = {"account_id": "sav", "user_id": "u1", "expected_apy": 2.775, "actual_apy": 2, "amount_difference": 7}
    text = use(environment, "submit_interest_discrepancy_report_7294", **report)
    assert "APY Difference: 0.775%" in text
    after = environment.dump()["agent"]
    assert [name for name in after if after[name] != before[name]] == ["agent_discoverable_tools"]


def test_requests_for_limits_leave_one_record_for_an_amount(environment: Environment) -> None:
    request = {"credit_card_account_id": "cc", "user_id": "u1"}
    use(environment, "submit_credit_limit_increase_request_7392", **request, requested_increase_amount=500)
    assert "A similar request" in use(
        environment, "submit_credit_limit_increase_request_7392", **request, requested_increase_amount=500
    )
    assert "New Limit: $1500.00" in use(
        environment, "approve_credit_limit_increase_5847", **request, new_credit_limit=1500
    )
    (record,) = table(environment, "credit_limit_increase_requests").values()
    assert (record["status"], record["requested_increase_amount"]) == ("PENDING", 500)
    assert isinstance(record["requested_increase_amount"], int)
    for reason in ("other", "past_due_balance"):
        assert "denied" in use(environment, "deny_credit_limit_increase_5848", **request, denial_reason=reason)
    denied = [each for each in table(environment, "credit_limit_increase_requests").values() if "denial_reason" in each]
    assert [each["denial_reason"] for each in denied] == ["other"]


def test_a_second_equal_statement_credit_fails_for_any_account(environment: Environment) -> None:
    environment.agent_db.credit_card_accounts["other"] = {**CARD, "account_id": "other"}  # type: ignore[attr-defined]
    credit = {"user_id": "u1", "amount": 5, "reason": "price_match"}
    assert "successfully" in use(environment, "apply_statement_credit_8472", credit_card_account_id="cc", **credit)
    second = use(environment, "apply_statement_credit_8472", credit_card_account_id="other", **credit)
    assert second.startswith("Error: Failed to apply statement credit. Transaction ID 'txn_")


def test_a_dispute_with_a_text_as_amount_is_stored_and_fails(environment: Environment) -> None:
    names = "card_last_4_digits full_name phone email address contacted_merchant purchase_date issue_noticed_date"
    dispute = dict.fromkeys(names.split(), "x") | {"transaction_id": "t", "user_id": "u1", "card_action": "keep_active"}
    dispute |= {"dispute_reason": "duplicate_charge", "resolution_requested": "full_refund"}
    dispute |= {"eligible_for_provisional_credit": True, "partial_refund_amount": "5"}
    name = "file_credit_card_transaction_dispute_4829"
    unlock(environment, name)
    answer = environment.call(CALL, {"agent_tool_name": name, "arguments": json.dumps(dispute)})
    assert answer.error
    assert len(table(environment, "transaction_disputes")) == 1
    assert logged(environment) == []


def test_a_payment_writes_both_balances_in_their_forms(environment: Environment) -> None:
    payment = {"user_id": "u1", "checking_account_id": "chk", "credit_card_account_id": "cc", "amount": 38.52}
    assert "New Credit Card Balance: $1000.00" in use(environment, "pay_credit_card_from_checking_9182", **payment)
    assert table(environment, "accounts")["chk"]["current_holdings"] == "61.48"
    assert table(environment, "credit_card_accounts")["cc"]["current_balance"] == "$1000.00"


@pytest.mark.parametrize(("resolves", "status"), [(True, "RESOLVED"), (False, "SUBMITTED")])
def test_disputes_of_cash_back_are_resolved_at_once_if_the_task_says_so(
    bank: Domain, resolves: bool, status: str
) -> None:
    data = {"task_config": {"data": {"dispute_settings": {"auto_resolve_disputes": resolves}}}}
    environment = bank.environment(a_task(initial_state={"initialization_data": {"agent_data": data}}))
    name, arguments = "submit_cash_back_dispute_0589", {"user_id": "u1", "transaction_id": "t"}
    call(environment, GIVE, discoverable_tool_name=name, arguments=json.dumps(arguments))
    assert f"Status: {status} - " in call(environment, name, "user", **arguments)
    (record,) = table(environment, "cash_back_disputes").values()
    assert (record["status"], record.get("resolution")) == (status, "APPROVED" if resolves else None)
    assert "Note: Dispute may have already been submitted" in call(environment, name, "user", **arguments)


def test_transfers_of_the_user_are_numbered(environment: Environment) -> None:
    for number in (1, 2):
        text = call(environment, "request_human_agent_transfer", "user")
        assert text.startswith(f"Transfer request #{number} submitted.")
    assert [each["request_number"] for each in table(environment, "human_transfer_requests").values()] == [1, 2]
