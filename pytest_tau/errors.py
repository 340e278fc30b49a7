"""The exceptions of pytest-tau.

TauError
├── ConfigurationError      an option, a domain, an agent or a data folder that cannot be used
│   └── UnknownPriceError   a budget needs the price of a model, which is not known
├── TaskFormatError         a task file that does not follow the format
├── ToolError               a tool refuses a call; a result for the caller, never a crash
├── CapabilityError         a capability cannot do its part in a trial
├── ToolServerError         a tool server did not start, ended, or did not answer
├── ParticipantError        an agent or a user broke its side of the conversation
├── EpisodeError            an episode was used in a way that it does not allow, such as a step after its end
├── UnusableReplyError      a model's reply cannot be used; the official protocol runs the conversation again
├── ModelError              a model or its provider failed
│   ├── ContextWindowError  a request is longer than the model's context window
│   ├── BudgetError         the money for model calls is spent
│   ├── MissingModelError   the agent asks for the model of the run, which has none
│   └── UnwatchedModelError calls of the agent's own client cannot be watched in this process
├── UnboundCallError        an agent's own tool was called by code of which it is not known which trial it belongs to
├── JudgeError              the judge of NL assertions failed
├── EvaluatorError          a reward component that a plugin added failed
├── DomainError             a domain contradicts what it declares, so that no verdict is possible
│   └── UnwritableResultError   a tool has returned an object that has no text
├── ConversationEnded       a participant knows how the conversation ends here; an event, not a fault (in models)
└── ReplayError             a recorded conversation cannot be carried out again
    └── RecordingEnded      a recorded conversation ends here; an event, not a fault (in models)
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from types import TracebackType

__all__ = [
    "BudgetError",
    "CapabilityError",
    "ConfigurationError",
    "ContextWindowError",
    "DomainError",
    "EpisodeError",
    "EvaluatorError",
    "JudgeError",
    "MissingModelError",
    "ModelError",
    "ParticipantError",
    "ReplayError",
    "TaskFormatError",
    "TauError",
    "ToolError",
    "ToolServerError",
    "UnboundCallError",
    "UnusableReplyError",
    "UnwatchedModelError",
    "install_extra",
    "suggestion",
    "unknown_name",
]

#: The faults of a model call. The first five are temporary, the others permanent.
ModelFault: TypeAlias = Literal[
    "rate_limit",  # too many calls
    "unavailable",  # the server fails, or cannot be reached
    "timeout",  # no answer in time
    "bad_answer",  # an answer that is not a chat completion
    "overloaded",  # the server asks to come back later
    "authentication",  # a missing or wrong key
    "unknown_model",  # no such model
    "context_window",  # more than the model can read
    "refused",  # the provider refuses the content
    "bad_request",  # the provider refuses the call
    "quota",  # the account has no credit left
]
PASSING_FAULTS: frozenset[str] = frozenset({"rate_limit", "unavailable", "timeout", "bad_answer", "overloaded"})


class TauError(Exception):
    """Base of every error raised by pytest-tau."""


class ConfigurationError(TauError):
    """A setting that cannot be used; raised before any conversation starts."""


class TaskFormatError(TauError):
    """A task file that does not follow the format.

    Attributes:
        file: The file; None for a task without one.
        task_id: The task's id, or its position (``#3``) if it has none.
        field: Dotted path of the offending field, such as ``evaluation_criteria.reward_basis``.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: Path | str | None = None,
        task_id: str | None = None,
        field: str | None = None,
    ) -> None:
        self.problem, self.file, self.task_id, self.field = problem, file, task_id, field
        where = [str(file) if file else "", f"task {task_id}" if task_id else "", field or ""]
        super().__init__(": ".join([part for part in where if part] + [problem]))


class ToolError(TauError):
    """A tool refuses a call. The caller reads ``Error: <text>``."""


class CapabilityError(TauError):
    """A capability cannot do its part in a trial, which then has no verdict, such as an attack that raises."""


class ToolServerError(TauError):
    """A tool server did not start, ended, or did not answer; never counted against the agent."""


class ParticipantError(TauError):
    """An agent or a user broke its side of the conversation.

    Attributes:
        side: ``agent`` or ``user``.
    """

    def __init__(self, problem: str, *, side: str) -> None:
        self.side = side
        super().__init__(problem)


class EpisodeError(TauError):
    """An episode was used in a way that it does not allow, such as a step after its end; its state is unchanged."""


class UnusableReplyError(TauError):
    """A model's reply cannot be used, and the protocol runs the whole conversation again."""


class ModelError(TauError):
    """A model or its provider failed; never counted against the agent.

    Attributes:
        kind: The fault: a ``ModelFault``.
        retry_after: Seconds after which the provider asks for a retry, if it gives them.
        no_server: The connection was refused, and nothing has answered at this address before.
        final: The server asks not to try again.
    """

    def __init__(
        self,
        problem: str,
        *,
        kind: ModelFault = "unavailable",
        retry_after: float | None = None,
        no_server: bool = False,
        final: bool = False,
    ) -> None:
        self.kind, self.retry_after, self.no_server, self.final = kind, retry_after, no_server, final
        super().__init__(problem)

    @property
    def passing(self) -> bool:
        """Return whether the same call may succeed later."""
        return self.kind in PASSING_FAULTS and not self.final


