"""What is fair to another right agent in tasks of conversations, and tools and arguments of any name."""

from __future__ import annotations

import json
import runpy
from typing import TYPE_CHECKING, Any

import pytest

import pytest_tau
from pytest_tau.capabilities.traces.tasks.answers import asked_values
from pytest_tau.capabilities.traces.tasks.naming import hands_over, kind_of
from pytest_tau.language import is_objection
from pytest_tau.models import Simulation
from pytest_tau.models.task_files import load_task_file

from .test_traces_recorded import CONVERSATION, ORDER, call, conversation, made_of, result, store

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.environment import Domain

    from .commands import Tau

CANCELLED = {**ORDER, "status": "cancelled"}


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": text}


def cancelling(*end: dict[str, Any], **arguments: Any) -> list[dict[str, Any]]:
    """Return a conversation that cancels an order."""
    return [
        said("user", "Please cancel my order #W7."),
        call("cancel_order", order_id="#W7", **arguments),
        result("cancel_order", CANCELLED),
        *(end or [said("assistant", "Order #W7 is cancelled.")]),
    ]


def graded(task: Any, domain: Domain, *messages: dict[str, Any]) -> bool:
    """Return the verdict of another conversation."""
    run = conversation([*messages]).messages
    return pytest_tau.evaluate(task, run, termination_reason="user_stop", domain=domain).passed


@pytest.mark.parametrize(
    "complaint",
    [
        "What? No! I wanted to keep one chair!",
        "Why did you cancel all of it?",
        "No, that is the wrong one.",
        "That's not what I asked for.",
        "I only wanted one chair to go.",
        "I didn\u2019t ask you to cancel anything.",
    ],
)
def test_what_the_person_objects_to_is_not_right(tau: Tau, tmp_path: Path, complaint: str) -> None:
    messages = cancelling(
        said("assistant", "Order #W7 is cancelled."), said("user", complaint), said("assistant", "I am sorry.")
    )
    store(tmp_path / "run", conversation(messages))
    ran = tau("task-from", "run", "-o", "shop.tau.json", "--no-redact")
    assert ran.status == 2
    assert "the person objects to what was done (message 4: " in ran.out
    assert tau("task-from", "run", "--wrong", "-o", "shop.json", "--no-redact").status == 0
    (draft,) = json.loads((tmp_path / "shop.json").read_text("utf-8"))
    assert draft["annotations"]["objections"] == [complaint]
    assert complaint not in json.dumps(draft["user_scenario"], ensure_ascii=False)


@pytest.mark.parametrize(
    "reply",
    [
        "No, that was all, thanks.",
        "No. Thank you!",
        "What about my other order?",
        "Thanks. They also sent me a wrong kettle.",
        "Wait, can you send me a receipt?",
        "Okay, I changed my mind about the lamp.",
    ],
)
def test_what_declines_or_asks_for_more_is_no_objection(reply: str) -> None:
    assert not is_objection(reply, done=True)


def test_free_text_is_free_and_the_rest_is_not(tau: Tau, tmp_path: Path) -> None:
    domain, task = made_of(tau, tmp_path, *cancelling(reason="ordered by mistake"))
    assert "free = {'cancel_order': ['reason']}" in (tmp_path / "recorded_shop.py").read_text("utf-8")
    for reason in ("Customer ordered it by mistake.", "changed plans"):
        environment = domain.environment(task)
        made = environment.call("cancel_order", {"order_id": "#W7", "reason": reason})
        assert not made.error
        assert graded(task, domain, *cancelling(reason=reason))
    other = domain.environment(task).call("cancel_order", {"order_id": "#W8", "reason": "ordered by mistake"})
    assert other.error
    assert "off the record" in (other.content or "")


