"""The approver by the script of a task: its annotation ``tau.approver``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import TaskFormatError
from ...lint import Finding
from ...models import APPROVER, first_problem
from ...policy import Approval, approvals_of, check_approval, parse_approval
from .approver import Decision

if TYPE_CHECKING:
    from ...capability import LintView
    from ...environment import Domain
    from ...models import Task
    from .approver import ApprovalRequest

_KINDS: dict[str, Any] = {"approve": "approved", "reject": "rejected", "ask": "question"}


class ScriptedAnswer(BaseModel):
    """An answer of the script.

    Attributes:
        answer: ``approve``, ``reject`` or ``ask``.
        text: The reason, or the question.
        to: The calls that it is about, as in a policy: ``refund(amount > 100)``; None for any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: Literal["approve", "reject", "ask"]
    text: str = ""
    to: str | None = None

    @property
    def calls(self) -> Approval | None:
        """Return what calls it is about; None for any.

        Raises:
            ValueError: ``to`` has another form.
        """
        return None if self.to is None else parse_approval(self.to)


class Script(BaseModel):
    """What an approver knows of a task.

    Attributes:
        instructions: A text for a model or a person.
        answers: The answers of the script.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    instructions: str = ""
    answers: tuple[ScriptedAnswer, ...] = ()


def script_of(task: Task, domain: Domain) -> Script:
    """Return the script of a task; an empty one if it has none.

    Raises:
        TaskFormatError: It does not follow the format, or names an unknown tool or argument.
    """
    stored = task.annotations.get(APPROVER) if isinstance(task.annotations, dict) else None
    field = f"annotations.{APPROVER}"
    try:
        script = Script.model_validate(stored or {})
        for answer in script.answers:
            if answer.calls is not None:
                check_approval(answer.calls, domain.spec.agent_tools.tools())
    except ValidationError as error:
        raise TaskFormatError(first_problem(error, field), task_id=task.id, field=field) from None
    except ValueError as error:
        raise TaskFormatError(str(error), task_id=task.id, field=field) from None
    return script


class ScriptedApprover:
    """Gives the first answer that fits a request and was not given yet, else the last one that fits, else approves."""

    def __init__(self, script: Script) -> None:
        self._answers = [(answer, answer.calls) for answer in script.answers]
        self._given: set[int] = set()

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the next answer."""
        fitting = [
            number
            for number, (_, calls) in enumerate(self._answers)
            if calls is None or calls.covers(request.tool, request.arguments)
        ]
        if not fitting:
            return Decision("approved")
        number = next((number for number in fitting if number not in self._given), fitting[-1])
        self._given.add(number)
        answer = self._answers[number][0]
        return Decision(_KINDS[answer.answer], answer.text)


async def lint(view: LintView) -> list[Finding]:
    """Return what is wrong with the script of a task."""
    if view.task is None or not approvals_of(view.domain.spec):
        return []
    try:
        script_of(view.task, view.domain)
    except TaskFormatError as error:
        return [Finding("approver", "error", view.task.id, error.problem)]
    return []
