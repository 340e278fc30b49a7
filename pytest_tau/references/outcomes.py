"""Other right outcomes of a task: the proof that they are right, and proposals for its open choices."""

from __future__ import annotations

from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..environment import check_comparable, check_task, shared_reference, unstable_reference
from ..errors import DomainError, TaskFormatError, ToolServerError
from ..evaluation import Evaluation, components_of, grade, known_components
from ..evaluation.components.db import same_state
from ..models import AssistantMessage, Outcome, ToolMessage, UserMessage, clone
from ..text import listed, one_line
from .rules import breaches_in, carried_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Action, Message, Task

#: Combinations of alternatives that are tried for a task.
_MOST = 64
#: Checks that are named.
_MOST_NAMES = 3
#: Characters of an error of a tool, and of a call.
_WIDTH = 160


class Choice(Protocol):
    """An argument of a reference action with other admissible values, as ``open_choices`` returns them."""

    @property
    def action(self) -> int:
        """The position of the action."""

    @property
    def argument(self) -> str:
        """The path of the argument, such as ``payment_method_id`` or ``new_item_ids.0``."""

    @property
    def alternatives(self) -> Sequence[Any]:
        """The other values."""

    @property
    def why(self) -> str:
        """Why they are admissible."""


def prove(task: Task, domain: Domain, outcome: Outcome) -> list[str]:
    """Return why an outcome is not proved to be right; nothing if it is.

    It is if it says why, its actions succeed and break no rule of calls that the policy states, they lead to the same
    state each time, which meets the checks of the task, and the reference actions and the outcomes before it lead to
    others.

    Args:
        task: The task.
        domain: Its domain.
        outcome: One of the outcomes of the task, or another one, which is then compared with all of them.
    """
    problems = [] if outcome.why.strip() else ["why is empty: say why it is right as well"]
    whole = _with_criteria(task, outcomes=[outcome])
    right = whole.of_outcome(0)
    try:
        check_comparable(whole, domain.spec)
        check_task(right, domain.spec, right.criteria.reward_basis, solo=right.ticket is not None)
        messages = carried_out(right, domain)
        if failed := [*_failed(right, messages)]:
            return [*problems, *failed]
        problems += _breaches(right, domain, messages)
        unstable = unstable_reference(domain, right)
        problems += [unstable] if unstable else _unmet(right, domain, messages)
        return [*problems, *_equal_ones(task, outcome, right, domain)]
    except TaskFormatError as error:
        field = (error.field or "").removeprefix("evaluation_criteria.")
        return [*problems, f"{field}: {error.problem}"]
    except (DomainError, ToolServerError) as error:
        return [*problems, str(error)]


def _with_criteria(task: Task, **changes: Any) -> Task:
    return task.model_copy(update={"evaluation_criteria": task.criteria.model_copy(update=changes)})


def _failed(right: Task, messages: Sequence[Message]) -> Iterator[str]:
    """Yield which actions fail, or do not fail as they are meant to."""
    results = [message for message in messages if isinstance(message, ToolMessage)]
    actions = right.criteria.actions or []
    for position, (action, result) in enumerate(zip(actions, results[len(results) - len(actions) :], strict=True)):
        if result.error and not action.fails:
            yield f"action {position} ({action.name}) fails: {one_line(result.content or '', _WIDTH)}"
        if action.fails and not result.error:
            yield f"action {position} ({action.name}) is meant to fail, and does not"


def _breaches(right: Task, domain: Domain, messages: Sequence[Message]) -> Iterator[str]:
    """Yield the rules of calls that the actions break."""
    for breach in breaches_in(messages, right, domain):
        called = f"{one_line(breach.call_text, _WIDTH)}: " if breach.call_text else ""
        yield f"it breaks the rule {breach.rule}: {called}{breach.evidence}"


