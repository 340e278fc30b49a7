"""``tau task-from``: tasks of recorded conversations, and the proof without which none is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from talks import bundled, talk

import pytest_tau
from pytest_tau.capabilities.traces.tasks.make import Choices, make_task
from pytest_tau.capabilities.traces.tasks.state import infer_state, playable
from pytest_tau.models import Simulation, ToolCall, ToolMessage
from pytest_tau.models.task_files import load_task_file

if TYPE_CHECKING:
    from pathlib import Path

    from .commands import Tau

CANCELLED = "cancel-every-pending"


def stored(folder: Path, *simulations: Simulation, domain: str | None = "retail") -> None:
    folder.mkdir()
    head = {"test": "", **({"domain": domain} if domain else {})}
    lines = [json.dumps(head | each.model_dump(mode="json")) for each in simulations]
    (folder / "simulations.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def changed(simulation: Simulation, before: str, after: str) -> Simulation:
    """Return a conversation in which a text is another one, wherever it occurs."""
    return Simulation.model_validate_json(simulation.model_dump_json().replace(before, after))


def test_a_task_is_made_with_its_proof(tau: Tau, tmp_path: Path) -> None:
    stored(tmp_path / "run", talk("retail", CANCELLED, "rules"))
    ran = tau("task-from", "run")
    assert ran.status == 0, ran.err
    assert "1 made" in ran.out
    (made,) = load_task_file(tmp_path / "from-run.tau.json").tasks
    proof = made.annotations["proof"]
    assert (proof["gold"], proof["noop"], proof["conversation"], proof["lint"]) == (
        "passed",
        "failed",
        "passed",
        "clean",
    )
    assert proof["wrong-item"] == "failed"
    domain = bundled("retail")[0]
    assert pytest_tau.simulate(made, domain=domain, agent="rules", user="scripted").reward == 1
    assert tau("task-from", "run").status == 2  # nothing is overwritten
    assert "from-run.tau.json already exists" in tau("task-from", "run").err


def test_the_user_gives_what_it_knows_when_it_is_asked() -> None:
    made = make_task(talk("retail", CANCELLED, "rules"), bundled("retail")[0], Choices(), {})
    assert made.task is not None
    script = made.task.user_scenario.script
    assert script is not None
    assert script.requests[0].say.startswith("I am short of money")
    assert script.requests[1].say.startswith("What do I get back")
    assert script.facts["email"] == "susan.garza39@example.com"
    assert "susan.garza39" not in script.requests[0].say


def test_records_are_as_they_were_seen_before_they_were_written() -> None:
    domain, simulation = bundled("retail")[0], talk("retail", CANCELLED, "rules")
    seen = changed(simulation, "828 Archer Inlet", "1 Long Lane")
    inferred = infer_state(domain, playable(seen.messages))
    assert inferred.differences == []
    assert inferred.state is not None
    data = inferred.state.initialization_data
    assert data is not None
    assert data.agent_data is not None
    assert set(data.agent_data) <= {"users", "orders"}
    assert data.agent_data["users"]["susan_garza_6420"]["address"]["address1"] == "1 Long Lane"
    assert infer_state(domain, playable(simulation.messages)).state is None


def test_records_of_a_list_are_replaced_by_what_was_seen_next_to_functions() -> None:
    domain, simulation = bundled("telecom")[0], talk("telecom", "service.airplane+apn", "rules")
    looked_up = next(made for made in simulation.calls if "get_customer" in made.call.name)
    assert looked_up.result is not None
    email = json.loads(looked_up.result.content or "")["email"]
    inferred = infer_state(domain, playable(changed(simulation, email, "new@example.org").messages))
    assert inferred.differences == []
    assert inferred.state is not None
    data = inferred.state.initialization_data
    assert data is not None
    assert data.agent_data is not None
    assert set(data.agent_data) == {"customers"}
    assert [each["email"] for each in data.agent_data["customers"]].count("new@example.org") == 1
    assert (
        inferred.state.initialization_actions
        == infer_state(domain, playable(simulation.messages)).state.initialization_actions
    )  # type: ignore[union-attr]


def test_a_record_that_the_domain_lacks_is_added() -> None:
    domain, simulation = bundled("retail")[0], talk("retail", CANCELLED, "rules")
    other = changed(
        changed(simulation, "susan_garza_6420", "eve_new_1"), "susan.garza39@example.com", "eve@example.com"
    )
    made = make_task(changed(other, "#W8699441", "#W0000001"), domain, Choices(), {})
    assert made.task is not None, made.refused
    assert made.notes == ()


def test_a_result_that_cannot_be_explained_is_named() -> None:
    simulation = talk("retail", CANCELLED, "rules")
    odd = changed(simulation, "Linen Shirt", "Linen Shirt")
    for message in odd.messages:
        if isinstance(message, ToolMessage) and message.content == "susan_garza_6420":
            message.content = "somebody_else_1"
    made = make_task(odd, bundled("retail")[0], Choices(), {})
    assert any("somebody_else_1" in note for note in made.notes)
    assert made.task is None or made.task.annotations["differing_results"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda s: [m for m in s.messages if m.role != "user"], "no text of a user"),
        (
            lambda s: [
                m.model_copy(update={"tool_calls": [ToolCall(id=m.tool_calls[0].id, name="secret_tool")]})
                if getattr(m, "tool_calls", None)
                else m
                for m in s.messages
            ],
            "calls tools that retail does not have: secret_tool",
        ),
        (lambda s: [m for m in s.messages if m.role != "tool"], "the results of find_user_id_by_email"),
        (lambda s: s.messages[:4], "checks nothing"),
    ],
)
def test_what_cannot_be_a_task_is_refused(change: Any, reason: str) -> None:
    simulation = talk("retail", CANCELLED, "rules")
    broken = simulation.model_copy(update={"messages": change(simulation)})
    made = make_task(broken, bundled("retail")[0], Choices(), {})
    assert made.task is None
    assert reason in made.refused


def test_a_conversation_that_went_wrong_is_a_draft_until_it_is_decided(tau: Tau, tmp_path: Path) -> None:
    domain, tasks = bundled("retail")
    wrong = talk("retail", CANCELLED, "saboteur:wrong-item")
    assert wrong.reward == 0
    stored(tmp_path / "run", wrong)
    assert tau("task-from", "run", "--wrong").status == 0
    draft = json.loads((tmp_path / "from-run.draft.json").read_text(encoding="utf-8"))
    assert "draft" in draft[0]["annotations"]
    assert all(each["info"].startswith("DECIDE") for each in draft[0]["evaluation_criteria"]["actions"])
    undecided = tau("task-from", "run", "--wrong", "--reference", "from-run.draft.json")
    assert undecided.status == 2
    assert "decide on" in undecided.err
    right = tasks[CANCELLED].evaluation_criteria
    assert right is not None
    draft[0]["evaluation_criteria"] = right.model_dump(mode="json", exclude_none=True)
    (tmp_path / "from-run.draft.json").write_text(json.dumps(draft), encoding="utf-8")
    ran = tau("task-from", "run", "--wrong", "--reference", "from-run.draft.json")
    assert ran.status == 0, ran.out
    (made,) = load_task_file(tmp_path / "from-run.tau.json").tasks
    assert made.annotations["proof"]["conversation"] == "failed"
    assert pytest_tau.simulate(made, domain=domain, agent="gold").reward == 1


def test_conversations_that_are_alike_are_one_task_and_the_number_is_limited(tau: Tau, tmp_path: Path) -> None:
    one, other = talk("retail", CANCELLED, "rules"), talk("retail", "where-is-my-refund", "rules")
    again = one.model_copy(update={"id": "again"})
    stored(tmp_path / "run", one, again, other)
    ran = tau("task-from", "run", "-o", "tasks")
    assert "2 made, 1 folded" in ran.out
    files = sorted((tmp_path / "tasks").glob("*.tau.json"))
    assert len(files) == 2
    numbers = [load_task_file(file).tasks[0].annotations.get("frequency") for file in files]
    assert sorted(filter(None, numbers)) == [2]
    assert "1 made" in tau("task-from", "run", "--limit", "1", "-o", "one.json").out
    assert "1 made" in tau("task-from", "run#again", "-o", "again.json").out


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nothing"], "unknown run 'nothing'"),
        (["run#nothing"], "no conversation with this id"),
        (["run", "--domain", "nowhere"], "unknown domain 'nowhere'"),
    ],
)
def test_mistakes_are_named(tau: Tau, tmp_path: Path, arguments: list[str], reason: str) -> None:
    stored(tmp_path / "run", talk("retail", CANCELLED, "rules"), domain=None)
    ran = tau("task-from", *arguments)
    assert ran.status == 2
    assert reason in ran.err
