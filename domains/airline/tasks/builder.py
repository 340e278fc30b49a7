"""Tasks from scenarios: what a scenario is about is found in a world, and fills the texts of its table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_tau.models import UserScript
from pytest_tau.models.tasks import Description, EvaluationCriteria, Instructions, Task, UserScenario

from ..._kit.scenario_tables import Texts
from ..._kit.user_script import open_with, patience
from ..dates import TODAY, TOMORROW
from ..formatting import full_name
from .calls import Calls
from .personas import PATIENCE
from .texts import write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_tau.environment import Environment

    from ..models import User
    from .world import World

_CABINS: Final = {cabin: cabin for cabin in ("basic_economy", "economy", "business")}
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
    """Something that can happen to whomever it fits; the texts of its table have placeholders for what it is about.

    Attributes:
        task_id: The task's id.
        purpose: What the task is for, to be read by people.
        rule: The rule of the policy that it is about.
        find: Finds what it is about.
        reason: The user's reason for the call.
        instructions: How the user is to act.
        known: What the user knows, apart from name and user id.
        unknown: What the user does not know.
        calls: Lines of :class:`Calls`.
        transfer: The summary of a transfer that follows the calls.
        communicate: Phrases that the agent must say.
        requests: Texts, and tables of the arguments of ``ask``; one with ``book`` has the usual facts of bookings, too.
        persona: What the user is like.
    """

    task_id: str
    purpose: str
    rule: str
    find: Callable[[World], Mapping[str, Any]]
    reason: str
    instructions: str
    known: str = ""
    unknown: str = ""
    calls: Sequence[str] = ()
    transfer: str = ""
    communicate: Sequence[str] = ()
    requests: Sequence[str | Mapping[str, Any]] = ()
    persona: str = ""

    def task(self, world: World, environment: Environment) -> Task:
        """Return the task about what is found in a world; its actions are carried out in an environment.

        Raises:
            ConfigurationError: The world has nothing that fits.
            TaskFormatError: A tool refuses an action.
        """
        texts = Texts({"TODAY": TODAY, "TOMORROW": TOMORROW, **_CABINS, **self.find(world)}, write)
        user: User = texts.things["user"]
        texts.things["reason"] = texts.fill(self.reason)
        calls = Calls(self.task_id, environment, user)
        for line in self.calls:
            calls.make(line, texts)
        if self.transfer:
            calls.hand_over(self.transfer)
        return Task(
            id=self.task_id,
            description=Description(purpose=self.purpose, relevant_policies=self.rule),
            user_scenario=self._user(user, texts),
            evaluation_criteria=EvaluationCriteria(
                actions=calls.actions,
                communicate_info=[texts.fill(phrase) for phrase in self.communicate],
                reward_basis=["DB", "COMMUNICATE", *(["ACTION"] if self.transfer else [])],
            ),
        )

    def _user(self, user: User, texts: Texts) -> UserScenario:
        reason, facts = texts.things["reason"], {"name": full_name(user.name), "user_id": user.user_id}
        who = f"You are {facts['name']}. Your user id is {user.user_id}."
        instructions = Instructions(
            domain="airline",
            reason_for_call=reason,
            known_info=f"{who} {texts.fill(self.known)}".strip(),
            unknown_info=texts.fill(self.unknown) or None,
            task_instructions=texts.fill(self.instructions),
        )
        requests = open_with(reason, texts.requests(map(_with_usual_facts, self.requests)))
        script = UserScript(requests=requests, facts=facts, patience=patience(self.persona, PATIENCE))
        return UserScenario(persona=self.persona or None, instructions=instructions, script=script)


def _with_usual_facts(request: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    if isinstance(request, str) or "book" not in request:
        return request
    facts = {key: value for key, value in request.items() if key not in ("book", "payment_method")}
    return {**_BOOKING, **facts, "payment_method": request["payment_method"]}
