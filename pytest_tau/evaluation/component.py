"""The protocol of reward components: the questions that grading and reports ask each of them.

The smallest component is an ``Evaluator``: a name and a method ``evaluate``. Whoever wants more derives a class from
``CustomComponent`` and overrides the methods of ``ComponentReports``. The built-in components, one module each in
``components``, implement the same methods; most of them write fields of τ²-bench instead of ``custom_checks``.
"""

from __future__ import annotations

import abc
import functools
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Protocol

from ..environment import shared_reference
from ..errors import EvaluatorError, is_interrupt
from ..models import CustomCheck, RewardInfo, clone
from .component_reports import Check, ComponentReports, Line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain, Environment
    from ..models import Call, Message, NLAssertionCheck, Task
    from .grading import Grading


#: Characters of a wrong result that are shown.
_LONGEST = 100


class Evaluator(Protocol):
    """A reward component of one's own; gates where a task's reward basis names it.

    Attributes:
        name: The component's name in reward bases and reports.
    """

    name: str

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck | float:
        """Return the component's value, a number from 0 to 1, if possible in a ``CustomCheck`` with a justification.

        Args:
            task: What was to be done.
            messages: The trajectory, oldest first.
            environment: The final environment; for reading only.
        """
        ...


@dataclass(frozen=True)
class GradingInput:
    """A conversation that is graded.

    Attributes:
        task: What was to be done.
        messages: The trajectory, oldest first.
        domain: The domain it took place in.
        grading: The profile.
        solo: The agent worked alone, with both sides' tools.
        verdicts: The judge's on the task's NL assertions; None if no judge was asked.
    """

    task: Task
    messages: Sequence[Message]
    domain: Domain
    grading: Grading
    solo: bool = False
    verdicts: list[NLAssertionCheck] | None = None

    @functools.cached_property
    def environment(self) -> Environment:
        """The final environment: the conversation replayed on a fresh one, at first use."""
        environment = self.domain.environment(self.task, solo=self.solo, replay_history=False)
        environment.replay(self.messages)
        return environment

    @property
    def reference(self) -> Environment | None:
        """The environment after the reference actions; None if the task has neither actions nor assertions."""
        reference = self.shared_reference
        return reference and reference.fork()

    @functools.cached_property
    def shared_reference(self) -> Environment | None:
        """The same, shared by all conversations of the task, for reading only."""
        criteria = self.task.criteria
        gated = criteria.actions is not None or criteria.env_assertions is not None
        return shared_reference(self.domain, self.task) if gated else None


class RewardComponent(ComponentReports):
    """A factor of the reward.

    Attributes:
        name: The component's name in reward bases and reports.
    """

    def applies(self, task: Task) -> bool:
        """Return whether a built-in component checks a task; by default it always does, and finds what there is."""
        del task
        return True

    @abc.abstractmethod
    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Check a conversation and write the checks into the verdict."""

    @abc.abstractmethod
    def value(self, verdict: RewardInfo) -> float | None:
        """Return the component's factor; None if it was not checked and is not a factor."""


