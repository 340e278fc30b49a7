"""The page of a domain: one HTML file without scripts that needs no network."""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...plain import json
from ...text import plural
from ..page import html_text, static_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Characters of a sample or a schema that are shown.
_LONGEST = 20_000
_SECTIONS = ("Policy", "Tools", "Data", "Tasks")


def domain_page(description: Mapping[str, Any]) -> str:
    """Return the page of a domain.

    Args:
        description: Its description, as ``describe_domain`` returns it.
    """
    title = html_text(description["name"])
    parts = [
        f'<h1>{title}</h1>\n<p class="note">{html_text(_counts(description))}</p>',
        *_policies(description["policies"]),
        *_tools(description),
        *_tables(description["tables"]),
        *_tasks(description),
    ]
    style = (files(__package__) / "domain.css").read_text(encoding="utf-8")
    return static_page("domain", description["name"], parts, style=style, sections=_SECTIONS)


def _counts(description: Mapping[str, Any]) -> str:
    sides = Counter(tool["side"] for tool in description["tools"])
    tools = " and ".join(f"{plural(number, 'tool')} of the {side}" for side, number in sides.items())
    tables = sum(table["records"] is not None for table in description["tables"])
    return f"{tools or 'no tools'}, {plural(tables, 'table')}, {plural(len(description['tasks']), 'task')}"


def _folded(summary: str, content: str, *, kind: str = "card", anchor: str = "") -> str:
    identity = f' id="{anchor}"' if anchor else ""
    return f'<details class="{kind}"{identity}><summary>{summary}</summary>\n{content}\n</details>'


def _json(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False, default=str)
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return f"<pre>{html_text(cut)}</pre>"


def _section(number: int) -> str:
    name = _SECTIONS[number]
    return f'<h2 id="{name.lower()}">{name}</h2>'


def _policies(policies: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    yield _section(0)
    for policy in policies:
        alone = " (for an agent that works alone)" if policy["solo"] else ""
        size = f'<span class="note">{plural(len(policy["text"].split()), "word")}</span>'
        yield _folded(f"<b>{html_text(policy['name'])}</b>{alone} {size}", f"<pre>{html_text(policy['text'])}</pre>")


def _tools(description: Mapping[str, Any]) -> Iterable[str]:
    yield _section(1)
    if description["tasks"] and description["unused_tools"]:
        names = ", ".join(f"<code>{html_text(name)}</code>" for name in description["unused_tools"])
        yield f'<p class="card">No reference action of a task uses {names}.</p>'
    for side in ("agent", "user"):
        tools = [tool for tool in description["tools"] if tool["side"] == side]
        if tools:
            yield f"<h3>{'Agent' if side == 'agent' else 'User'}</h3>"
        yield from (_tool(tool) for tool in tools)


def _tool(tool: Mapping[str, Any]) -> str:
    kind = html_text(tool["kind"])
    changes = "" if tool["mutates"] == (tool["kind"] == "write") else ", changes data" * tool["mutates"]
    used = f"{plural(tool['tasks'], 'reference action')}" if tool["tasks"] else "no reference action"
    first = html_text(tool["description"].partition("\n")[0])
    summary = f'<code>{html_text(tool["signature"])}</code> <span class="tag {kind}">{kind}{changes}</span>'
    summary += f'<span class="note first">{first}</span>'
    content = f'<p class="text">{html_text(tool["description"])}</p><p class="note">{used}</p>'
    if example := tool["example"]:
        source = f" (task {html_text(example['task'])})" if example["task"] else ""
        content += f"<h5>Example{source}</h5><pre>{html_text(example['call'])}</pre>"
        content += f"<h5>Result</h5>{_json(_indented(example['result']))}"
    return _folded(summary, f"{content}<h5>Schema of the arguments</h5>{_json(tool['parameters'])}")


def _indented(text: str) -> str:
    """Return JSON text over several lines; any other text as it is."""
    from ...documents import DocumentError, parse_json

    try:
        return json.dumps(parse_json(text), indent=1, ensure_ascii=False)
    except DocumentError:
        return text


def _tables(tables: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    yield _section(2)
    for table in tables:
        count = plural(table["records"], "record") if table["records"] is not None else html_text(table["type"])
        summary = f'<code>{html_text(table["name"])}</code> <span class="tag">{table["side"]}</span>'
        summary += f' <span class="note">{count}</span>'
        rows = "".join(
            f"<tr><td><code>{html_text(field['name'])}</code></td><td><code>{html_text(field['type'])}</code></td>"
            f"<td>{html_text(field['description'] or '')}</td></tr>"
            for field in table["fields"]
        )
        head = "<thead><tr><th>field</th><th>type</th><th></th></tr></thead>"
        fields = f'<div class="scroll"><table>{head}<tbody>{rows}</tbody></table></div>' if rows else ""
        label = "A record" if table["records"] is not None else "Content"
        yield _folded(summary, f"{fields}<h5>{label}</h5>{_json(table['sample'])}")


def _tasks(description: Mapping[str, Any]) -> Iterable[str]:
    yield _section(3)
    tasks = description["tasks"]
    anchors = {task["id"]: f"task-{number}" for number, task in enumerate(tasks)}
    for name, count in description["splits"].items():
        links = (
            f'<a href="#{anchors[task["id"]]}">{html_text(task["id"])}</a>' for task in tasks if name in task["splits"]
        )
        summary = f'split <b>{html_text(name)}</b> <span class="note">{plural(count, "task")}</span>'
        yield _folded(summary, f'<p class="links">{" ".join(links)}</p>')
    for task in tasks:
        yield _task(task, anchors[task["id"]])


def _task(task: Mapping[str, Any], anchor: str) -> str:
    summary = f"<code>{html_text(task['id'])}</code> "
    summary += " ".join(f'<span class="tag">{html_text(name)}</span>' for name in task["splits"])
    if task["purpose"]:
        summary += f'<span class="note first">{html_text(task["purpose"])}</span>'
    facts = [("Intent", task["intent"]), ("Scenario", task["scenario"]), ("Ticket", task["ticket"])]
    content = "".join(f"<h5>{name}</h5><pre>{html_text(value)}</pre>" for name, value in facts if value)
    content += f"<h5>Graded by</h5><pre>{html_text(', '.join(task['reward_basis']) or 'nothing')}</pre>"
    content += _actions(plural(len(task["actions"]), "reference action"), task["actions"])
    for number, outcome in enumerate(task["outcomes"]):
        content += _actions(f"outcome {number}: {outcome['why']}", outcome["actions"])
    return _folded(summary, content, anchor=anchor)


def _actions(title: str, actions: Sequence[Mapping[str, Any]]) -> str:
    calls = "\n".join(f"{action['side']:<5}  {action['call']}" for action in actions)
    return _folded(html_text(title), f"<pre>{html_text(calls)}</pre>", kind="actions")
