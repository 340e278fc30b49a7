"""Everything pytest-tau raises on purpose.

TauError
├── ConfigurationError      an option, a domain, an agent or a data folder that cannot be used
├── TaskFormatError         a task file that does not follow the format
├── ToolError               a tool refuses a call; told to the caller, never a crash
├── ParticipantError        an agent or a user broke its side of the conversation
├── ModelError              a model or its provider failed
├── JudgeError              the judge of NL assertions failed
├── EvaluatorError          a reward component that a plugin added failed
└── ReplayError             a recorded conversation cannot be carried out again
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = [
    "ConfigurationError",
    "EvaluatorError",
    "JudgeError",
    "ModelError",
    "ParticipantError",
    "ReplayError",
    "TaskFormatError",
    "TauError",
    "ToolError",
    "unknown_name",
]


class TauError(Exception):
    """Base of every error raised by pytest-tau."""


class ConfigurationError(TauError):
    """A setting that cannot be used; told before any conversation starts."""


class TaskFormatError(TauError):
    """A task file that does not follow the format.

    Attributes:
        file: The file, or None for a task that came from elsewhere.
        task_id: The task's id, or its position (``#3``) where it has none.
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


class ParticipantError(TauError):
    """An agent or a user broke its side of the conversation.

    Attributes:
        side: ``agent`` or ``user``.
    """

    def __init__(self, problem: str, *, side: str) -> None:
        self.side = side
        super().__init__(problem)


class ModelError(TauError):
    """A model or its provider failed; never counted against the agent."""


class JudgeError(TauError):
    """The judge of NL assertions failed; the conversation is kept."""


class EvaluatorError(TauError):
    """A reward component that a plugin added failed; the conversation is kept."""


class ReplayError(TauError):
    """A recorded conversation cannot be carried out again."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The text of an unknown-name error, with close matches first and then every good name."""
    names = sorted(known)
    close = get_close_matches(name, names, n=3)
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
    listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    return f"unknown {kind} {name!r}{hint} (known: {listed or 'none'})"