class ContextWindowError(ModelError):
    """A request is longer than the model's context window."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, kind="context_window")


class BudgetError(ModelError):
    """The money for model calls is spent; the call was not made.

    Attributes:
        of_run: It is the budget of the run and not that of the trial.
        is_priced: The price of the model is known; no budget can be kept without.
    """

    def __init__(self, problem: str, *, of_run: bool, is_priced: bool = True) -> None:
        self.of_run, self.is_priced = of_run, is_priced
        super().__init__(problem, kind="quota")


class UnknownPriceError(ConfigurationError):
    """A budget needs the price of a model, which is not known."""


class MissingModelError(ModelError):
    """The agent asks for the model of the run, which has none: a missing setting, and no fault of a provider."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, kind="unknown_model")


class UnwatchedModelError(ModelError):
    """Model calls of the agent's own client cannot be watched in this process; the run is to be set up otherwise."""


class UnboundCallError(TauError):
    """A tool of an agent's own was called by code of which it is not known which trial it belongs to."""


class JudgeError(TauError):
    """The judge of NL assertions failed; the conversation is kept."""


class EvaluatorError(TauError):
    """A reward component that a plugin added failed; the conversation is kept."""


class DomainError(TauError):
    """A domain contradicts what it declares, such as a tool that reads but writes; the conversation is kept."""


class UnwritableResultError(DomainError):
    """A tool has returned an object that has no text."""


class ReplayError(TauError):
    """A recorded conversation cannot be carried out again."""


def is_interrupt(error: BaseException) -> bool:
    """Return whether an exception may be Ctrl-C.

    Python raises it in the main thread, where a run of pytest has no code of participants or tools.
    """
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


class PlainErrors:
    """Makes a ``ToolError`` of ``SystemExit`` and the like, by which code of a domain would end more than its trial."""

    def __enter__(self) -> None:
        return

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _tb: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, Exception) and not is_interrupt(error):
            raise ToolError(f"{type(error).__name__}: {error}") from error


def hides_frames(excinfo: Any) -> bool:
    """Return whether pytest omits the frames of a module whose ``__tracebackhide__`` is this function.

    A module of declarations has it, so that the traceback of a wrong declaration ends in the code of the user.

    Args:
        excinfo: pytest's information about the exception.
    """
    return isinstance(getattr(excinfo, "value", None), ConfigurationError)


#: Characters of an unknown name that an error shows.
_LONGEST = 200


#: The most by which the similarity of a suggestion is below that of the best one.
_WORSE = 0.1


def _similar(name: str, known: Iterable[str], cutoff: float) -> list[str]:
    """Return up to three known names that are like a mistyped one, the most similar first; case does not count.

    Names that are clearly less similar than the first one are excluded.
    """
    from difflib import SequenceMatcher, get_close_matches

    matcher = SequenceMatcher(b=name.lower())
    ratios: dict[str, float] = {}
    lowered = {name.lower(): name for name in sorted(known, reverse=True)}
    for close in get_close_matches(name.lower(), sorted(lowered), n=3, cutoff=cutoff):
        matcher.set_seq1(close)
        ratios[lowered[close]] = matcher.ratio()
    return [similar for similar, ratio in ratios.items() if ratio >= max(ratios.values()) - _WORSE]


def suggestion(
    name: str, known: Iterable[str], cutoff: float = 0.6, *, shown: Callable[[str], str] = lambda name: name
) -> str:
    """Return the names that may be meant, as the end of a text: ``; did you mean 'a' or 'b'?``; empty without any.

    Args:
        name: The mistyped name.
        known: The known names.
        cutoff: The least similarity, as that of ``difflib``.
        shown: Returns how a known name is written.
    """
    similar = _similar(name, known, cutoff)
    return f"; did you mean {' or '.join(repr(shown(close)) for close in similar)}?" if similar else ""


def install_extra(name: str) -> str:
    """Return the command that installs an extra: there is no release on a package index."""
    return f"pip install './pytest-tau[{name}]', where ./pytest-tau is a clone"


def unknown_name(kind: str, name: str, known: Iterable[str], listed: Sequence[str] | None = None) -> str:
    """Return the text of an unknown-name error, with close matches first and then known names.

    Args:
        kind: The kind of thing that is named.
        name: The unknown name.
        known: The known names.
        listed: Those that are listed, in this order; by default the first 20 in alphabetical order.
    """
    names = sorted(known)
    hint = suggestion(name, names)
    first = names[:20] if listed is None else listed
    more = f" and {len(names) - len(first)} more" if len(names) > len(first) else ""
    short = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    return f"unknown {kind} {short!r}{hint} (known: {', '.join(first) or 'none'}{more})"
