"""Tasks on recorded tools, and personal data that is replaced."""

from __future__ import annotations

import json
import re
import runpy
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.capabilities.traces.redaction import Redactor
from pytest_tau.capabilities.traces.tasks.proof import prove
from pytest_tau.models import Simulation
from pytest_tau.models.task_files import load_task_file
from pytest_tau.testing import scripted_replies

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain
    from pytest_tau.models import Task

    from .commands import Tau

ADA = {"customer_id": "ada_berg_2041", "name": "Ada Berg", "email": "ada.berg@example.org", "phone": "+1 202 555 0141"}
ORDER = {"order_id": "#W7", "status": "pending", "total": 12.5, "customer_id": "ada_berg_2041"}


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [{"id": f"c_{name}", "name": name, "arguments": arguments}]}


def result(name: str, content: Any) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "id": f"c_{name}", "content": text, "error": text.startswith("Error")}


CONVERSATION = [
    {"role": "user", "content": "I want to cancel my order #W7."},
    {"role": "assistant", "content": "May I have your email address?"},
    {"role": "user", "content": "It is ada.berg@example.org."},
    call("find_customer", email="ada.berg@example.org"),
    result("find_customer", ADA),
    call("get_order", order_id="#W7"),
    result("get_order", ORDER),
    {"role": "assistant", "content": "Thank you, Ada. I will cancel order #W7. Shall I go ahead?"},
    {"role": "user", "content": "Yes, please."},
    call("cancel_order", order_id="#W7"),
    result("cancel_order", {**ORDER, "status": "cancelled"}),
    {"role": "assistant", "content": "Order #W7 is cancelled. Is there anything else?"},
    {"role": "user", "content": "No, that was all, thanks."},
]


def conversation(messages: Any = CONVERSATION) -> Simulation:
    facts = {"traces": {"trace_ids": ["4f1c"], "system": "Be kind.\nAsk before you cancel."}}
    return Simulation.model_validate(
        {"id": "c-1", "task_id": "c", "termination_reason": "user_stop", "messages": messages, "facts": facts}
    )


def store(folder: Path, simulation: Simulation) -> None:
    folder.mkdir()
    text = json.dumps({"test": "", **simulation.model_dump(mode="json")})
    (folder / "simulations.jsonl").write_text(text + "\n", encoding="utf-8")


def made_of(tau: Tau, folder: Path, *messages: dict[str, Any]) -> tuple[Domain, Task]:
    """Return the domain and the task that are made of a conversation."""
    store(folder / "run", conversation(messages))
    ran = tau("task-from", "run", "--no-redact", "-o", "shop.tau.json")
    assert ran.status == 0, ran.out + ran.err
    (task,) = load_task_file(folder / "shop.tau.json").tasks
    (spec,) = runpy.run_path(str(folder / "recorded_shop.py"))["pytest_tau_domains"]()
    return spec.load(), task


HELLO = "Hi! How can I help you today?"
TOTAL = "Hello, ada.berg@example.org here. What is the total of my order #W7?"
LEAKS = "The kettle leaks. Can I have the money back for it?"
REFUNDED = [
    call("refund_item", order_id="#W7"),
    result("refund_item", {"refunded": 12.5}),
    {"role": "assistant", "content": "I refunded 12.50 USD."},
]
TWO_REQUESTS = [
    {"role": "user", "content": TOTAL},
    call("get_order", order_id="#W7"),
    result("get_order", ORDER),
    {"role": "assistant", "content": "Order #W7 is 12.50 USD."},
    {"role": "user", "content": LEAKS},
    *REFUNDED,
]


@pytest.mark.parametrize(
    "answered",
    [
        "Order #W7 is 12.50 USD.",
        "It is 12.50 USD. Is there anything else about your orders?",
        "It is 12.50 USD in all.",
    ],
)
def test_what_the_person_asks_for_after_an_answer_is_a_further_request(tau: Tau, tmp_path: Path, answered: str) -> None:
    domain, task = made_of(tau, tmp_path, *TWO_REQUESTS)
    script = task.user_scenario.script
    assert script is not None
    assert [each.say for each in script.requests] == [TOTAL, LEAKS]
    assert task.annotations["proof"]["replay"] == "passed"
    replies = scripted_replies(domain, task, [HELLO, answered, "I refunded 12.50 USD. Anything else?"])
    assert replies == [TOTAL, LEAKS, "Thank you, that was all. ###STOP###"]
    assert scripted_replies(domain, task, [HELLO, answered, "Which order is it from?"])[2] == "My order id is #W7."


