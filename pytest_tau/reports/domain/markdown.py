"""The description of a domain as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...plain import json
from ...text import plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Characters of a sample that are shown.
_LONGEST = 2000
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def domain_markdown(description: Mapping[str, Any]) -> str:
    """Return the description of a domain as Markdown.

    Args:
        description: The description, as ``describe_domain`` returns it.
    """
    return "\n".join(_lines(description)) + "\n"


def _lines(description: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"# {_text(description['name'])}", "", "## Policy", "")
    for policy in description["policies"]:
        alone = ", for an agent that works alone" if policy["solo"] else ""
        yield from (f"### {_text(policy['name'])}{alone}", "", *_fenced(policy["text"]), "")
    yield from ("## Tools", "")
    if description["tasks"] and description["unused_tools"]:
        yield from (f"No reference action of a task uses {', '.join(map(_code, description['unused_tools']))}.", "")
    for tool in description["tools"]:
        yield from _tool(tool)
    yield from ("## Data", "", "| table | side | records | fields |", "|---|---|---|---|")
    for table in description["tables"]:
        fields = ", ".join(_code(field["name"]) for field in table["fields"]) or _code(table["type"])
        records = "" if table["records"] is None else f"{table['records']:,}"
        yield f"| {_code(table['name'])} | {table['side']} | {records} | {fields} |"
    for table in description["tables"]:
        sample = json.dumps(table["sample"], indent=1, ensure_ascii=False)
        cut = sample if len(sample) <= _LONGEST else f"{sample[:_LONGEST]}…"
        yield from ("", f"### {_text(table['name'])} ({table['side']})", "", *_fenced(cut))
    yield from ("", "## Tasks", "", "| split | tasks |", "|---|---|")
    yield from (f"| {_text(name)} | {count} |" for name, count in description["splits"].items())
    for task in description["tasks"]:
        yield from _task(task)


def _tool(tool: Mapping[str, Any]) -> Iterator[str]:
    used = plural(tool["tasks"], "reference action") if tool["tasks"] else "no reference action"
    yield from (f"### {_text(tool['name'])}", "", f"{_code(tool['signature'])}", "")
    yield from (f"{tool['side']}, {tool['kind']}, {used}", "", *_fenced(tool["description"]), "")
    if example := tool["example"]:
        yield from (*_fenced(f"{example['call']}\n= {example['result']}"), "")


def _task(task: Mapping[str, Any]) -> Iterator[str]:
    splits = f" ({', '.join(map(_text, task['splits']))})" if task["splits"] else ""
    yield from ("", f"### {_text(task['id'])}{splits}", "")
    if task["purpose"]:
        yield from (_text(task["purpose"]), "")
    yield from _fenced(task["scenario"])
    if task["actions"]:
        yield from ("", *_fenced(_calls(task["actions"])))
    for number, outcome in enumerate(task["outcomes"]):
        yield from ("", _text(f"Outcome {number}: {outcome['why']}"), "", *_fenced(_calls(outcome["actions"])))


def _calls(actions: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(f"{action['side']:<5}  {action['call']}" for action in actions)


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """Return a text as a span of code that it cannot end, also in a table."""
    line = " ".join(printable(text).split()).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", line)), default=0)
    marks = "`" * (longest + 1)
    return f"{marks}{' ' if longest else ''}{line}{' ' if longest else ''}{marks}"


def _fenced(text: str) -> list[str]:
    """Return a text as a block of code that it cannot end."""
    marks = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return [f"{marks}text", *printable(text).splitlines(), marks]
