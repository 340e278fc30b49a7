"""Judges of NL assertions: the protocol, and those that need no model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from ..capability.containing import is_contained, outcome_of
from ..errors import JudgeError, TauError
from ..models import NLAssertionCheck, clone
from ..stalls import within

if TYPE_CHECKING:
    from ..models import Message


class Verdict(NamedTuple):
    """A judge's opinion on one statement."""

    met: bool
    justification: str


Verdicts: TypeAlias = Sequence[Verdict]


class Judge(Protocol):
    """A judge of statements about a conversation.

    Attributes:
        name: Its name in reports.
    """

    name: str

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> Verdicts | Awaitable[Verdicts]:
        """Return one verdict for each statement, in order; sync or async.

        Args:
            statements: What should be true.
            messages: The trajectory, oldest first.
        """
        ...


class UniformJudge:
    """A judge that finds every statement true, or every one false; for dry checks, and named as such in reports."""

    def __init__(self, name: str, *, met: bool) -> None:
        self.name, self._met = name, met

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> Verdicts:
        """Return the same verdict on every statement."""
        del messages
        return [Verdict(self._met, f"--tau-judge {self.name}: same verdict for every statement")] * len(statements)


#: Judges that need no model.
BUILT_IN_JUDGES = {"accept": UniformJudge("accept", met=True), "reject": UniformJudge("reject", met=False)}


async def judge_statements(
    judge: Judge, statements: Sequence[str], messages: Sequence[Message], seconds: float | None = None
) -> list[NLAssertionCheck]:
    """Ask the judge once about all statements.

    Args:
        judge: The judge.
        statements: The statements.
        messages: The trajectory, oldest first.
        seconds: The time that it has; None for any. Code that blocks is then left behind in a thread.

    Raises:
        JudgeError: The judge fails, does not answer in time, or does not give one verdict for each statement unless
            it may give any number.
        TauError: As the judge raises it: a model that fails, a recording that does not fit.
    """
    try:
        # A foreign judge may change what it is given.
        shown_messages = messages if isinstance(judge, UniformJudge) else clone(list(messages))
        if seconds is None or isinstance(judge, UniformJudge):
            answer = judge.judge(list(statements), shown_messages)
            verdicts = await answer if inspect.isawaitable(answer) else answer
        else:
            verdicts = await _in_time(judge, list(statements), shown_messages, seconds)
        if getattr(judge, "gives_any_number", False):
            more = (f"verdict {number}" for number in range(len(statements) + 1, len(verdicts) + 1))
            statements = [*statements, *more][: len(verdicts)]
        checks = [
            NLAssertionCheck(nl_assertion=statement, met=verdict.met, justification=verdict.justification)
            for statement, verdict in zip(statements, verdicts, strict=True)
        ]
    except TauError:
        raise
    except BaseException as error:
        if not is_contained(error):
            raise
        # Whatever a foreign judge raises is the judge's fault, not the agent's.
        raise JudgeError(f"judge {judge.name!r} failed: {type(error).__name__}: {error}") from error
    return checks


async def _in_time(judge: Judge, statements: list[str], messages: Sequence[Message], seconds: float) -> Verdicts:
    try:
        outcome = await within(outcome_of(judge.judge, statements, messages), seconds)
    except TimeoutError:
        raise JudgeError(f"judge {judge.name!r} gave no verdict within {seconds:g} s") from None
    if outcome.error is not None:
        raise outcome.error
    verdicts: Verdicts = outcome.value
    return verdicts