@pytest.mark.parametrize(
    ("schema", "system"),
    [
        ({"type": "string", "enum": ["ordered by mistake", "no longer needed"]}, ""),
        ({"type": "string", "description": "'ordered by mistake' or 'no longer needed'"}, ""),
        ({"type": "string"}, "Cancel with the reason 'ordered by mistake' or 'no longer needed'."),
    ],
)
def test_a_choice_that_the_schema_or_the_policy_states_is_not_free(schema: Any, system: str, tmp_path: Path) -> None:
    from pytest_tau.capabilities.traces.tasks.recording import recording_of

    simulation = conversation(cancelling(reason="ordered by mistake"))
    tool = {"name": "cancel_order", "parameters": {"properties": {"order_id": {"type": "string"}, "reason": schema}}}
    simulation.facts["traces"] |= {"tools": [tool], "system": system}
    made = recording_of([simulation], "recorded_x", tmp_path / "recorded_x.py", "x.json")
    assert "free = {}" in made.python


def test_what_was_asked_for_is_required_and_nothing_else(tau: Tau, tmp_path: Path) -> None:
    order = {"order_id": "#W7", "status": "shipped", "total": 84.50, "address": "Storgata 1, 0155 Oslo"}
    _, task = made_of(
        tau,
        tmp_path,
        said("user", "Where is my order #W7?"),
        call("get_order", order_id="#W7"),
        result("get_order", order),
        said("assistant", "Order #W7 (84.50 USD) has been shipped to Storgata 1, 0155 Oslo."),
    )
    assert task.criteria.communicate_info == ["shipped"]


@pytest.mark.parametrize(
    ("question", "answer", "wanted"),
    [
        ("How much was it?", "It was $1,084.50, and it is paid.", ["1084.5"]),
        ("What is the tracking number?", "It is Z99A. The total is 1084.50.", ["Z99A"]),
        ("What do the items cost?", "12.00 and 18.00, so 30.00 together.", ["30"]),
        ("Please say hello.", "Hello! It is paid.", []),
    ],
)
def test_values_are_asked_for_by_their_field_or_kind(question: str, answer: str, wanted: list[str]) -> None:
    record = {
        "status": "paid",
        "total": 1084.5,
        "tracking_number": "Z99A",
        "items": [{"price": 12.0}, {"price": 18.0}],
    }
    made = conversation(
        [said("user", question), call("get_order"), result("get_order", record), said("assistant", answer)]
    )
    assert list(asked_values(made.messages, made.calls)) == wanted


def test_a_handoff_of_a_framework_is_neither_a_tool_nor_required(tau: Tau, tmp_path: Path) -> None:
    first, *rest = cancelling()
    simulation = conversation(
        [first, call("transfer_to_orders"), result("transfer_to_orders", {"assistant": "orders"}), *rest]
    )
    tools = [{"name": name, "parameters": {}} for name in ("transfer_to_orders", "cancel_order")]
    simulation.facts["traces"] |= {"handoffs": [1, 2], "span_ids": ["", "a", "", "b", "", "c"], "tools": tools}
    store(tmp_path / "run", simulation)
    assert tau("task-from", "run", "-o", "shop.tau.json", "--no-redact").status == 0
    (task,) = load_task_file(tmp_path / "shop.tau.json").tasks
    assert [each.name for each in task.criteria.actions or ()] == ["cancel_order"]
    assert "ACTION" not in task.criteria.reward_basis
    assert "transfer" not in (tmp_path / "recorded_shop.py").read_text("utf-8")
    assert task.annotations["origin"]["span_ids"] == ["", "b", "", "c"]


def test_kinds_of_tools_are_known_by_their_names() -> None:
    writes = ("cancel-order", "orders.cancel", "mcp__shop__cancel_order", "cancelOrder", "shop_cancel_order")
    assert {kind_of(each) for each in (*writes, "transfer_funds", "_refund")} == {"write"}
    reads = ("get-order", "list_open_orders", "search_bookings", "can_cancel_order")
    assert {kind_of(each) for each in reads} == {"read"}
    assert kind_of("order_status") is None
    assert all(map(hands_over, ("transfer_to_human_agents", "escalate", "handoff", "transfer_call")))
    assert not any(map(hands_over, ("transfer_money", "transfer_to_account", "get_order")))


