"""Tasks from scenarios: a scenario yields a draft for each choice of people and things, and a draft becomes a task.

The draft whose customer has been in the fewest tasks is taken, so that a database from another seed gives a set of its
own, or names the scenario that no customer fits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Request, UserScript
from pytest_tau.models.tasks import (
    Action,
    Description,
    EvaluationCriteria,
    InitializationData,
    InitialState,
    Instructions,
    Task,
    UserScenario,
)

from ..._kit.formatting import join_sentences
from ..._kit.transfer import TRANSFER
from ..._kit.user_script import first_person, patience
from .calls import UNLOCK, log, look_up
from .personas import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .calls import Call
    from .world import Record, Tables, World

_CONSENT = "When the agent sums up just what you want, say yes."
_CLOSING = "If a request is refused for good, accept that. Once all is done or answered, say goodbye."
_IDENTITY = ("name", "date_of_birth", "phone_number", "email", "address")
#: Documents that every identified customer needs.
_ALWAYS = ("identity_check",)


@dataclass(frozen=True)
class Draft:
    """A scenario with people and things chosen; texts are written about the customer, as ``you``.

    Attributes:
        caller: Who writes.
        reason: What the customer wants.
        documents: The ids of the documents that are needed, but for the one about the identification.
        calls: The reference actions that follow the identification.
        details: What the customer says when asked, by the words of the question.
        instructions: How the customer reacts.
        fallback: What the customer wants if the request is refused.
        then: Further requests, each with its details.
        tables: Records that the task adds or changes.
        communicate: Phrases that the agent has to say.
        known: What the customer knows besides.
        declines: Offers that the customer turns down.
        identified: Whether the customer has to be identified.
        remarks: What the customer says before the first request, as it is said.
    """

    caller: Record
    reason: str
    documents: Sequence[str]
    calls: Sequence[Call] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    instructions: str = ""
    fallback: str = ""
    then: Sequence[tuple[str, Mapping[str, str]]] = ()
    tables: Tables = field(default_factory=dict)
    communicate: Sequence[str] = ()
    known: str = ""
    declines: Sequence[str] = ()
    identified: bool = True
    remarks: str = ""


@dataclass(frozen=True)
class Scenario:
    """Something that can happen to whomever it fits.

    Attributes:
        task_id: The task's id.
        drafts: Yields a draft for each choice of people and things.
        purpose: What the task is for, to be read by people.
        rule: The document that it is about.
        persona: A way to write.
    """

    task_id: str
    drafts: Callable[[World], Iterable[Draft]]
    purpose: str
    rule: str
    persona: str | None = None


def build_tasks(scenarios: Iterable[Scenario], world: World) -> list[Task]:
    """Build a task of each scenario.

    Raises:
        ConfigurationError: No customer in the database fits a scenario.
    """
    seen: Counter[str] = Counter()
    tasks = []
    for scenario in scenarios:
        drafts = sorted(scenario.drafts(world), key=lambda draft: seen[draft.caller["user_id"]])
        if not drafts:
            raise ConfigurationError(
                f"nobody in the bank's tables fits the scenario {scenario.task_id!r}: another seed?"
            )
        seen[drafts[0].caller["user_id"]] += 1
        tasks.append(build_task(scenario, drafts[0]))
    return tasks


def build_task(one: Scenario, draft: Draft) -> Task:
    """Build the task of a scenario from a draft."""
    calls = _whole(draft)
    transferred = any(call.name == TRANSFER for call in calls)
    return Task(
        id=one.task_id,
        description=Description(purpose=one.purpose, relevant_policies=one.rule),
        user_scenario=UserScenario(persona=one.persona, instructions=_prose(draft), script=_script(one, draft)),
        initial_state=_initial_state(draft),
        evaluation_criteria=EvaluationCriteria(
            actions=[_action(number, call) for number, call in enumerate(calls)],
            communicate_info=list(draft.communicate),
            reward_basis=["DB", "COMMUNICATE", *(["ACTION"] if transferred else [])],
        ),
        user_tools=list(dict.fromkeys(call.name for call in calls if call.requestor == "user")),
        required_documents=[*(_ALWAYS if draft.identified else ()), *draft.documents],
    )


def _whole(draft: Draft) -> list[Call]:
    """Return the reference actions with the identification, each tool unlocked once."""
    transferred = any(call.name == TRANSFER for call in draft.calls)
    # Where each action is graded, how the customer is found is up to the agent.
    lookups = [] if transferred else [look_up(draft.caller)]
    calls = [*lookups, log(draft.caller), *draft.calls] if draft.identified else list(draft.calls)
    unlocked: set[str] = set()
    needed = []
    for call in calls:
        if call.name == UNLOCK:
            if call.arguments["agent_tool_name"] in unlocked:
                continue
            unlocked.add(call.arguments["agent_tool_name"])
        needed.append(call)
    return needed


def _action(number: int, call: Call) -> Action:
    compared = ["reason"] if call.name == TRANSFER else None
    return Action(
        action_id=f"{call.name}_{number}",
        requestor=call.requestor,
        name=call.name,
        arguments=call.arguments,
        compare_args=compared,
    )


def _initial_state(draft: Draft) -> InitialState | None:
    if not draft.tables:
        return None
    data: dict[str, Any] = {name: {"data": dict(records)} for name, records in draft.tables.items()}
    return InitialState(initialization_data=InitializationData(agent_data=data))


def _prose(draft: Draft) -> Instructions:
    caller = draft.caller
    who = (
        f"Your name is {caller['name']}. You were born on {caller['date_of_birth']}. Your phone number is "
        f"{caller['phone_number']}, your email address {caller['email']}, your address {caller['address']}."
    )
    details = join_sentences(draft.details.values())
    fallback = f"If that is not possible: {draft.fallback}" if draft.fallback else ""
    then = [
        f"The next matter, once that is dealt with: {join_sentences([say, *more.values()])}" for say, more in draft.then
    ]
    steps = [draft.instructions, fallback, *then, _CONSENT, _CLOSING]
    return Instructions(
        domain="banking_knowledge",
        reason_for_call=draft.reason,
        known_info=join_sentences([who, draft.known, details]),
        task_instructions=join_sentences(steps),
    )


def _script(one: Scenario, draft: Draft) -> UserScript:
    first = _request(join_sentences([draft.remarks, first_person(draft.reason)]), draft.details, draft.fallback)
    rest = [_request(first_person(say), details) for say, details in draft.then]
    return UserScript(
        requests=[first, *rest],
        facts={name: draft.caller[name] for name in _IDENTITY},
        declines=list(draft.declines),
        patience=patience(one.persona, PATIENCE),
    )


def _request(say: str, details: Mapping[str, str], fallback: str = "") -> Request:
    facts = {name: first_person(value) for name, value in details.items()}
    return Request(say=say, facts=facts, fallback=first_person(fallback) or None)
