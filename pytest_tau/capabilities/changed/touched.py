"""The tasks that have to do with what has changed since an earlier run.

A task has to do with a tool if its reference actions or its initial state name it, or if a stored conversation of it
calls it; with a section of the policy if the section names such a tool, or all words of its name; with a document if
the task requires it, or a stored conversation has found or read it. Where the data does not say which tasks have to do
with a change, all of them do: too many tasks cost money, too few could hide a loss. The other tasks can still be
affected, which is why a random part of them is run as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...language import alphanumeric_words
from ...policy import policy_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...models import Task
    from ...runs import StoredTrial

#: Words of the names of tools that say nothing about their subject.
_EMPTY_WORDS = frozenset({"get", "set", "list", "find", "the", "of", "for", "to", "by", "a", "all"})


@dataclass
class StoredFacts:
    """The facts of the stored conversations of one task.

    Attributes:
        finished: Whether one of them has a verdict.
        calls: The names of the tools that were called.
        documents: The ids of documents that were found or read.
        searched: Whether anything was searched for.
    """

    finished: bool = False
    calls: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    searched: bool = False

    def add(self, trial: StoredTrial) -> None:
        """Add a stored conversation."""
        simulation = trial.simulation
        self.finished |= simulation.outcome != "error"
        self.calls |= {call.call.name for call in simulation.calls}
        # Any capability may have measured the searches in a knowledge base.
        for search_facts in filter(
            lambda facts: isinstance(facts, dict) and "searches" in facts, simulation.facts.values()
        ):
            self.searched |= bool(search_facts["searches"])
            self.documents |= {*search_facts.get("read", ())}
            self.documents |= {document for search in search_facts["searches"] for document in search.get("found", ())}


@dataclass
class DomainChanges:
    """The changes of a domain.

    Attributes:
        everything: Changes that all tasks have to do with.
        tools: Tools that have changed, are new, or were removed; by name, in words.
        sections: The names of the tools that each changed section of the policy mentions; by heading, in words.
        documents: Documents that have changed or were removed; by id, in words.
        new_documents: The ids of new documents, which any search may find.
        tasks: The ids of tasks that have changed.
    """

    everything: list[str] = field(default_factory=list)
    tools: dict[str, str] = field(default_factory=dict)
    sections: dict[str, set[str]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    new_documents: list[str] = field(default_factory=list)
    tasks: set[str] = field(default_factory=set)

    def reasons(self, task: Task, facts: StoredFacts | None) -> list[str]:
        """Return what a task has to do with; empty if it has to do with no change.

        Args:
            task: The task as it is now.
            facts: What is stored of it; None if the earlier run has no conversation.
        """
        if facts is None or not facts.finished:
            return ["no verdict in the earlier run"]
        causes = [*self.everything]
        causes += ["the task has changed"] if task.id in self.tasks else []
        names = _named_by(task) | facts.calls
        causes += [text for name, text in self.tools.items() if name in names]
        causes += [f"section {heading!r} of the policy" for heading, tools in self.sections.items() if tools & names]
        documents = {*(task.required_documents or ()), *facts.documents}
        causes += [text for name, text in self.documents.items() if name in documents]
        if self.new_documents and (facts.searched or task.required_documents):
            causes += [f"new document {name}" for name in self.new_documents[:1]]
        return causes


def domain_changes(name: str, then: Mapping[str, Any], now: Mapping[str, Any], policy: str) -> DomainChanges:
    """Return the changes of a domain since an earlier run.

    Args:
        name: The domain.
        then: The hashes of the earlier run, with parts.
        now: The hashes of this run.
        policy: The text of the policy as it is now.
    """
    changes = DomainChanges()
    earlier, later = then["parts"].get(name), now["parts"][name]
    if earlier is None:
        changes.everything.append("the domain was not part of the earlier run")
        return changes
    tasks = then["tasks"].get(name, {})
    hashed = now["tasks"].get(name, {})
    changes.tasks = {
        task for task, value in hashed.items() if not set(value.split()) <= set(tasks.get(task, "").split())
    }
    if then["domains"][name].get("database") != now["domains"][name].get("database"):
        changes.everything.append("the database")
    if earlier.get("code") != later.get("code"):
        changes.everything.append("code that the tools share")
    changes.tools = {tool: f"{change} tool {tool}" for tool, change in _differences(earlier["tools"], later["tools"])}
    if then["domains"][name].get("tools") != now["domains"][name].get("tools") and not changes.tools:
        changes.everything.append("the order of the tools")
    _add_sections(changes, earlier["policy"], later, policy)
    for document, change in _differences(earlier["documents"], later["documents"]):
        if change == "new":
            changes.new_documents.append(document)
        else:
            changes.documents[document] = f"{change} document {document}"
    return changes


def _add_sections(changes: DomainChanges, before: Mapping[str, str], later: Mapping[str, Any], policy: str) -> None:
    sections = policy_sections(policy)
    for heading, change in _differences(before, later["policy"]):
        mentioned = set() if change == "removed" else _mentioned(f"{heading} {sections[heading]}", later["tools"])
        if mentioned:
            changes.sections[heading] = mentioned
        else:
            changes.everything.append(f"{change} section {heading!r} of the policy, which names no tool")


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the names whose fingerprints differ, each with ``changed``, ``new`` or ``removed``."""
    names = dict.fromkeys([*after, *before])
    kinds = {name: "new" if name not in before else "removed" if name not in after else "changed" for name in names}
    return [(name, kind) for name, kind in kinds.items() if before.get(name) != after.get(name)]


def _mentioned(text: str, tools: Iterable[str]) -> set[str]:
    """Return the tools that a text names, or of whose names it has every word."""
    low = text.lower()
    stems = {_stem(word) for word in alphanumeric_words(low)}
    return {tool for tool in tools if tool.lower() in low or _subject(tool) <= stems}


def _subject(tool: str) -> set[str]:
    words = {word for word in alphanumeric_words(tool) if word not in _EMPTY_WORDS}
    return {_stem(word) for word in words} or {tool}


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ling", "led", "ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _named_by(task: Task) -> set[str]:
    criteria, state = task.criteria, task.initial_state
    names = {action.name for action in criteria.all_actions}
    names |= {assertion.func_name for assertion in criteria.env_assertions or []}
    return names | {function.func_name for function in (state.initialization_actions if state else None) or []}
