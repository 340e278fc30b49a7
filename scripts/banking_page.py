"""Write the conversation of docs/banking.md: the rules agent and the scripted user in one task, search by search.

python scripts/banking_page.py            write the page
python scripts/banking_page.py --check    exit with 1 if the page is not up to date
"""

# ruff: noqa: INP001, T201 - a script

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tau import load_domain, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.models import Simulation, ToolCall

PAGE = Path(__file__).parents[1] / "docs" / "banking.md"
TASK = "limit-of-a-young-card"
_BEGIN, _END = "<!-- conversation: python scripts/banking_page.py -->\n", "<!-- end -->"
_HIT = re.compile(r"(?m)^\d+\. .+\n   ID: (\S+)")
_SHOWN, _WIDTH = 4, 108


def conversation(simulation: Simulation) -> str:
    """Return a conversation as text: what is said, what is searched and found, what is called and answered."""
    lines: list[str] = []
    calls: list[ToolCall] = []
    for message in simulation.messages:
        if message.role == "tool":
            lines += _result(calls.pop(0), message.content or "")
        elif message.tool_calls:
            calls += message.tool_calls
        else:
            speaker = "customer" if message.role == "user" else "agent"
            lines += _wrapped(f"{speaker}: ", (message.content or "").replace("###STOP###", "").strip())
    return "\n".join(lines)


def _call(name: str, arguments: str | None) -> str:
    return name if arguments is None else f"{name} with {arguments}"


def _result(call: ToolCall, answer: str) -> Iterator[str]:
    arguments = call.arguments
    if "query" in arguments:
        found = _HIT.findall(answer)
        yield from _wrapped("  searches: ", arguments["query"])
        yield from _wrapped("    finds: ", ", ".join(found[:_SHOWN]) + f" and {len(found) - _SHOWN} more")
    elif "agent_tool_name" in arguments and "arguments" not in arguments:
        yield f"  unlocks {arguments['agent_tool_name']}"
    else:
        name = arguments.get("agent_tool_name", call.name)
        yield from _wrapped("  calls: ", _call(name, arguments.get("arguments")))
        yield from _wrapped("    gets: ", next(line for line in answer.splitlines() if line.strip()))


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(start + text, _WIDTH, subsequent_indent=" " * len(start), break_long_words=False)


def page(text: str) -> str:
    """Return the page with the conversation as it is now."""
    domain = load_domain("banking_knowledge")
    task = next(task for task in domain.tasks("base") if task.id == TASK)
    shown = conversation(simulate(task, domain=domain, agent="rules", user="scripted"))
    before, rest = text.split(_BEGIN)
    return f"{before}{_BEGIN}\n```text\n{shown}\n```\n\n{_END}{rest.split(_END, 1)[1]}"


def main() -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args()
    old = PAGE.read_text(encoding="utf-8")
    new = page(old)
    if options.check:
        if new != old:
            print(f"{PAGE} is not up to date: run python scripts/banking_page.py")
        return int(new != old)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
