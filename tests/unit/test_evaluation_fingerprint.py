"""The fingerprint of the grading rules changes with a rule, and with nothing else."""

from __future__ import annotations

import ast
import dataclasses
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pytest_tau
from pytest_tau.evaluation import OFFICIAL, STRICT, Evaluation, fingerprint
from pytest_tau.evaluation.fingerprint import _joined, grading_fingerprint, rule_sources, rules_digest
from pytest_tau.models import CustomCheck

PACKAGE = Path(pytest_tau.__file__).parent
SOURCES = rule_sources()

#: Constructs whose syntax trees differ between versions of Python, or might.
SAMPLE = '''
"""A docstring."""
from __future__ import annotations
import typing
if typing.TYPE_CHECKING: import ast
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import ast
LIMIT: int = 3
_UNUSED = "\\u2026"
def graded(task: str, *more: int, strict: bool = False, **rest: object) -> float:
    """A docstring."""
    width = 4
    text = f"{task!r:>{width}}" f"{strict=}" "…" f"{{}}{more[0]:.2f}"
    match more:
        case [1, *others] if others: return -1.5
        case {"a": None}: return {**rest, "b": ...}["b"]
        case _: pass
    try:
        return (lambda x, /, y=2: x**y)(LIMIT) if strict else 1e-6
    except (ValueError, KeyError) as error:
        raise TypeError(text) from error
@staticmethod
class Rule(tuple, metaclass=type):
    value: int
    __slots__ = ()
    async def grade(self): return [each async for each in self if each is not None][::2]
    def explain(self): return "a report"
'''


def changed(old: str, new: str, module: str) -> str:
    """Return the digest of all rules with a change in one module."""
    source = SOURCES[module]
    assert source.count(old) >= 1, f"{module} no longer contains {old!r}"
    return rules_digest((SOURCES | {module: source.replace(old, new)}).values())


UNCHANGED = rules_digest(SOURCES.values())


@pytest.mark.parametrize("module", SOURCES)
def test_comments_docstrings_annotations_and_layout_do_not_count(module: str) -> None:
    source = SOURCES[module].replace("from __future__ import annotations\n", "", 1)
    lines = ["# a comment", "import string", *source.splitlines(), "", "unused: int", '"""A text."""', ""]
    others = {name: text for name, text in SOURCES.items() if name != module}
    edited = "\n".join(lines).replace(") -> bool:", ") -> 'int':").replace(") -> float:", ") -> 'int':")
    assert rules_digest([*others.values(), edited]) == UNCHANGED


def test_names_of_modules_and_their_order_do_not_count() -> None:
    assert rules_digest(reversed(SOURCES.values())) == UNCHANGED
    renamed = SOURCES["components/db.py"].replace("from ..component import", "from ..elsewhere import")
    assert rules_digest([renamed, *(text for name, text in SOURCES.items() if name != "components/db.py")]) == UNCHANGED


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("components/db.py", "not expected.equals(got)", "expected.equals(got)"),
        ("components/db.py", "if verdict.db_check else 1.0", "if verdict.db_check else 0.0"),
        ("components/env_assertion.py", "met = value is assertion", "met = value == assertion"),
        ("components/env_assertion.py", "met, error = False,", "met, error = True,"),
        ("components/action.py", "call.name != action.name or", "call.name != action.name and"),
        ("components/action.py", "mine == theirs", "mine != theirs"),
        ("components/communicate.py", 'text.replace(",", "")', "text"),
        ("components/communicate.py", r"(?<=\d),(?=", r"(?<=\d)\.(?="),
        ("components/nl_assertion.py", "return None", "return 1.0"),
        ("components/__init__.py", "    DBComponent(),\n", ""),
        ("evaluate.py", "termination_reason not in STOPS", "termination_reason in STOPS"),
        ("evaluate.py", "requestor_counts=False", "requestor_counts=True"),
        ("evaluate.py", 'if "ended_early" not in info.info:', "if True:"),
        ("grading.py", "whole_phrases=True", "whole_phrases=False"),
        ("judge.py", "met=verdict.met", "met=True"),
        ("chat/answers.py", "ANSWERS = 3", "ANSWERS = 4"),
        ("llm_judge.py", '"met": (bool', '"met": (int'),
        ("official_judge.py", "entry[keys.met]", "not entry[keys.met]"),
        ("component.py", "self.name in task", "self.name not in task"),
        ("component.py", "self.value(verdict) == 1", "self.value(verdict) >= 1"),
        ("component.py", "criteria.actions is not None or", "criteria.actions is not None and"),
    ],
)
def test_a_changed_rule_counts(module: str, old: str, new: str) -> None:
    assert changed(old, new, module) != UNCHANGED


