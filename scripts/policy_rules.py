"""Write the table of docs/policy.md: the rules of the bundled domains.

python scripts/policy_rules.py            write the page
python scripts/policy_rules.py --check    exit with 1 if the page is not up to date
"""

# ruff: noqa: INP001, T201 - a script

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest_tau
from pytest_tau.policy import load_rules

PAGE = Path(__file__).parents[1] / "docs" / "policy.md"
DOMAINS = ("airline", "banking_knowledge", "mock", "retail", "telecom")
_MARK = r"\*"
_MARKED = re.compile(r"(?<=<!-- rules -->\n).*(?=<!-- /rules -->)", re.DOTALL)


def tables() -> str:
    """Return a table with a row for each bundled domain that has rules."""
    rows = []
    for name in DOMAINS:
        rules = load_rules(pytest_tau.load_domain(name).spec)
        if rules:
            rows.append(f"| {name} | {', '.join(f'`{rule.name}`{_MARK * rule.needs_dialog}' for rule in rules)} |")
    return "\n".join(["", "| domain | rules |", "|---|---|", *rows, "", ""])


def page() -> str:
    """Return the page with the current tables."""
    return _MARKED.sub(lambda _: tables(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    wanted = page()
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    print(PAGE)
