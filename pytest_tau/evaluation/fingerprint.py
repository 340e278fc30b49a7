"""The fingerprint of the grading rules: equal if and only if the rules are, as far as their source can show it.

It digests the syntax trees of the modules that decide over verdicts, in a normal form without docstrings, comments,
annotations, imports and positions. Names of modules and their order have no part in it, nor has what components answer
to reports. The form is the same for every version of Python.
"""

from __future__ import annotations

import ast
import functools
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeAlias

from ..files import digest
from .component_reports import ComponentReports

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .evaluate import Evaluation

#: Modules of this package with rules, in addition to the modules of ``components``.
_MODULES = ("component", "evaluate", "grading", "judge", "llm_judge", "official_judge")
_PROMPT = "judge_prompt.md"
#: Methods of components that answer reports.
_REPORTS = frozenset(name for name in vars(ComponentReports) if not name.startswith("_"))
#: Fields of syntax trees that no behaviour depends on.
_IGNORED = frozenset({"annotation", "returns", "type_comment", "type_params", "ctx", "kind"})

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Node types as strings, fields as pairs, nested in lists.
_Normal: TypeAlias = "str | list[_Normal]"


def grading_fingerprint(evaluation: Evaluation) -> str:
    """Return a digest of the rules, the profile and the names of plugins' evaluators, as 16 hex digits."""
    evaluators = sorted(each.name for each in evaluation.evaluators)
    return digest("\0".join([_built_in_rules(), repr(evaluation.grading), *evaluators]))


@functools.cache
def _built_in_rules() -> str:
    prompt = (resources.files(__package__) / _PROMPT).read_text(encoding="utf-8")
    return rules_digest(rule_sources().values(), prompt)


def rule_sources() -> dict[str, str]:
    """Return the source text of each module with rules, by its path in this package."""
    package = resources.files(__package__)
    modules = {f"{name}.py": package / f"{name}.py" for name in _MODULES}
    files = (package / "components").iterdir()
    modules |= {f"components/{file.name}": file for file in files if file.name.endswith(".py")}
    modules["chat/answers.py"] = resources.files("pytest_tau.chat") / "answers.py"  # when a judge is asked again
    return {name: file.read_text(encoding="utf-8") for name, file in modules.items()}


def rules_digest(sources: Iterable[str], prompt: str = "") -> str:
    """Return the digest of the rules in some modules.

    Args:
        sources: Their source texts, in any order.
        prompt: The judge's prompt; line breaks do not count.
    """
    rules = sorted(str(_normal(node)) for source in sources for node in _rules_of(ast.parse(source)))
    return digest("\0".join([*rules, " ".join(prompt.split())]))


def _rules_of(module: ast.Module) -> list[ast.stmt]:
    """Return the statements of a module, without private definitions that only reports use."""
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            node.body = [each for each in node.body if not (isinstance(each, _Function) and each.name in _REPORTS)]
    left = [node for node in module.body if not _is_silent(node)]
    names = {node: _private_names(node) for node in left}
    used: list[ast.stmt] = []
    named: set[str] = set()
    while found := [node for node in left if not names[node] or names[node] & named]:
        used += found
        named |= _names_in(found)
        left = [node for node in left if node not in found]
    return used


def _private_names(node: ast.stmt) -> set[str]:
    """Return the names that a statement defines; empty if one of them is public, or if it defines none."""
    names: set[str] = set()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        names = {node.name}
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return names if all(name.startswith("_") for name in names) else set()


def _names_in(nodes: Iterable[ast.stmt]) -> set[str]:
    found = [each for node in nodes for each in ast.walk(node)]
    variables = {each.id for each in found if isinstance(each, ast.Name)}
    return variables | {each.attr for each in found if isinstance(each, ast.Attribute)}


def _normal(value: Any) -> _Normal:
    """Return the normal form of a node, of a list of nodes or of a field's value."""
    if isinstance(value, list):
        return [_normal(each) for each in value if not _is_silent(each)]
    if not isinstance(value, ast.AST):
        return ascii(value)
    kind, fields = type(value).__name__, dict(ast.iter_fields(value))
    if isinstance(value, ast.Constant):
        return [kind, ascii(value.value)]
    if isinstance(value, ast.JoinedStr):
        fields["values"] = _joined(value.values)
    if isinstance(value, ast.AnnAssign):  # the same as an assignment without an annotation
        kind, fields = "Assign", {"targets": [value.target], "value": value.value}
    # Versions of Python differ in the fields that they leave empty.
    said = {name: _normal(field) for name, field in fields.items() if name not in _IGNORED and field is not None}
    return [kind, *([name, normal] for name, normal in said.items() if normal)]


def _is_silent(node: Any) -> bool:
    """Return whether no behaviour depends on a statement: docstrings, imports, declarations of types."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign):
        alias = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
        return alias or node.value is None
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass)


def _joined(parts: Sequence[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with adjacent texts joined, as only some versions of Python do."""
    joined: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.Constant) and joined and isinstance(joined[-1], ast.Constant):
            joined[-1] = ast.Constant(str(joined[-1].value) + str(part.value))
        elif not isinstance(part, ast.Constant) or part.value:
            joined.append(part)
    return joined
