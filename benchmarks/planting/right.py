"""A right task, and what is proved of it: which actions its text asks for, and which of others would pass too."""

from __future__ import annotations

import copy
import functools
import random
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_tau.evaluation import BUILT_IN_JUDGES, Evaluation, Judged, grade
from pytest_tau.models import GREETING, AssistantMessage, NLAssertionCheck, ToolCall, UserMessage
from pytest_tau.policy import check_policy, load_rules
from pytest_tau.references.sides import tools_of

from .values import Records, data_of, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_tau import Domain, Task
    from pytest_tau.environment import Environment
    from pytest_tau.models import Action, Message

_EVALUATION = Evaluation(judge=BUILT_IN_JUDGES["accept"])


class Fault(NamedTuple):
    """A task with a fault.

    Attributes:
        task: The task.
        what: What was done to it.
        position: The action that has it, or that is open; None for a fault elsewhere.
        argument: The argument; empty if it is not one of an argument.
    """

    task: Task
    what: str
    position: int | None = None
    argument: str = ""


class Right:
    """A task that is right, in its domain.

    Attributes:
        task: The task.
        domain: Its domain.
        pool: The reference actions of all tasks of the domain.
    """

    def __init__(self, task: Task, domain: Domain, pool: Sequence[Action]) -> None:
        self.task, self.domain, self.pool = task, domain, pool

    @property
    def actions(self) -> list[Action]:
        """The reference actions."""
        return list(self.task.criteria.actions or [])

    @property
    def phrases(self) -> list[str]:
        """The required statements."""
        return list(self.task.criteria.communicate_info or [])

    @property
    def text(self) -> str:
        """The text of the user."""
        return str(self.task.user_scenario)

    @functools.cached_property
    def environment(self) -> Environment:
        """The state at the beginning; for reading only."""
        return self.domain.environment(self.task)

    @functools.cached_property
    def records(self) -> Records:
        """The records of the state at the beginning."""
        if self.task.initial_state is None:
            return untouched_records(self.domain)
        return Records(data_of(self.domain, self.environment))

    @functools.cached_property
    def tools(self) -> Mapping[str, Any]:
        """The agent's tools, also those that are found out."""
        return tools_of(self.domain, "assistant")

    def random(self, kind: str, seed: int) -> random.Random:
        """Return a source of chance for a kind of fault, which depends on nothing else."""
        return random.Random(f"{seed} {self.domain.name} {self.task.id} {kind}")  # noqa: S311 - repeatable

    def writes(self, actions: Sequence[Action] | None = None) -> Iterator[tuple[int, Action]]:
        """Yield the actions that change the state, with their positions; without any, those of the reference."""
        environment = self.environment.fork()
        for position, action in enumerate(self.actions if actions is None else actions):
            before = environment.fork()
            environment.call(action.name, action.arguments, action.requestor)
            if not environment.equals(before):
                yield position, action

    @functools.cached_property
    def shown(self) -> set[str]:
        """The texts in the records that the reference is about: an agent can read them."""
        named = {str(value) for each in self.actions for _, value in leaves(each.arguments)}
        near = [key for keys in self.records.near(named).values() for key in keys]
        holders = [holder for key in near for holder in self.records.holders.get(key, ())]
        return {str(leaf) for group, key in holders for _, leaf in leaves(group.records[key])}

    def results(self, task: Task) -> list[str]:
        """Return the results of the reference actions in the state of a task."""
        environment = self.domain.environment(task)
        made = [environment.call(each.name, each.arguments, each.requestor) for each in self.actions]
        return [message.content or "" for message in made]

    def breaks_rule(self, actions: Sequence[Action], task: Task) -> bool:
        """Return whether actions break a rule of calls of the domain's policy."""
        rules = [rule for rule in load_rules(self.domain.spec) if rule.absolute or rule.of_reference]
        environment = self.domain.environment(task)
        messages: list[Message] = [*task.message_history, UserMessage(content=self.text)]
        for number, each in enumerate(actions):
            call = ToolCall(id=str(number), name=each.name, arguments=each.arguments, requestor=each.requestor)
            side = AssistantMessage if each.requestor == "assistant" else UserMessage
            messages += [side(tool_calls=[call]), environment.answer(call)]
        report = check_policy(messages, task, self.domain, rules=rules) if rules else None
        return bool(report and report.breaches)

    def succeeds(self, actions: Sequence[Action], task: Task | None = None) -> bool:
        """Return whether all actions can be carried out, in the state of this task or of another one."""
        environment = self.domain.environment(task) if task else self.environment.fork()
        return not any(environment.call(each.name, each.arguments, each.requestor).error for each in actions)

    def passes(self, task: Task, actions: Sequence[Action], phrases: Sequence[str] | None = None) -> bool:
        """Return whether an agent passes that makes these actions, and says what is required of the right task."""
        messages: list[Message] = [*task.message_history]
        for action in actions:
            call = ToolCall(name=action.name, arguments=copy.deepcopy(action.arguments), requestor=action.requestor)
            side = AssistantMessage if action.requestor == "assistant" else UserMessage
            messages.append(side(tool_calls=[call]))
        said = "\n".join(self.phrases if phrases is None else phrases) or GREETING
        messages += [AssistantMessage(content=said), UserMessage(content="###STOP###")]
        statements = task.criteria.nl_assertions or []
        verdicts = [NLAssertionCheck(nl_assertion=text, met=True, justification="accept") for text in statements]
        return grade(task, messages, "user_stop", self.domain, _EVALUATION, Judged(verdicts)).passed

    def with_actions(self, actions: Sequence[Action]) -> Task:
        """Return the task with another reference."""
        criteria = self.task.criteria.model_copy(update={"actions": list(actions)})
        return self.task.model_copy(update={"evaluation_criteria": criteria})

    def with_argument(self, position: int, arguments: Mapping[str, Any]) -> list[Action]:
        """Return the reference with other arguments of an action."""
        actions = self.actions
        actions[position] = actions[position].model_copy(update={"arguments": dict(arguments)})
        return actions


@functools.lru_cache(maxsize=1)
def untouched_records(domain: Domain) -> Records:
    """Return the records of a domain's data."""
    return Records(data_of(domain))
