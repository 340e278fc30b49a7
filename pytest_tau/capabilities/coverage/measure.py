"""What the tasks of a domain touch, by their reference actions or in stored conversations, and what nothing touches."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...errors import ConfigurationError, TauError
from ...policy import Sentence, Tie, sentences_of_domain
from ...references import stated_rules, tools_of
from ...runs import all_strength
from ...text import listed, one_line, plural
from .branches import EXTRA, CodeCoverage, branch_lines, code_coverage, is_installed, play
from .breachable import breachable
from .exercised import Point, calls_in, exercised, exercised_in, points_of, reference_calls
from .functions import ToolSources, tool_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...environment import Domain
    from ...models import Action, Message, Task
    from ...policy import Rule
    from .exercised import Made

#: The kinds in the order in which they are shown, each with what it counts.
KINDS = {
    "tools": "tools",
    "parameters": "parameters of tools",
    "values": "values of closed choices of tools",
    "branches": "branches of the tools' functions",
    "error-branches": "branches of them that end in an error",
    "records": "kinds of record",
    "pairs": "pairs of writes in one task",
    "documents": "documents",
    "rules": "rules of the policy",
    "sentences": "sentences of the policy that a rule, a value or a mutant is tied to",
}
#: What a list of what nothing touches is called, where that is something else.
UNTOUCHED = {
    "rules": "rules of the policy that no conversation has broken, or was found to break",
    "sentences": "sentences of the policy that nothing is tied to",
}
_BRANCHES = ("branches", "error-branches")
_SENTENCE, _NAMED = 100, 4
#: Why nothing is tried on tools of a server.
_APART = "each state of these tools needs a session of its own"


class Row(NamedTuple):
    """How much of one kind is touched.

    Attributes:
        kind: The kind, of ``KINDS``.
        touched: How many are.
        total: Of how many.
        missing: A line for each that nothing touches.
        unknown: Why there is no share; empty if there is one.
    """

    kind: str
    touched: int
    total: int
    missing: tuple[str, ...] = ()
    unknown: str = ""

    @property
    def percent(self) -> float | None:
        """The share in percent; None if there are none."""
        return 100 * self.touched / self.total if self.total else None


class Played(NamedTuple):
    """The calls of a task's reference, or of a stored conversation.

    Attributes:
        task: The task.
        messages: The conversation; None for the reference.
        documents: The documents that it has found or read; None if that is not recorded.
    """

    task: Task
    messages: Sequence[Message] | None = None
    documents: frozenset[str] | None = None

    def calls(self, domain: Domain) -> list[Made]:
        """Return the calls."""
        return reference_calls(self.task, domain) if self.messages is None else calls_in(self.messages, domain)

    def unknown_actions(self, domain: Domain) -> list[Action]:
        """Return the reference actions whose tools do not exist."""
        actions = [] if self.messages is not None else self.task.criteria.actions or []
        return [action for action in actions if action.name not in tools_of(domain, action.requestor)]

    def points(self, domain: Domain) -> frozenset[Point]:
        """Return what the calls exercise."""
        if self.messages is None:
            return exercised(self.task, domain)
        documents = {Point("documents", "assistant", name) for name in self.documents or ()}
        return exercised_in(self.messages, self.task, domain) | documents


@dataclass
class Coverage:
    """What is touched of a domain.

    Attributes:
        domain: Its name.
        of: What was looked at: ``93 tasks, by their reference actions``.
        rows: A row for each kind.
        policy: The text of the policy.
        sentences: Its sentences.
        broken: The names of the rules that can be broken, or were.
        noticed: What ``tau mutants`` and ``tau vary`` have found out: by mutated sentence and by value, whether a task
            notices the change.
        files: By file of the tools, the share of its statements and branches in percent.
        notes: What could not be looked at.
        of_runs: Whether it is of stored conversations, not of references.
    """

    domain: str
    of: str
    rows: list[Row]
    policy: str
    sentences: list[Sentence]
    broken: frozenset[str]
    noticed: dict[str, bool] = field(default_factory=dict)
    files: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    of_runs: bool = False


def cover(domain: Domain, played: Sequence[Played], of: str, notes: Iterable[str] = ()) -> Coverage:
    """Return what calls touch of a domain.

    Args:
        domain: The domain.
        played: The calls.
        of: What they are of, for reports.
        notes: What is known already that could not be looked at.
    """
    notes = [*notes]
    # First: a thread that is running already is not measured.
    code = _code(domain, played, notes)
    touched = _points(domain, played, notes)
    rules, broken = _rules(domain, played, notes)
    policy, noticed = domain.environment().policy, _noticed(domain)
    sentences = [_with_mutant(sentence, noticed) for sentence in sentences_of_domain(domain, rules)]
    of_runs = any(conversation.messages is not None for conversation in played)
    untried = "" if of_runs or domain.spec.agent_db.cheap_to_fork else _APART
    rows = [
        *_point_rows(
            domain, touched, unrecorded=of_runs and all(conversation.documents is None for conversation in played)
        ),
        *_code_rows(code, Path.cwd()),
        *_policy_rows(rules, broken, sentences, untried),
    ]
    files = _by_name(code.files) if isinstance(code, CodeCoverage) else {}
    order = list(KINDS)
    rows.sort(key=lambda row: order.index(row.kind))
    of_notes = list(dict.fromkeys(notes))
    return Coverage(domain.name, of, rows, policy, sentences, broken, noticed, files, of_notes, of_runs)


def _noticed(domain: Domain) -> dict[str, bool]:
    """Return by mutated sentence and by value whether a task notices the change, as far as commands have found out."""
    noticed: dict[str, bool] = {}
    for facts in all_strength(domain):
        noticed |= facts.sentences | facts.values
    return noticed


def _with_mutant(sentence: Sentence, noticed: Mapping[str, bool]) -> Sentence:
    """Return a sentence, tied to its mutants if these have consequences."""
    if sentence.text not in noticed:
        return sentence
    outcome = "killed" if noticed[sentence.text] else "survived"
    return sentence._replace(ties=(*sentence.ties, Tie("mutant", outcome)))


def _note(notes: list[str], task: Task, error: TauError) -> None:
    text = str(error).splitlines()[0]
    notes.append(text if task.id in text else f"task {task.id}: {text}")


def _code(domain: Domain, played: Sequence[Played], notes: list[str]) -> CodeCoverage | str:
    """Return what calls run of the functions of tools, or why that is not known."""
    sources: ToolSources = tool_sources(domain)
    if sources.without_source:
        names = listed(sources.without_source, _NAMED)
        notes.append(f"branches: no Python source of {plural(len(sources.without_source), 'tool')}: {names}")
    if not sources.functions:
        return "no tool has Python source"
    if not is_installed():
        return EXTRA

    def run() -> None:
        for conversation in played:
            try:
                play(conversation.task, conversation.calls(domain), domain, with_history=conversation.messages is None)
            except TauError as error:
                _note(notes, conversation.task, error)

    return code_coverage(sources.functions, run)


def _by_name(files: Mapping[Path, float]) -> dict[str, float]:
    """Return the shares of files by their paths in the folder that they have in common."""
    folder = os.path.commonpath([file.parent for file in files])
    return {file.relative_to(folder).as_posix(): share for file, share in files.items()}


def _points(domain: Domain, played: Iterable[Played], notes: list[str]) -> frozenset[Point]:
    touched: set[Point] = set()
    for conversation in played:
        try:
            touched |= conversation.points(domain)
            gone = [action.name for action in conversation.unknown_actions(domain)]
            notes += [f"task {conversation.task.id}: there is no tool {name!r}" for name in gone]
        except TauError as error:
            _note(notes, conversation.task, error)
    return frozenset(touched)


def _rules(domain: Domain, played: Sequence[Played], notes: list[str]) -> tuple[list[Rule], frozenset[str]]:
    """Return the rules that the policy states, and those that are broken, or can be."""
    from ...policy import check_policy

    try:
        rules = list(stated_rules(domain))
    except ConfigurationError as error:
        notes.append(f"rules: {error}")
        return [], frozenset()
    broken: set[str] = set()
    for conversation in played:
        left = [rule for rule in rules if rule.name not in broken]
        if not left:
            break
        try:
            if conversation.messages is None:
                broken |= breachable(conversation.task, domain, left)
            elif report := check_policy(conversation.messages, conversation.task, domain, rules=left):
                broken |= {*report.counts}
        except TauError as error:
            _note(notes, conversation.task, error)
    return rules, frozenset(broken)


def _point_rows(domain: Domain, touched: frozenset[Point], *, unrecorded: bool) -> Iterator[Row]:
    of_kind: dict[str, list[Point]] = {}
    for point in points_of(domain):
        of_kind.setdefault(point.kind, []).append(point)
    why = {"values": "no tool has a closed choice", "documents": "the domain has no documents"}
    is_forkable = domain.spec.agent_db.cheap_to_fork
    why |= {
        "records": "no table has records of several kinds" if is_forkable else _APART,
        "pairs": "no tool of the agent writes",
    }
    for kind in ("tools", "parameters", "values", "records", "pairs", "documents"):
        points = of_kind.get(kind, [])
        if points and kind == "documents" and unrecorded:
            points, why[kind] = [], "the conversations have no facts about searches"
        missing = tuple(point.text for point in points if point not in touched)
        unknown = "" if points else why.get(kind, "there are no tools")
        yield Row(kind, len(points) - len(missing), len(points), missing, unknown)


def _code_rows(code: CodeCoverage | str, start: Path) -> Iterator[Row]:
    for kind in _BRANCHES:
        if isinstance(code, str):
            yield Row(kind, 0, 0, unknown=code)
            continue
        covered, missing = ([branch for branch in part if branch.is_error == (kind != "branches")] for part in code[:2])
        # Of a function that is never called, one line says all.
        uncalled = {branch.function for branch in code.missing if branch.to == 0}
        listed_branches = [branch for branch in missing if branch.to == 0 or branch.function not in uncalled]
        unknown = "" if covered or missing else "the functions of the tools have none"
        yield Row(kind, len(covered), len(covered) + len(missing), tuple(branch_lines(listed_branches, start)), unknown)


def _policy_rows(
    rules: Sequence[Rule], broken: frozenset[str], sentences: Sequence[Sentence], untried: str
) -> Iterator[Row]:
    missing = tuple(f"{rule.name}: {one_line(rule.sentence, _SENTENCE)}" for rule in rules if rule.name not in broken)
    if untried or not rules:
        yield Row("rules", 0, 0, unknown=untried if rules else "the domain declares none that its policy states")
    else:
        yield Row("rules", len(rules) - len(missing), len(rules), missing)
    untied = tuple(
        f"line {sentence.line}: {one_line(sentence.text, _SENTENCE)}" for sentence in sentences if not sentence.ties
    )
    unknown = "" if sentences else "the policy is empty"
    yield Row("sentences", len(sentences) - len(untied), len(sentences), untied, unknown)