def test_what_the_person_says_after_a_statement_that_answers_nothing_belongs_to_the_request(
    tau: Tau, tmp_path: Path
) -> None:
    leaks, money = "The kettle of my order #W7 leaks", "I want the money back."
    said = "I am sorry. Order #W7 was delivered on May 2."
    domain, task = made_of(
        tau,
        tmp_path,
        {"role": "user", "content": leaks},
        call("get_order", order_id="#W7"),
        result("get_order", ORDER),
        {"role": "assistant", "content": said},
        {"role": "user", "content": money},
        *REFUNDED,
        CONVERSATION[-1],
    )
    assert task.annotations["proof"]["replay"] == "passed"
    whole = f"{leaks}. {money}"
    assert scripted_replies(domain, task, [HELLO, said])[1] == money
    assert scripted_replies(domain, task, [HELLO, "I am sorry. What would you like me to do?"]) == [whole, whole]


def test_a_person_with_two_orders_says_what_each_is_for(tau: Tau, tmp_path: Path) -> None:
    asked = "I have two orders. Please cancel #W7 and refund #W8."
    domain, task = made_of(
        tau,
        tmp_path,
        {"role": "user", "content": asked},
        call("cancel_order", order_id="#W7"),
        result("cancel_order", {**ORDER, "status": "cancelled"}),
        call("refund_item", order_id="#W8"),
        result("refund_item", {"refunded": 3}),
        {"role": "assistant", "content": "I cancelled #W7 and refunded #W8. Anything else?"},
        {"role": "user", "content": "No, that was all, thanks."},
    )
    replies = scripted_replies(domain, task, [HELLO, "What is the order number?"])
    assert replies == [asked, "Please cancel #W7 and refund #W8."]


@pytest.mark.parametrize(
    ("first", "ok", "text"),
    [
        (TOTAL, False, "failed, should have passed"),
        (f"{TOTAL} {LEAKS}", True, "failed, although the user has said what the person said"),
    ],
    ids=["says too little", "stops too early"],
)
def test_the_proof_names_a_recorded_agent_that_fails_and_a_user_that_says_too_little_is_refused(
    tau: Tau, tmp_path: Path, first: str, text: str, *, ok: bool
) -> None:
    domain, task = made_of(tau, tmp_path, *TWO_REQUESTS)
    document = task.model_dump(mode="json")
    (request, _) = document["user_scenario"]["script"]["requests"]
    document["user_scenario"]["script"]["requests"] = [{**request, "say": first}]
    checks = prove(type(task).model_validate(document), domain, conversation(TWO_REQUESTS))
    assert next(each for each in checks if each.name == "replay") == ("replay", ok, text)


@pytest.mark.parametrize(
    ("said", "requests"),
    [("It is ada.berg@example.org.", 1), ("Then refund it to ada.berg@example.org, please.", 2), ("OK.", 1)],
)
def test_a_fact_and_a_yes_after_a_statement_are_no_requests(tau: Tau, tmp_path: Path, said: str, requests: int) -> None:
    messages = [
        *TWO_REQUESTS[:4],
        {"role": "user", "content": said},
        call("refund_item", order_id="#W7", email="ada.berg@example.org"),
        *REFUNDED[1:],
    ]
    messages[0] = {"role": "user", "content": "What is the total of my order #W7?"}
    store(tmp_path / "run", conversation(messages))
    tau("task-from", "run", "--wrong", "--no-redact", "-o", "shop.json")
    script = json.loads((tmp_path / "shop.json").read_text("utf-8"))[0]["user_scenario"]["script"]
    assert len(script["requests"]) == requests