def test_every_module_with_rules_is_in_the_list_above() -> None:
    (marks,) = test_a_changed_rule_counts.pytestmark  # type: ignore[attr-defined]
    assert {module for module, _, _ in marks.args[1]} == set(SOURCES)


def test_a_further_rule_counts() -> None:
    assert rules_digest([*SOURCES.values(), "_bonus = 1\ngrade = _bonus"]) != UNCHANGED


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("components/db.py", "{side} side: ", "{side}: "),
        ("components/db.py", "_RECORD_WIDTH = 200", "_RECORD_WIDTH = 300"),
        ("components/action.py", "made by the {nearest", "a call of the {nearest"),
        ("components/action.py", "it did not make required calls", "it did not make all calls"),
        ("components/communicate.py", "phrase {check.info!r}", "a phrase {check.info!r}"),
        ("components/nl_assertion.py", "judged untrue", "judged false"),
    ],
)
def test_the_answers_to_reports_do_not_count(module: str, old: str, new: str) -> None:
    assert changed(old, new, module) == UNCHANGED


def test_every_other_module_of_the_package_is_without_rules() -> None:
    """A new module with rules of grading must be added to ``fingerprint._MODULES``."""
    folder = PACKAGE / "evaluation"
    others = {file.relative_to(folder).as_posix() for file in folder.rglob("*.py")} - set(SOURCES)
    assert others == {
        "__init__.py",
        "assignment.py",
        "component_reports.py",
        "evidence.py",
        "fingerprint.py",
        "hidden_effects.py",
        "null_agent.py",
        "outside.py",
        "partial.py",
    }


def test_the_prompt_of_the_judge_counts_but_not_its_line_breaks() -> None:
    assert rules_digest([], "Judge it.") != rules_digest([], "Judge them.")
    assert rules_digest([], "Judge\nit.\n") == rules_digest([], "Judge it.")


def test_every_version_of_python_finds_the_same() -> None:
    assert rules_digest([SAMPLE]) == "6a30d1c1b183db04"


def test_the_profile_and_the_evaluators_count() -> None:
    class Polite:
        name = "POLITENESS"

        def evaluate(self, task: object, messages: object, environment: object) -> CustomCheck:
            return CustomCheck(name=self.name, reward=1.0)

    lenient = dataclasses.replace(OFFICIAL, name="mine", whole_phrases=True)
    stricter = dataclasses.replace(lenient, requestor_counts=True)
    evaluations = [
        *(Evaluation(each) for each in (OFFICIAL, STRICT, lenient, stricter)),
        Evaluation(evaluators=[Polite()]),
    ]
    assert len({grading_fingerprint(each) for each in evaluations}) == len(evaluations)
    assert grading_fingerprint(Evaluation()) == grading_fingerprint(Evaluation(OFFICIAL))


def test_the_sources_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    grading_fingerprint(Evaluation())
    monkeypatch.setattr(fingerprint, "rule_sources", None)
    assert grading_fingerprint(Evaluation()) != grading_fingerprint(Evaluation(STRICT))


def test_a_zipped_package_has_the_same(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        for file in PACKAGE.rglob("*"):
            if file.is_file() and file.suffix != ".pyc":
                packed.write(file, file.relative_to(PACKAGE.parent))
    code = (
        "import pytest_tau; from pytest_tau.evaluation import Evaluation\n"
        "from pytest_tau.evaluation.fingerprint import grading_fingerprint\n"
        "print(pytest_tau.__file__, grading_fingerprint(Evaluation()))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "packed.zip")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    )
    file, found = done.stdout.split()
    assert "packed.zip" in file
    assert found == grading_fingerprint(Evaluation())


def test_texts_next_to_each_other_in_an_f_string_are_one() -> None:
    """Versions of Python differ in whether the parser joins them, and in whether it leaves an empty one."""
    text, name = ast.Constant, ast.FormattedValue(ast.Name("x"), -1)
    found = _joined([text("a"), text("b"), name, text(""), name, text("c"), text("d")])
    assert [each.value if isinstance(each, ast.Constant) else None for each in found] == ["ab", None, None, "cd"]
