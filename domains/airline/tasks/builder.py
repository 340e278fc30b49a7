"""Tasks from scenarios: a scenario finds in a world what it is about, and a draft about that becomes a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_tau.models import UserScript
from pytest_tau.models.tasks import Action, Description, EvaluationCriteria, Instructions, Task, UserScenario

from ..._kit.combine import Draft
from ..._kit.scenario_tables import Texts
from ..._kit.transfer import TRANSFER
from ..._kit.user_script import patience
from ..dates import TODAY, TOMORROW
from ..formatting import full_name
from .calls import Calls
from .personas import PATIENCE
from .texts import write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_tau.environment import Environment

    from ..models import User
    from .world import World

_WORDS: Final = {
    "TODAY": TODAY, "TOMORROW": TOMORROW, **{cabin: cabin for cabin in ("basic_economy", "economy", "business")},
}  # fmt: skip
#: Facts that every booking needs, with the answers that apply unless others are given.
_BOOKING: Final = {
    "cabin": "Economy.",
    "flights": "The cheapest direct flight.",
    "passengers": "I travel alone.",
    "baggage": "No checked bags.",
    "insurance": "No insurance.",
}


@dataclass(frozen=True)
class Scenario:
    """Something that can happen to whomever it fits.

    Attributes:
        task_id: The task's id.
        find: Finds what it is about.
        table: What a draft has, with placeholders for what it is about. Its ``calls`` are lines of :class:`Calls`;
            ``transfer`` is the summary of a transfer that follows them. Requests with ``book`` have the usual facts of
            bookings, too.
    """

    task_id: str
    find: Callable[[World], Mapping[str, Any]]
    table: Mapping[str, Any]

    def draft(self, world: World, environment: Environment) -> Draft[User]:
        """Return the draft about what is found in a world; its actions are carried out in an environment.

        Raises:
            ConfigurationError: The world has nothing that fits.
            TaskFormatError: A tool refuses an action.
        """
        texts = Texts({**_WORDS, **self.find(world)}, write)
        calls = Calls(self.task_id, environment, texts.things["user"])
        for line in self.table.get("calls", ()):
            calls.make(line, texts)
        if "transfer" in self.table:
            calls.hand_over(self.table["transfer"])
        table = {**self.table, "then": list(map(_with_usual_facts, self.table.get("then", ())))}
        if table.pop("book", False):
            table["details"] = _with_usual_facts({"book": True, **table.get("details", {})})
        fields = texts.fill_table(table)
        fields.pop("transfer", None)
        return Draft(caller=texts.things["user"], task_id=self.task_id, calls=calls.made, **fields)


def _with_usual_facts(request: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    if isinstance(request, str) or "book" not in request:
        return request
    facts = {key: value for key, value in request.items() if key not in ("book", "payment_method")}
    return {**_BOOKING, **facts, "payment_method": request.get("payment_method", "{card}")}


def build_task(draft: Draft[User]) -> Task:
    """Build the task of a draft."""
    facts = {"name": full_name(draft.caller.name), "user_id": draft.caller.user_id}
    who = f"You are {facts['name']}. Your user id is {draft.caller.user_id}."
    instructions = Instructions(
        domain="airline",
        reason_for_call=draft.reason,
        known_info=f"{who} {draft.known}".strip(),
        unknown_info=draft.unknown or None,
        task_instructions=draft.instructions,
    )
    script = UserScript(requests=draft.opened, facts=facts, patience=patience(draft.persona, PATIENCE))
    actions = [
        Action(
            action_id=f"{number}-{call.name.replace('_', '-')}",
            name=call.name,
            arguments=call.arguments,
            compare_args=[] if call.name == TRANSFER else None,
        )
        for number, call in enumerate(draft.calls)
    ]
    return Task(
        id=draft.task_id,
        description=Description(purpose=draft.purpose, relevant_policies=draft.rule),
        user_scenario=UserScenario(persona=draft.persona, instructions=instructions, script=script),
        evaluation_criteria=EvaluationCriteria(
            actions=actions,
            communicate_info=list(draft.communicate),
            reward_basis=["DB", "COMMUNICATE", *(["ACTION"] if draft.transfers else [])],
        ),
    )
