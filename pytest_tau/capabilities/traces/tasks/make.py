"""A recorded conversation made into a task with a proof, or the reason why it cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ....environment import is_error
from ....errors import TauError
from ....files import digest
from ....language import alphanumeric_words, plain_words
from ....models import Description, EvaluationCriteria, Task, UserScenario, call_as_text
from ....policy import check_policy
from ....text import shorten
from ..facts import stored_facts
from .handoffs import number_in_run
from .objections import objections
from .proof import Check, prove
from .reference import Reference, reference_of
from .state import Inferred, infer_state, playable, problem_of, replayed
from .user import scenario_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ....environment import Domain
    from ....models import Call, InitialState, Simulation

#: Words of a request that a task's id skips.
_LITTLE = frozenset(
    (
        *("a", "an", "and", "can", "could", "for", "i", "in", "is", "it", "like", "me", "my", "of", "on", "please"),
        *("that", "the", "this", "to", "want", "with", "would", "you"),
    )
)
_WORDS_OF_ID, _MOST_LISTED, _LONGEST_SAID = 5, 5, 80


class Choices(NamedTuple):
    """What the caller has chosen.

    Attributes:
        wrong: The conversation went wrong: its end is not the reference.
        communicate: Values that the agent said are checked, too.
        decided: The draft whose user and reference replace those of the conversation; None to take those.
    """

    wrong: bool = False
    communicate: bool = False
    decided: Task | None = None


class Made(NamedTuple):
    """What has become of a conversation.

    Attributes:
        name: The id of the conversation.
        task: The task; None if it was refused.
        refused: Why it was.
        proof: What was tried.
        notes: What the caller should know: results that differ, calls of unknown tools.
        draft: The reference has to be decided; there is no proof.
        likeness: What duplicates have in common.
    """

    name: str
    task: Task | None = None
    refused: str = ""
    proof: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    draft: bool = False
    likeness: tuple[Any, ...] = ()


def make_task(
    conversation: Simulation,
    domain: Domain,
    choices: Choices,
    origin: dict[str, Any],
    state: InitialState | None = None,
) -> Made:
    """Make a task of a conversation.

    Args:
        conversation: The recorded conversation.
        domain: The domain on which its calls are made.
        choices: What the caller has chosen.
        origin: Where the conversation is from, for the task's annotations.
        state: The initial state; None to infer it.
    """
    name, calls = conversation.id, playable(conversation.messages)
    if problem := _unusable(conversation, domain):
        return Made(name, refused=problem)
    try:
        inferred = infer_state(domain, calls) if state is None else Inferred(state, replayed(domain, state, calls))
        return _made(conversation, calls, domain, choices, origin, inferred)
    except TauError as error:
        return Made(name, refused=problem_of(error))


def _unusable(conversation: Simulation, domain: Domain) -> str:
    """Return why no task can be made of a conversation; empty if it can be tried."""
    messages = conversation.messages
    if not any(m.role == "user" and m.content for m in messages):
        return "has no text of a user (was the content recorded?)"
    if not any(m.role == "assistant" and m.content for m in messages):
        return "has no text of an agent (was the content recorded?)"
    environment = domain.environment()
    calls = [call for call in conversation.calls if call.call.malformed is None]
    unknown = {call.call.name for call in calls if not environment.has_tool(call.call.name, call.call.requestor)}
    unknown &= {call.call.name for call in calls if call.result is not None and not is_error(call.result)}
    if unknown:
        return f"calls tools that {domain.name} does not have: {', '.join(sorted(unknown))}"
    lost = [call.call.name for call in calls if call.result is None or call.result.content is None]
    return f"the results of {', '.join(lost[:3])} were lost" if lost else ""


def _made(
    conversation: Simulation,
    calls: Sequence[Call],
    domain: Domain,
    choices: Choices,
    origin: dict[str, Any],
    inferred: Inferred,
) -> Made:
    messages = conversation.messages
    writes = [call.message_idx for call in calls if _changes(call, domain)]
    objected = list(objections(messages, writes))
    bare = Task(id=_id_of(conversation), user_scenario=UserScenario(instructions=""), initial_state=inferred.state)
    reference = reference_of(domain, bare, messages, calls, objected)
    decided = choices.decided
    if reference.objected and not choices.wrong and decided is None:
        first_objection = reference.objected
        place = number_in_run(conversation, first_objection.number)
        problem = (
            f"the person objects to what was done (message {place}: {shorten(first_objection.text, _LONGEST_SAID)!r})"
        )
        return Made(conversation.id, refused=f"{problem}: --wrong makes a draft of it")
    scenario = decided and decided.user_scenario
    scenario = scenario or scenario_of(
        domain, bare, messages, calls, domain.name, {objection.number for objection in objected}
    )
    draft = choices.wrong and decided is None
    criteria = decided.criteria if decided else reference.criteria(communicate=choices.communicate)
    broken = _broken_rules(conversation, bare, domain)
    task = bare.model_copy(
        update={
            "user_scenario": scenario,
            "evaluation_criteria": _to_be_decided(criteria) if draft else criteria,
            "description": _description(conversation, choices, broken),
            "annotations": _annotations(inferred, reference, origin, broken, draft=draft)
            | ({"objections": [objection.text for objection in objected]} if objected else {}),
        }
    )
    likeness = (
        tuple((action.name, str(sorted(action.arguments.items()))) for action in criteria.actions or ()),
        " ".join(sorted(alphanumeric_words(scenario.script.requests[0].say))) if scenario.script else "",
    )
    notes = tuple(f"message {number_in_run(conversation, n.message_idx)}: {n.text}" for n in inferred.differences)
    made = Made(conversation.id, task, notes=notes, draft=draft, likeness=likeness)
    return made if draft else _proved(made, task, prove(task, domain, conversation, wrong=choices.wrong))


def _proved(made: Made, task: Task, checks: Iterable[Check]) -> Made:
    """Return what was made of a conversation with its proof, or without its task if a check fails."""
    proof = tuple(checks)
    failed = next((check for check in proof if not check.ok), None)
    if failed is not None:
        return made._replace(task=None, refused=f"{failed.name}: {failed.text}", proof=proof)
    proved = {**task.annotations, "proof": {check.name: check.text for check in proof}}
    return made._replace(task=task.model_copy(update={"annotations": proved}), proof=proof)


def _changes(call: Call, domain: Domain) -> bool:
    succeeded = call.result is not None and not is_error(call.result)
    return succeeded and domain.environment().mutates(call.call.name, call.call.requestor)


def _id_of(conversation: Simulation) -> str:
    first = next((m.content or "" for m in conversation.messages if m.role == "user" and m.content), "")
    keywords = [word for word in plain_words(first) if word.isascii() and word not in _LITTLE]
    texts = [m.content or "" for m in conversation.messages]
    calls = [call_as_text(call.call.name, call.call.arguments) for call in conversation.calls]
    return "-".join([*keywords[:_WORDS_OF_ID], digest(" ".join([*texts, *calls]))[:6]])[:60]


def _broken_rules(conversation: Simulation, task: Task, domain: Domain) -> list[str]:
    report = check_policy(conversation.messages, task, domain)
    return [breach.line() for breach in report.breaches] if report else []


def _to_be_decided(criteria: EvaluationCriteria) -> EvaluationCriteria:
    decide = "DECIDE: the conversation did this; keep it, change it or remove it"
    actions = [action.model_copy(update={"info": decide}) for action in criteria.actions or ()]
    return criteria.model_copy(update={"actions": actions})


def _description(conversation: Simulation, choices: Choices, broken: Sequence[str]) -> Description:
    traces = stored_facts(conversation).get("trace_ids", [])
    source = f" (trace {', '.join(traces[:_MOST_LISTED])})" if traces else ""
    kind = "that went wrong" if choices.wrong else "that went right"
    return Description(
        purpose=f"Made of the recorded conversation {conversation.id}{source}, {kind}.",
        relevant_policies="\n".join(broken) or None,
    )


def _annotations(
    inferred: Inferred, reference: Reference, origin: dict[str, Any], broken: Sequence[str], *, draft: bool
) -> dict[str, Any]:
    notes: dict[str, Any] = {"origin": origin}
    if inferred.differences:
        notes["differing_results"] = [
            f"message {difference.message_idx}: {difference.text}" for difference in inferred.differences
        ]
    if reference.dropped:
        notes["without_effect"] = [call_as_text(action.name, action.arguments) for action in reference.dropped]
    if reference.said:
        notes["communicate_candidates"] = reference.said
    if broken:
        notes["broken_rules"] = list(broken)
    if draft:
        notes["draft"] = "decide what should have happened, then: tau task-from RUN#ID --wrong --reference THIS_FILE"
    return notes
