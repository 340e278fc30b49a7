"""Lint of knowledge bases: required documents, contradictions, and facts in documents and in texts of JSON."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_tau.environment import Database, DomainSpec, Record, Table, Toolkit, tool
from pytest_tau.knowledge import Knowledge
from pytest_tau.lint import lint_domain

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_tau.lint import Finding


class Note(Record):
    note_id: str
    text: str


class NotesDB(Database):
    notes: Table[Note]


class Notes(Toolkit[NotesDB]):
    """Notes."""

    @tool("write")
    def write_down(self, arguments: str) -> str:
        """Write a note.

        Args:
            arguments: The note, as the text of a JSON object.
        """
        self.db.notes["n1"] = Note(note_id="n1", text=arguments)
        return "done"


def lint(folder: Path, documents: list[dict[str, str]], task: dict[str, Any], arguments: Any) -> list[Finding]:
    """Lint one task with these documents, whose reference action writes this down."""
    (folder / "documents").mkdir()
    for document in documents:
        (folder / "documents" / f"{document['id']}.json").write_text(json.dumps(document))
    (folder / "db.json").write_text('{"notes": {}}')
    (folder / "policy.md").write_text("Serve.")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    action = {"action_id": "a", "name": "write_down", "arguments": {"arguments": text}}
    content = {
        "id": "t",
        "user_scenario": {"instructions": "Have the code written down."},
        "evaluation_criteria": {"actions": [action], "reward_basis": ["DB"]},
        **task,
    }
    (folder / "tasks").mkdir()
    (folder / "tasks" / "tasks.json").write_text(json.dumps([content]))
    spec = DomainSpec(
        name="notes", folder=folder, tasks=folder / "tasks", agent_db=NotesDB, agent_tools=Notes, knowledge=Knowledge()
    )
    return asyncio.run(lint_domain(spec.load(), None)).findings


def rule(findings: list[Finding], name: str) -> list[str]:
    return [finding.text for finding in findings if finding.rule == name]


def document(doc_id: str, content: str, title: str = "Fees") -> dict[str, str]:
    return {"id": doc_id, "title": title, "content": content}


@pytest.mark.parametrize(
    ("first", "second", "contradicts"),
    [
        ("- Fee: $5", "- Fee: $5", False),
        ("- Fee: $5", "- Charge: $6", False),
        ("- Fee: $5", "- Fee: $6", True),
        ("- **Fee:** $5", "* Fee: $6", True),
        ("Effective 01/01/2024\n\n- Fee: $5", "- Fee: $6", True),
        ("Effective 01/01/2024\n\n- Fee: $5", "In force since: 01/01/2024\n\n- Fee: $6", True),
        ("Effective 01/01/2024\n\n- Fee: $5", "In force since: 2025-02-01\n\n- Fee: $6", False),
        ("Updated January 3, 2024\n\n- Fee: $5", "Updated February 3, 2024\n\n- Fee: $6", False),
    ],
)
def test_documents_with_the_same_title_contradict_unless_each_has_a_date(
    tmp_path: Path, first: str, second: str, contradicts: bool
) -> None:
    findings = lint(tmp_path, [document("a", first), document("b", second)], {}, {})
    found = rule(findings, "contradicting-documents")
    assert bool(found) is contradicts
    if contradicts:
        assert found[0].startswith("documents 'a' and 'b' contradict each other: Fee: '$5' and '$6'")


def test_documents_with_different_titles_do_not_contradict(tmp_path: Path) -> None:
    findings = lint(tmp_path, [document("a", "- Fee: $5"), document("b", "- Fee: $6", "Other fees")], {}, {})
    assert not rule(findings, "contradicting-documents")


def test_a_required_document_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    findings = lint(tmp_path, [document("a", "Text")], {"required_documents": ["a", "Fees", "b"]}, {})
    (found,) = [finding for finding in findings if finding.rule == "unknown-document"]
    assert (found.severity, found.task_id) == ("error", "t")
    assert found.text == "required_documents: no document has the title or the id 'b'"


@pytest.mark.parametrize(("required", "known"), [(["a"], True), (["b"], False), (None, False)])
def test_facts_are_known_from_required_documents_only(tmp_path: Path, required: list[str] | None, known: bool) -> None:
    documents = [document("a", "The code is KX-4471."), document("b", "Nothing.", "Other")]
    findings = lint(tmp_path, documents, {"required_documents": required}, {"deep": [{"code": "KX-4471"}], "n": 3})
    missing = rule(findings, "fact-missing")
    assert bool(missing) is not known
    if not known:
        assert "arguments.deep.0.code 'KX-4471'" in missing[0]


def test_a_text_that_is_no_object_is_one_fact(tmp_path: Path) -> None:
    (missing,) = rule(lint(tmp_path, [document("a", "Text")], {}, "{no object"), "fact-missing")
    assert "arguments '{no object'" in missing