class CustomComponent(RewardComponent):
    """A component whose checks are ``custom_checks`` under its name."""

    @abc.abstractmethod
    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck | float:
        """Return the component's value, as ``Evaluator.evaluate`` does."""

    def applies(self, task: Task) -> bool:
        """Return whether the reward basis names the component, as a task has no criteria of its own for it."""
        return self.name in task.criteria.reward_basis

    def grade(self, given: GradingInput, verdict: RewardInfo) -> None:
        """Add what ``evaluate`` returns to the custom checks.

        Raises:
            EvaluatorError: It failed, or returned something else; names evaluator and task.
        """
        try:
            check: object = self.evaluate(*clone((given.task, list(given.messages))), given.environment)
        except BaseException as error:
            if is_interrupt(error):
                raise
            # A foreign evaluator may raise anything.
            problem = f"evaluator {self.name!r} failed on task {given.task.id!r}: {type(error).__name__}: {error}"
            raise EvaluatorError(problem) from error
        verdict.custom_checks = [*(verdict.custom_checks or []), self._as_check(check, given.task)]

    def _as_check(self, result: object, task: Task) -> CustomCheck:
        """Return the result of ``evaluate`` as a check; a number is its reward.

        Raises:
            EvaluatorError: It is something else, or the reward is not from 0 to 1.
        """
        if isinstance(result, Real):
            result = CustomCheck(name=self.name, reward=float(result))
        if not isinstance(result, CustomCheck):
            problem = f"returned {_short(result)}"
        elif result.name != self.name:
            problem = f"returned a CustomCheck with the name {result.name!r}"
        elif not 0 <= result.reward <= 1:
            problem = f"returned the reward {result.reward:g}"
        else:
            return result
        raise EvaluatorError(
            f"evaluator {self.name!r} {problem} for task {task.id!r}; expected a number from 0 to 1, or "
            f"CustomCheck(name={self.name!r}, reward=…, justification=…) with such a reward"
        )

    def value(self, verdict: RewardInfo) -> float | None:
        """Return the reward of the last check."""
        return next((check.reward for check in reversed(self._found(verdict))), 1.0)

    def checks(self, verdict: RewardInfo) -> list[Check]:
        """Return the checks, named after the component."""
        return [
            Check(self.name, check.reward >= 1, None, self.name, check.justification) for check in self._found(verdict)
        ]

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return a line for each check below 1."""
        del calls
        return [
            Line("bad", f"{self.name} {check.reward:g}" + (f": {check.justification}" if check.justification else ""))
            for check in self._found(verdict)
            if check.reward < 1
        ]

    def _found(self, verdict: RewardInfo) -> list[CustomCheck]:
        return [check for check in verdict.custom_checks or [] if check.name == self.name]


def _short(value: object) -> str:
    """Return a representation of a result, of at most a line."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class StoredComponent(CustomComponent):
    """A component that can only report on stored verdicts, as its evaluator is not available."""

    def __init__(self, name: str) -> None:
        self.name = name

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck | float:
        """Grade nothing.

        Raises:
            EvaluatorError: Always.
        """
        raise EvaluatorError(f"evaluator {self.name!r} is not available")


class PluginReports(StoredComponent):
    """The reports of a plugin's component; an answer that fails is replaced by the default one."""

    def __init__(self, component: RewardComponent) -> None:
        super().__init__(component.name)
        self._component = component

    def value(self, verdict: RewardInfo) -> float | None:
        """Return the component's factor."""
        return self._component.value(verdict)

    def explain(self, verdict: RewardInfo, calls: Sequence[Call]) -> list[Line]:
        """Return the component's lines, or the default ones with a note of what went wrong."""
        try:
            return [Line(*line) for line in self._component.explain(verdict, calls)]
        except BaseException as error:
            if is_interrupt(error):
                raise
            # Foreign code may raise anything, and the verdict stands.
            problem = f"  {self.name} could not be explained: {type(error).__name__}: {error}"
            return [*super().explain(verdict, calls), Line("note", problem)]

    def failed_checks(self, verdict: RewardInfo) -> list[str]:
        """Return the component's names of its unmet checks, or the default ones."""
        try:
            return [str(check) for check in self._component.failed_checks(verdict)]
        except BaseException as error:
            if is_interrupt(error):
                raise
            # Likewise; the failure report notes such an error.
            return super().failed_checks(verdict)


class _EvaluatorComponent(CustomComponent):
    """A component that has no more than a name and ``evaluate``."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.name, self._evaluator = evaluator.name, evaluator

    def evaluate(self, task: Task, messages: Sequence[Message], environment: Environment) -> CustomCheck | float:
        return self._evaluator.evaluate(task, messages, environment)


def as_component(evaluator: Evaluator | RewardComponent) -> RewardComponent:
    """Return an evaluator as a component; one that is a component stays itself."""
    return evaluator if isinstance(evaluator, RewardComponent) else _EvaluatorComponent(evaluator)
