"""The tables of several runs that were compared, for a paper in LaTeX."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..text import visible
from .many_runs import is_number, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analysis.many import ManyRuns

_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
}
_POWER = re.compile(r"^pass\^(\d+|k)$")
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def many_latex(many: ManyRuns) -> str:
    """Return the tables, which need the package ``booktabs``; what was compared, and how, is in comments."""
    lines = [_comment(many.compared)]
    for table in tables(many):
        columns = "".join("r" if is_number(name) else "l" for name in table.head)
        lines += [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(table.head), r"\midrule"]
        lines += [*map(_row, table.rows), r"\bottomrule", r"\end{tabular}", ""]
    lines += [_comment(f"warning: {line}") for line in many.warnings()]
    return "\n".join([*lines, _comment(many.method), ""])


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    if power := _POWER.match(text):
        return f"pass$^{{{power[1]}}}$"
    escaped = "".join(_SPECIAL.get(character, character) for character in visible(text))
    return _MINUS.sub("$-$", escaped)


def _comment(text: str) -> str:
    return f"% {visible(text)}"