@pytest.mark.parametrize("nothing", ["Error: order #W1 not found", '{"error": "not found"}', "null"])
@pytest.mark.parametrize("heard", ["There is no order #W1. Could you check the number?", "I cannot find order #W1."])
def test_a_value_that_the_person_has_corrected_is_said_right_when_asked_again(
    tau: Tau, tmp_path: Path, nothing: str, heard: str
) -> None:
    first, corrected = "I want to cancel my order #W1.", "Oh sorry, #W7."
    domain, task = made_of(
        tau,
        tmp_path,
        {"role": "user", "content": first},
        {"role": "assistant", "tool_calls": [{"id": "c_0", "name": "get_order", "arguments": {"order_id": "#W1"}}]},
        {"role": "tool", "id": "c_0", "content": nothing, "error": nothing.startswith("Error")},
        {"role": "assistant", "content": heard},
        {"role": "user", "content": corrected},
        *CONVERSATION[5:],
    )
    script = task.user_scenario.script
    assert script is not None
    assert script.requests[0].say == first
    assert script.requests[0].facts["order_id"] == "#W7"
    texts = [HELLO, "There is no order #W1. What is the right order number?", "What is the order number, please?"]
    assert scripted_replies(domain, task, texts) == [first, corrected, "My order id is #W7."]
    assert scripted_replies(domain, task, [HELLO, "What is the order id?", heard])[1:] == [
        "My order id is #W7.",
        corrected,
    ]


def test_tools_of_a_conversation_become_a_domain_on_which_its_task_is_proved(tau: Tau, tmp_path: Path) -> None:
    store(tmp_path / "run", conversation())
    ran = tau("task-from", "run", "-o", "shop.tau.json")
    assert ran.status == 0, ran.out + ran.err
    assert "recorded_shop.py: the domain recorded_shop" in ran.out
    assert ran.lines[-1] == "run: pytest shop.tau.json --tau-domain recorded_shop --tau-agent gold"
    (task,) = load_task_file(tmp_path / "shop.tau.json").tasks
    assert task.annotations["proof"]["forgets-last-write"] == "failed"
    assert "4f1c" in (task.description.purpose or "" if task.description else "")


def test_what_lies_between_equal_reads_with_different_results_is_a_write(tau: Tau, tmp_path: Path) -> None:
    messages = [
        *CONVERSATION[:-4],
        call("restock", order_id="#W7"),
        result("restock", {"restocked": True}),
        call("get_order", order_id="#W7"),
        result("get_order", {**ORDER, "status": "restocked"}),
        *CONVERSATION[-2:],
    ]
    store(tmp_path / "run", conversation(messages))
    ran = tau("task-from", "run", "-o", "shop.tau.json")
    assert ran.status == 0, ran.out + ran.err
    assert "reads=['find_customer', 'get_order']" in (tmp_path / "recorded_shop.py").read_text(encoding="utf-8")


def test_a_trial_with_a_call_off_the_record_has_no_verdict_and_says_so(
    tau: Tau, tmp_path: Path, pytester: pytest.Pytester
) -> None:
    store(tmp_path / "run", conversation())
    assert tau("task-from", tmp_path / "run", "--no-redact", "-o", pytester.path / "shop.tau.json").status == 0
    pytester.makeconftest("from recorded_shop import pytest_tau_domains")
    pytester.makepyfile(
        agents="""
        def curious(messages, tools):
            if messages[-1]["role"] == "user":
                arguments = '{"order_id": "#W8"}'
                return {"tool_calls": [{"id": "1", "function": {"name": "get_order", "arguments": arguments}}]}
            return "There is none."
        """
    )
    options = ("shop.tau.json", "--tau-domain", "recorded_shop", "-p", "no:asyncio", "-p", "no:randomly")
    pytester.runpytest(*options, "--tau-agent", "gold").assert_outcomes(passed=1)
    ran = pytester.runpytest(*options, "--tau-agent", "agents.py:curious", "--tau-user", "scripted")
    ran.assert_outcomes(errors=1)
    ran.stdout.fnmatch_lines(['*off the record: get_order(order_id="#W8") was not recorded with these arguments*'])
    ran.stdout.fnmatch_lines(["looks like the task's fault: its record has no result of a call"])
    assert "passed; pass^1" not in ran.stdout.str()