NAMES = [
    "get-order",
    "x.y",
    "_x",
    "db",
    "state",
    "file",
    "tools",
    "restore",
    "str",
    "__init__",
    "class",
    "\ufb01nd",
    "",
]


@pytest.mark.parametrize("name", NAMES)
def test_tools_of_any_name_are_recorded(tau: Tau, tmp_path: Path, name: str) -> None:
    domain, task = made_of(
        tau,
        tmp_path,
        CONVERSATION[0],
        {**call(name, order_id="#W7")},
        result(name, ORDER),
        *cancelling()[1:],
    )
    assert name in domain.environment(task).tool_infos
    assert not domain.environment(task).call(name, {"order_id": "#W7"}).error
    assert pytest_tau.simulate(task, domain=domain, agent="gold").reward == 1


@pytest.mark.parametrize("name", ["self", "_private", "class", "\ufb01", "order-id", "tool", "model_x", "schema"])
def test_arguments_of_any_name_are_recorded(tau: Tau, tmp_path: Path, name: str) -> None:
    domain, task = made_of(
        tau,
        tmp_path,
        CONVERSATION[0],
        call("cancel_order", **{name: "#W7"}),
        result("cancel_order", CANCELLED),
        said("assistant", "Order #W7 is cancelled."),
    )
    (tool,) = domain.environment(task).tools()
    assert list(tool.parameters["properties"]) == [name]
    assert pytest_tau.simulate(task, domain=domain, agent="gold").reward == 1


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": ["order_id"]},
        {"properties": {"order_id": True}, "required": "order_id"},
        {"properties": {"order_id": {"type": {"a": 1}}}, "required": [{"a": 1}, "nope"]},
        [1],
    ],
)
def test_schemas_of_any_form_are_read_as_far_as_they_are_one(tau: Tau, tmp_path: Path, parameters: Any) -> None:
    simulation = conversation(cancelling())
    description = "Cancel it.\n\nArgs:\n    nope: There is no such argument."
    simulation.facts["traces"] |= {
        "tools": [{"name": "cancel_order", "description": description, "parameters": parameters}]
    }
    store(tmp_path / "run", simulation)
    assert tau("task-from", "run", "-o", "shop.tau.json", "--no-redact").status == 0
    (spec,) = runpy.run_path(str(tmp_path / "recorded_shop.py"))["pytest_tau_domains"]()
    (tool,) = spec.load().environment().tools()
    assert "nope" not in tool.parameters["properties"]


def test_a_person_that_asks_for_nothing_is_refused(tau: Tau, tmp_path: Path) -> None:
    store(tmp_path / "run", conversation([said("user", "Hi"), said("assistant", "Hello!")]))
    assert "refused: the person asks for nothing" in tau("task-from", "run", "-o", "shop.tau.json").out


def test_a_folder_for_tasks_has_the_record_next_to_them(tau: Tau, tmp_path: Path) -> None:
    store(tmp_path / "run", conversation())
    ran = tau("task-from", "run", "-o", "desk", "--no-redact")
    assert ran.status == 0, ran.out + ran.err
    (spec,) = runpy.run_path(str(tmp_path / "desk" / "recorded_desk.py"))["pytest_tau_domains"]()
    assert len(spec.load().tasks()) == 1