def _unmet(right: Task, domain: Domain, messages: Sequence[Message]) -> list[str]:
    """Return that the end state does not meet what else the task checks, except by judges and plugins."""
    basis = [name for name in right.criteria.reward_basis if name in known_components(())]
    checked = _with_criteria(right, reward_basis=basis, nl_assertions=None)
    said = "\n".join(right.criteria.communicate_info or []) or None
    ending: list[Message] = [AssistantMessage(content=said or "Done."), UserMessage(content="###STOP###")]
    verdict = grade(checked, [*messages, *ending], "user_stop", domain, Evaluation())
    unmet = [check for each in components_of(verdict) if each.gates(verdict) for check in each.failed_checks(verdict)]
    return [] if verdict.passed else [f"it does not earn reward 1: {listed(unmet, _MOST_NAMES)}"]


def _equal_ones(task: Task, outcome: Outcome, right: Task, domain: Domain) -> Iterator[str]:
    """Yield that the reference actions or an outcome before this one lead to the same state."""
    outcomes = task.criteria.outcomes or []
    end = next((position for position, each in enumerate(outcomes) if each is outcome), len(outcomes))
    for position in (None, *range(end)):
        if same_state(shared_reference(domain, right), shared_reference(domain, task.of_outcome(position))):
            other = "the reference actions" if position is None else f"outcome {position}"
            yield f"it leads to the same state as {other}: remove it"


class _Change(NamedTuple):
    """Another value of arguments, each given by the position of its action."""

    positions: tuple[int, ...]
    argument: str
    value: Any
    why: str


def propose(task: Task, domain: Domain, choices: Sequence[Choice]) -> list[Outcome]:
    """Return the outcomes that open choices of the reference actions lead to, each proved.

    Args:
        task: The task; none of its own outcomes is proposed again.
        domain: Its domain.
        choices: Its open choices. Where other actions have the same value of the argument, it is also changed in all of
            them at once; several choices are combined, within limits.
    """
    actions, known = task.criteria.actions or [], [*(task.criteria.outcomes or ())]
    found: list[Outcome] = []
    for changes in islice(_combined([[*_changes(actions, choice)] for choice in choices]), _MOST):
        outcome = Outcome(actions=_changed(actions, changes), why="; ".join(change.why for change in changes))
        if not prove(_with_criteria(task, outcomes=[*known, *found]), domain, outcome):
            found.append(outcome)
    return found


def _combined(options: Sequence[Sequence[_Change]]) -> Iterator[tuple[_Change, ...]]:
    """Yield the combinations of changes of different choices, the smallest first."""
    for size in range(1, len(options) + 1):
        for chosen in combinations(options, size):
            yield from product(*chosen)


def _changes(actions: Sequence[Action], choice: Choice) -> Iterator[_Change]:
    value = _value_at(actions[choice.action].arguments, choice.argument)
    alike = tuple(n for n, each in enumerate(actions) if _value_at(each.arguments, choice.argument) == value)
    for alternative in choice.alternatives:
        for positions in dict.fromkeys(((choice.action,), alike)):
            where = " and ".join(f"action {position} ({actions[position].name})" for position in positions)
            why = f"{where}: {choice.argument} {alternative} instead of {value}: {choice.why}"
            yield _Change(positions, choice.argument, alternative, why)


def _changed(actions: Sequence[Action], changes: Sequence[_Change]) -> list[Action]:
    changed = [action.model_copy(update={"arguments": clone(action.arguments)}) for action in actions]
    for change in changes:
        *way, last = change.argument.split(".")
        for position in change.positions:
            holder: Any = changed[position].arguments
            holder = _value_at(holder, ".".join(way)) if way else holder
            holder[int(last) if isinstance(holder, list) else last] = change.value
    return changed


def _value_at(arguments: Any, path: str) -> Any:
    """Return the value at a path; ``...`` if there is none."""
    found = arguments
    for part in path.split("."):
        try:
            found = found[int(part) if isinstance(found, list) else part]
        except (LookupError, TypeError, ValueError):
            return ...
    return found
