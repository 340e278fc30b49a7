"""Checks of a task set as a whole: nothing twice, splits that name what there is, and texts that can be said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment import canonical
from ..environment.validation import misplaced_tables
from ..errors import TaskFormatError
from ..evaluation import OFFICIAL, STRICT
from ..evaluation.components.communicate import check_communicate
from ..models import GREETING, AssistantMessage, load_task_file
from ..text import listed
from .findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..environment import Domain
    from ..models import Task
    from .findings import Severity


_NAMED = 8


def check_duplicates(tasks: Sequence[Task]) -> Iterator[Finding]:
    """Check ``duplicate-instructions``: two tasks have the same instructions and the same initial state."""
    first: dict[str, str] = {}
    for task in tasks:
        beginning = canonical([task.user_scenario, task.ticket, task.initial_state, task.sessions])
        if beginning in first:
            text = f"has the same beginning as task {first[beginning]}"
            yield Finding("duplicate-instructions", "warning", task.id, text)
        else:
            first[beginning] = task.id


def check_splits(domain: Domain) -> Iterator[Finding]:
    """Check ``unknown-split-id`` and ``in-no-split``."""
    known = {task.id for task in domain.tasks(split=None)}
    used: set[str] = set()
    for split, ids in domain.splits.items():
        used.update(ids)
        unknown = [task_id for task_id in ids if task_id not in known]
        if unknown:
            text = f"split {split!r} names unknown tasks: {_listed(unknown)}"
            yield Finding("unknown-split-id", "error", None, text)
        twice = sorted({task_id for task_id in ids if ids.count(task_id) > 1}) if len(set(ids)) < len(ids) else []
        if twice:
            yield Finding("unknown-split-id", "warning", None, f"split {split!r} names {_listed(twice)} twice")
    left = [task.id for task in domain.tasks(split=None) if task.id not in used] if domain.splits else []
    if left:
        yield Finding("in-no-split", "note", None, f"tasks in no split ({len(left)}): {_listed(left)}")


def _listed(ids: Sequence[str]) -> str:
    return listed([*map(repr, ids)], _NAMED)


def check_ignored(task: Task) -> Iterator[Finding]:
    """Check ``ignored-field``: a field that grading ignores, such as a misspelt one or a misplaced table."""
    for name in task.user_scenario.ignored:
        text = f"user_scenario.{name}: an unknown field without a value is ignored: remove it, or correct its name"
        yield Finding("ignored-field", "warning", task.id, text)
    for name in misplaced_tables(task):
        where = f"initial_state.initialization_data.{name}"
        text = f"{where}: a table next to agent_data is ignored: move it into agent_data, or into user_data"
        yield Finding("ignored-field", "warning", task.id, text)


def check_phrases(task: Task) -> Iterator[Finding]:
    """Check ``communicate-one-character``, ``-in-greeting`` and ``-in-user-text``: notes if the phrases do not gate."""
    phrases = task.criteria.communicate_info or []
    if not phrases:
        return
    gates = "COMMUNICATE" in task.criteria.reward_basis
    weak: Severity = "warning" if gates else "note"
    for phrase in phrases:
        if len(phrase.strip()) == 1:
            text = f"{phrase!r} is in nearly any answer: require more of it, such as '4 bags' instead of '4'"
            yield Finding("communicate-one-character", weak, task.id, text)
    opening = task.message_history or [AssistantMessage(content=GREETING)]
    for check in check_communicate(phrases, opening, OFFICIAL):
        if check.met:
            severity: Severity = "error" if gates else "note"
            text = f"{check.info!r} is said before the agent's first message"
            yield Finding("communicate-in-greeting", severity, task.id, text)
    # A digit is part of many numbers; an agent that repeats the user repeats whole words.
    users = AssistantMessage(content="\n".join([task.scenario_text, task.ticket or ""]))
    for check in check_communicate(phrases, [users], STRICT):
        if check.met:
            text = f"{check.info!r} is in the user's text: an agent that repeats it has said it"
            yield Finding("communicate-in-user-text", weak, task.id, text)


def check_copies(domain: Domain) -> Iterator[Finding]:
    """Check ``unread-copy``: a ``tasks.json`` next to the folder that has the tasks states other versions of them.

    Nothing reads it, but people do, and other programs.
    """
    tasks = {task.id: task for task in domain.tasks(split=None)}
    copy = domain.tasks_folder / "tasks.json"
    files = {domain.file_of(task) for task in tasks.values()}
    if not copy.is_file() or copy in files:
        return
    try:
        others = load_task_file(copy).tasks
    except TaskFormatError as error:
        yield Finding("unread-copy", "warning", None, f"{copy.name} is not read, and cannot be: {error}")
        return
    differing = [other.id for other in others if other.id in tasks and canonical(other) != canonical(tasks[other.id])]
    if differing:
        text = f"{copy.name} is not read, and has other versions of tasks ({len(differing)}): {_listed(differing)}"
        yield Finding("unread-copy", "warning", None, text, change=f"delete {copy.name}, or write the tasks into it")
