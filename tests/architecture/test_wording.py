"""Patterns of wording have one home: readers of texts know what these say from ``language`` alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

from .sources import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pytest_tau"
#: What reads texts of agents, users, scenarios and policies; it knows what they say from ``language`` alone.
READERS = ("references", "diagnosis", "lint", "policy", "evaluation", "regrade", "capabilities", "participants")
#: Readers whose patterns have words, and are none over wording: forms of traces, of speech, and of personal data.
OF_FORMS = ("capabilities/traces/reading", "capabilities/traces/redaction", "capabilities/voice")
#: Words of formats in the patterns of other readers.
FORMATS = {
    "capabilities/labels/command.py": {"judge", "kappa"},
    "capabilities/plain_clients/exchange.py": {
        "chat",
        "completions",
        "responses",
        "messages",
        "models",
        "streamG",
        "enerateContent",
    },
    "capabilities/traces/facts.py": {"message"},
    "capabilities/traces/tasks/user.py": {"null", "error"},
    "participants/actions/reader.py": {"name"},
    "participants/agents/faulty_readers.py": {"title"},
    "participants/agents/llm.py": {"true", "false"},
    "policy/approvals.py": {"approval"},
}
#: Fingerprints of editions depend on the sentences of a policy as they are there.
SPLITTERS = {"policy/editions.py"}
_NO_WORDS = re.compile(r"\\[A-Za-z]|\(\?P[<=]\w+[>)]|\(\?[a-zA-Z]+[:)]|\[(?:\\.|[^\]\\])+\]")


def _strings(node: ast.AST, constants: dict[str, ast.AST], known: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the parts of a pattern, those of the constants included of which it is made."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in constants and part.id not in known:
            yield from _strings(constants[part.id], constants, known | {part.id})


def _patterns(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the parts of the regular expressions of a module, each with its line."""
    constants: dict[str, ast.AST] = {}
    for node in nodes_of(file):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            constants |= {target.id: node.value for target in targets if isinstance(target, ast.Name)}
    for node in nodes_of(file):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            module = node.func.value
            if isinstance(module, ast.Name) and module.id == "re" and node.func.attr != "escape":
                yield from ((node.lineno, part) for part in _strings(node.args[0], constants))


def _readers() -> Iterator[tuple[str, int, str]]:
    for reader in READERS:
        for file in sorted((PACKAGE / reader).rglob("*.py")):
            name = file.relative_to(PACKAGE).as_posix()
            if not name.startswith(OF_FORMS):
                yield from ((name, line, pattern) for line, pattern in _patterns(file))


def test_no_reader_has_a_pattern_of_wording() -> None:
    found = []
    for name, line, pattern in _readers():
        words = {*re.findall(r"[A-Za-z]{3,}", _NO_WORDS.sub(" ", pattern))} - FORMATS.get(name, set())
        found += [f"pytest_tau/{name}:{line}: {', '.join(sorted(words))}: a pattern of language/?"] if words else []
    assert not found, "\n".join(found)


def test_no_reader_splits_sentences_by_itself() -> None:
    splits = [
        (name, line)
        for name, line, pattern in _readers()
        if any({*".!?"} <= {*marks} for marks in re.findall(r"\[[^\]]*\]", pattern))
    ]
    found = [f"pytest_tau/{name}:{line}: language.sentences" for name, line in splits if name not in SPLITTERS]
    assert not found, "\n".join(found)
    assert {name for name, _ in splits} >= SPLITTERS


def test_the_words_of_formats_are_those_of_their_patterns() -> None:
    words: dict[str, set[str]] = {}
    for name, _, pattern in _readers():
        words.setdefault(name, set()).update(re.findall(r"[A-Za-z]{3,}", _NO_WORDS.sub(" ", pattern)))
    assert {name: words.get(name, set()) & formats for name, formats in FORMATS.items()} == FORMATS