def test_the_domain_of_one_conversation_is_not_that_of_others(tau: Tau, tmp_path: Path) -> None:
    first, second = (
        {"test": "", **Simulation.model_validate({**conversation().model_dump(), "id": name}).model_dump(mode="json")}
        for name in ("one", "two")
    )
    (tmp_path / "run").mkdir()
    lines = "\n".join(json.dumps(each) for each in ({**first, "domain": "retail"}, second))
    (tmp_path / "run" / "simulations.jsonl").write_text(lines + "\n", encoding="utf-8")
    ran = tau("task-from", "run", "-o", "a.tau.json")
    assert "calls tools that retail does not have" in ran.lines[0]
    assert "1 made, 1 refused" in ran.out
    ran = tau("task-from", "run", "--no-domain", "-o", "b.tau.json")
    assert ran.status == 0
    assert "1 made, 1 folded" in ran.out
    both = tau("task-from", "run", "--no-domain", "--domain", "retail", "-o", "c.tau.json")
    assert "--domain and --no-domain exclude each other" in both.err


@pytest.mark.parametrize(
    ("question", "orders"),
    [
        ("What is the total of my two orders, #W7 and #W8?", "#W7 and #W8"),
        ("What did I pay for order #W8, and order #W7?", "#W8, and order #W7"),
        # What is said of each belongs to it.
        ("What is the total of #W7, the lamp, and #W8?", "What is the total of #W7, the lamp, and #W8?"),
    ],
)
def test_a_fact_of_several_ids_is_the_ids(tau: Tau, tmp_path: Path, question: str, orders: str) -> None:
    _, task = made_of(
        tau,
        tmp_path,
        said("user", question),
        call("get_order", order_id="#W7"),
        result("get_order", {"order_id": "#W7", "total": 84.50}),
        call("get_order", order_id="#W8"),
        result("get_order", {"order_id": "#W8", "total": 15.50}),
        said("assistant", "#W7 was 84.50 USD and #W8 15.50 USD."),
    )
    assert task.user_scenario.script.requests[0].facts == {"order_id": orders}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Yes, I found it cheaper.", "I found it cheaper."),
        ("It looks ugly.", "It looks ugly."),
        ("Sure, it is ugly.", "It is ugly."),
        ("I\u2019m honestly not sure what the reason is.", None),
        ("Oh boy, I can\u2019t remember the reason!", None),
    ],
)
def test_a_fact_neither_agrees_nor_is_unknown(tau: Tau, tmp_path: Path, reply: str, reason: str | None) -> None:
    _, task = made_of(
        tau,
        tmp_path,
        said("user", "Please cancel my order #W7."),
        said("assistant", "Shall I cancel it? Please tell me the reason."),
        said("user", reply),
        call("cancel_order", order_id="#W7"),
        result("cancel_order", CANCELLED),
        said("assistant", "Order #W7 is cancelled."),
    )
    facts = task.user_scenario.script.requests[0].facts
    assert {name: value for name, value in facts.items() if name != "order_id"} == (
        {"reason": reason} if reason else {}
    )


def test_the_user_knows_nothing_that_a_failed_call_was_given(tau: Tau, tmp_path: Path) -> None:
    _, task = made_of(
        tau,
        tmp_path,
        said("user", "Please cancel my order #W7, or else return it."),
        call("cancel_order", order_id="#W7", reason="no longer needed"),
        result("cancel_order", "Error: it was delivered"),
        call("return_order", order_id="#W7"),
        result("return_order", {**ORDER, "status": "returned"}),
        said("assistant", "Order #W7 is returned."),
    )
    assert "no longer needed" not in task.user_scenario.model_dump_json()


def test_a_fact_that_is_an_id_is_the_id(tau: Tau, tmp_path: Path) -> None:
    _, task = made_of(
        tau,
        tmp_path,
        said("user", "Please cancel my order."),
        said("assistant", "What is your order ID?"),
        said("user", "The order ID is #W7, if I read it right."),
        call("cancel_order", order_id="#W7"),
        result("cancel_order", CANCELLED),
        said("assistant", "Order #W7 is cancelled."),
    )
    assert task.user_scenario.script.requests[0].facts == {"order_id": "#W7"}
    assert "order id: #W7" in task.user_scenario.instructions.known_info
