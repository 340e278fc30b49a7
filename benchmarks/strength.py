"""How good the suites of the bundled domains are: the table of docs/agent_or_test.md.

``python -m benchmarks.strength [DOMAIN...]`` plays the mutants of the agent ``rules`` and changes each declared value.
It takes a few minutes; no model is called.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from typing import Any

from pytest_tau.cli import main

DOMAINS = ("airline", "retail", "telecom", "banking_knowledge")
#: The kinds of ``tau coverage`` in the table.
KINDS = ("tools", "branches", "pairs", "rules", "sentences")


def output(*args: str) -> Any:
    """Return the JSON document that a command prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(io.StringIO()):
        main([*args, "--json"])
    return json.loads(text.getvalue()) if text.getvalue() else None


def row(domain: str) -> list[str]:
    """Return the cells of a domain."""
    mutants, varied = output("mutants", domain, "--tau-agent", "rules"), output("vary", domain)
    kinds = output("coverage", "--domain", domain)["domains"][0]["kinds"]
    noticed = [bool(value["failed"]) for value in varied["values"]] if varied else []
    decided = mutants["killed"] + mutants["survived"]
    return [
        domain,
        *(f"{kinds[kind]['touched']} of {kinds[kind]['total']}" if kinds[kind]["total"] else "-" for kind in KINDS),
        f"{mutants['killed']} of {decided}, {mutants['equivalent']} equivalent",
        f"{sum(noticed)} of {len(noticed)}" if noticed else "none declared",
    ]


def print_table(domains: list[str]) -> None:
    """Print a row for each domain."""
    print(f"| domain | {' | '.join(KINDS)} | mutants killed | values noticed |")
    print("|---" * (len(KINDS) + 3) + "|")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # what the commands find out is stored there
        for domain in domains:
            print(f"| {' | '.join(row(domain))} |", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    print_table(sys.argv[1:] or [*DOMAINS])
