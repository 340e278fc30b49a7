"""The steps of a trace that are part of a conversation: what is in what, and what each has from those around it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .conventions import Step, step_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .spans import Span


def steps_of(spans: Iterable[Span]) -> list[Step]:
    """Return the steps of a trace that are part of a conversation, each with the key and the agent of its trace.

    What is under a tool or a guard is aside, unless nothing else is there. Of calls of models that are instrumented
    twice, one inside the other, the outer one counts if it has messages. Agents count where models say nothing.
    """
    steps = {step.id: step for step in map(step_of, spans)}
    tree = Tree(steps)
    histories = [step for step in steps.values() if "simulation" in step.own and _is_history(step)]
    _spread(list(steps.values()), tree)
    models = [step for step in steps.values() if step.role == "model"]
    if histories:  # our own export, which has all messages once
        models = _with_usage_of(models, histories[:1])
    aside = set(tree.under(lambda step: step.role in ("tool", "aside")))
    if all(step.id in aside for step in models):
        aside = set()
    models = [step for step in _without_twins(models, tree) if step.id not in aside]
    if not any(step.has_messages for step in models):
        agents = {step.id for step in steps.values() if _is_history(step)}
        inner = tree.under(lambda step: step.id in agents)
        outer = [step for step in steps.values() if step.id in agents and step.id not in inner]
        for step in outer:
            step.role, step.answers = "model", step.answers[:1]
        models = outer or models
    last = max(models, key=lambda step: step.start, default=None)
    if last is not None and last.has_messages and not last.answers and last.error is None:
        around = tree.under(lambda step: step.role == "agent" and bool(step.answers)).get(last.id)
        last.answers = around.answers[:1] if around else []
    tools = [step for step in steps.values() if step.role == "tool" and step.id not in aside]
    numbers = {step.id for step in models}
    within = tree.under(lambda step: step.id in numbers)
    for step in tools:
        step.within = within[step.id].id if step.id in within else ""
    return [*models, *tools]


class Tree:
    """The steps of a trace in each other.

    Args:
        steps: The steps by id. Of parents in a circle, one has none.
    """

    def __init__(self, steps: dict[str, Step]) -> None:
        self._parents: dict[str, Step] = {}
        self._in_order: list[Step] = []
        placed = set[str]()
        for step in steps.values():
            path, at = dict[str, Step](), step
            while at.id not in placed and at.id not in path:
                path[at.id] = at
                if at.parent not in steps or at.parent in path:
                    break
                self._parents[at.id] = at = steps[at.parent]
            placed.update(path)
            self._in_order += reversed(path.values())

    def under(self, matches: Callable[[Step], bool]) -> dict[str, Step]:
        """Return the nearest step around each that is wanted, by the id of the inner one; none for others."""
        enclosing: dict[str, Step] = {}
        for step in self._in_order:
            parent = self._parents.get(step.id)
            nearest = parent if parent is not None and matches(parent) else parent and enclosing.get(parent.id)
            if nearest is not None:
                enclosing[step.id] = nearest
        return enclosing


def _spread(steps: list[Step], tree: Tree) -> None:
    """Give each step the key of its trace and the name of the agent around it; instrumentation sets them on some."""
    best = min((step.rank for step in steps), default=0)
    keys = {step.key for step in steps if step.rank == best and step.key}
    shared_attributes: dict[str, Any] = {}
    for step in steps:
        shared_attributes |= {name: value for name, value in step.own.items() if name not in ("role", "history")}
    user = next((step.user for step in steps if step.user), "")
    keyed = tree.under(lambda step: bool(step.key) and step.rank == best)
    with_agent = tree.under(lambda step: bool(step.agent))
    inherited = {step.id: step if step.key and step.rank == best else keyed.get(step.id) for step in steps}
    inherited_keys = {name: (step.key if step else "") for name, step in inherited.items()}
    agents = {name: step.agent for name, step in with_agent.items()}
    for step in steps:
        step.key = next(iter(keys)) if len(keys) == 1 else inherited_keys[step.id] or step.key
        step.agent = step.agent or agents.get(step.id, "")
        step.own, step.user = {**shared_attributes, **step.own}, step.user or user


def _without_twins(models: list[Step], tree: Tree) -> list[Step]:
    dropped: set[str] = set()
    around = tree.under(lambda step: step.role == "model")
    for step in models:
        outer = around.get(step.id)
        if outer is not None:
            dropped.add(step.id if outer.has_messages else outer.id)
            if outer.has_messages:
                outer.usage = outer.usage or step.usage
    return [step for step in models if step.id not in dropped]


def _with_usage_of(models: list[Step], histories: list[Step]) -> list[Step]:
    """Return the span of a trial as the only call of a model, with what those of the agent took."""
    of_agent = [step for step in models if step.own.get("role") != "user"]
    for step in histories:
        totals = Counter[str]()
        for model_step in of_agent:
            totals.update(model_step.usage)
        step.role, step.usage = "model", {**totals, "calls": len(of_agent)}
        step.model = next((model_step.model for model_step in of_agent), "")
    return histories


def _is_history(step: Step) -> bool:
    """Return whether an agent's span has a message of the user and one of the agent."""
    roles = {
        message.role
        for message in (*step.asked, *(answer_message for answer in step.answers for answer_message in answer))
    }
    return step.role == "agent" and {"user", "assistant"} <= roles