def test_personal_data_is_nowhere_in_what_is_written_and_relations_stay(tau: Tau, tmp_path: Path) -> None:
    store(tmp_path / "run", conversation())
    assert tau("task-from", "run", "-o", "out/shop.json").status == 0
    files = list((tmp_path / "out").iterdir())
    assert len(files) == 3
    text = "".join(file.read_text(encoding="utf-8") for file in files).lower()
    for original in ("ada", "berg", "2041", "555 0141", "example.org"):
        # A made-up name may have the letters of a short one in it.
        assert not re.search(rf"(?<![a-z0-9]){re.escape(original)}(?![a-z0-9])", text)
    assert "#w7" in text
    (task,) = load_task_file(tmp_path / "out" / "shop.json").tasks
    script = task.user_scenario.script
    actions = (task.evaluation_criteria and task.evaluation_criteria.actions) or []
    assert script is not None
    assert actions[0].arguments["email"] in script.facts["email"]


def test_the_same_is_replaced_by_the_same_and_what_the_database_has_stays() -> None:
    one, other = conversation(), conversation([*CONVERSATION, {"role": "user", "content": "ADA BERG, ada_berg_2041"}])
    redactor = Redactor([one, other], key=b"k")
    made = redactor.redacted(one), redactor.redacted(other)
    assert made[0].messages == made[1].messages[:-1]
    name = json.loads(made[0].messages[4].content or "")["name"]
    assert (
        made[1].messages[-1].content
        == f"{name.upper()}, {json.loads(made[0].messages[4].content or '')['customer_id']}"
    )
    kept = Redactor([one], kept=json.dumps(ADA), key=b"k")
    assert kept.values == 0
    assert kept.redacted(one) is one


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("My card is 4111 1111 1111 1111.", "4111"),
        ("Use DE89 3704 0044 0532 0130 00 for it.", "0532"),
        ("Call (202) 555-0199 or +44 20 7946 0958.", "7946"),
        ("The key is sk-abcdefghijklmnop1234.", "abcdefgh"),
        ("My name is Eve Long, from 10.1.2.3.", "Eve"),
    ],
)
def test_forms_are_recognised_in_texts(text: str, left: str) -> None:
    simulation = conversation([{"role": "user", "content": text}])
    (message,) = Redactor([simulation], key=b"k").redacted(simulation).messages
    assert message.content != text
    assert left not in (message.content or "")


def test_a_file_that_exists_is_not_replaced(tau: Tau, tmp_path: Path) -> None:
    store(tmp_path / "run", conversation())
    (tmp_path / "recorded_shop.py").touch()
    assert "recorded_shop.py already exists" in tau("task-from", "run", "-o", "shop.tau.json").err


@pytest.mark.parametrize(
    ("parameters", "described"),
    [('{"properties": {"order_id": {"type": "string", "description": "It begins with #."}}}', True), ('{"prop', False)],
)
def test_a_schema_that_is_stored_as_a_text_is_read_if_it_is_whole(
    tmp_path: Path, parameters: str, described: bool
) -> None:
    from pytest_tau.capabilities.traces.tasks.recording import recording_of

    simulation = conversation()
    simulation.facts["traces"] |= {"tools": [{"name": "get_order", "parameters": parameters}]}
    made = recording_of([simulation], "recorded_x", tmp_path / "recorded_x.py", "x.json")
    assert ("It begins with #." in made.python) is described
    assert "def get_order(self, order_id" in made.python


def test_texts_of_others_stay_in_docstrings_and_literals(tmp_path: Path) -> None:
    from pytest_tau.capabilities.traces.tasks.recording import recording_of

    simulation = conversation()
    hostile = {"name": "get_order", "description": 'A """ \\ " \n"""\nimport os', "parameters": {"properties": {}}}
    simulation.facts["traces"] |= {"tools": [hostile], "system": "'''\"\"\"{name}\\"}
    made = recording_of([simulation], "recorded_x", tmp_path / "recorded_x.py", "x.json")
    compiled = compile(made.python, "recorded_x.py", "exec")
    assert "os" not in compiled.co_names
    assert json.loads(made.record)["calls"][0]["tool"] == "find_customer"
