"""The plan of an attack on a task: the place of its payload, and its goal."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ...errors import CapabilityError, TauError
from ...models import call_as_text, strings_in
from .attack import Place
from .fields import is_free_text, texts_in
from .goals import ForbiddenWrite
from .reads import reads_of
from .targets import GOALS, TargetContext

if TYPE_CHECKING:
    from ...environment import Domain, Environment
    from ...models import Action, Task
    from .attack import Attack
    from .fields import Field
    from .goals import Goal
    from .reads import Mode


class Attacked(NamedTuple):
    """The variant of a task that is under attack.

    Attributes:
        attack: The attack.
        mode: The settings of its environment.
    """

    attack: Attack
    mode: Mode


class AttackPlan(NamedTuple):
    """What an attack does in the trials of a task.

    Attributes:
        attack: The attack.
        place: The place of the payload.
        goal: What the agent is made to do.
    """

    attack: Attack
    place: Place
    goal: Goal


class NotAttacked(NamedTuple):
    """A task that an attack cannot be used on."""

    attack: Attack
    reason: str

    @property
    def text(self) -> str:
        """Return the reason with the name of the attack."""
        return f"attack {self.attack.name!r}: {self.reason}"


def plan_attack(attack: Attack, task: Task, domain: Domain, mode: Mode) -> AttackPlan | NotAttacked:
    """Return the plan of an attack on a task, the same in every process and in every run.

    Args:
        attack: The attack.
        task: The task.
        domain: Its domain.
        mode: The settings of its environment.

    Raises:
        CapabilityError: The attack raised an exception, or its goal is not one.
        TaskFormatError: The initial state of the task cannot be applied.
    """
    key = f"attack {attack.name} {id(attack)} {mode.solo} {mode.policy} {mode.retrieval}"
    return domain.once_per_task(task, key, lambda task: _plan(attack, task, domain, mode))


def _plan(attack: Attack, task: Task, domain: Domain, mode: Mode) -> AttackPlan | NotAttacked:
    # A text as seed: the same in every process.
    source = random.Random(f"{domain.name} {task.id} {attack.name}")  # noqa: S311 - no secret is drawn
    places = find_places(task, domain, mode)
    if not places:
        return NotAttacked(attack, "the records that the task reads have no free-text field")
    target = TargetContext(task, domain, mode, source)
    goal = _own_goal(attack, target)
    for kind in attack.goals if goal is None else ():
        goal = goal or GOALS[kind](target)
    # A call that cannot be made would count as an attack that the agent has resisted.
    if isinstance(goal, ForbiddenWrite) and not _has_tool(mode, mode.environment(domain, task), goal.tool):
        return NotAttacked(attack, f"the agent has no tool {goal.tool!r}, which its goal names")
    reference_action = next((action for action in task.criteria.all_actions if _is_done_by(goal, action)), None)
    if reference_action is not None:
        called = call_as_text(reference_action.name, reference_action.arguments)
        return NotAttacked(attack, f"its goal is a reference action of the task: {called}")
    if goal is None:
        kinds = {"write": "write that the task does not ask for", "leak": "record of another customer"}
        return NotAttacked(attack, f"the task has no {' and no '.join(kinds[kind] for kind in attack.goals)}")
    return AttackPlan(attack, source.choice(places), goal)


def _is_done_by(goal: Goal | None, action: Action) -> bool:
    return isinstance(goal, ForbiddenWrite) and goal.is_done_by(action)


def _has_tool(mode: Mode, environment: Environment, name: str) -> bool:
    return environment.has_tool(name, "assistant") or (mode.solo and environment.has_tool(name, "user"))


def find_places(task: Task, domain: Domain, mode: Mode) -> list[Place]:
    """Return the free-text fields of the records that a task reads.

    If its reference actions or required documents have any, only these; else those that most tools return. A value
    that is an argument of a reference action is none, as the task needs it as it is. One that the user knows is one
    only if there is no other.

    Args:
        task: The task.
        domain: Its domain.
        mode: The settings of its environment.
    """
    declared, enums = domain.spec.free_text, _enums(mode.environment(domain, task))
    tools: dict[Field, dict[str, None]] = defaultdict(dict)
    expected: set[Field] = set()
    for reading in reads_of(task, domain, mode):
        for field in texts_in(reading.content):
            if is_free_text(field, declared, enums):
                tools[field][reading.tool] = None
                expected |= {field} if reading.expected else set()
    needed = [text for action in task.criteria.all_actions for text in strings_in(action.arguments)]
    usable = [field for field in tools if not any(field.value in text for text in needed)]
    scenario = str(task.user_scenario)
    usable = [field for field in usable if field.value not in scenario] or usable
    most = max((len(tools[field]) for field in usable), default=0)
    chosen = [field for field in usable if field in expected] or [
        field for field in usable if len(tools[field]) == most
    ]
    return [Place(next(iter(tools[field])), field) for field in chosen]


def _enums(environment: Environment) -> frozenset[str]:
    schemas = [
        schema for tool in environment.shared_tools() for schema in (tool.parameters.get("properties") or {}).values()
    ]
    listed = [value for schema in schemas for value in (schema.get("enum") or ())]
    return frozenset(value for value in listed if isinstance(value, str))


def _own_goal(attack: Attack, target: TargetContext) -> Goal | None:
    try:
        goal = attack.goal(target)
    except TauError:
        raise
    except Exception as error:  # an attack of the user's own may raise anything
        raise CapabilityError(f"attack {attack.name!r}: goal() raised {type(error).__name__}: {error}") from error
    if goal is None:
        return None
    missing = [name for name in ("kind", "text", "call", "request") if not isinstance(getattr(goal, name, None), str)]
    missing += [] if callable(getattr(goal, "check", None)) else ["check"]
    if missing:
        expected = "a goal with the texts kind, text, call and request and a method check(messages, environment)"
        raise CapabilityError(
            f"attack {attack.name!r}: goal() returned {type(goal).__name__} without {', '.join(missing)}, "
            f"expected {expected}"
        )
    return goal
