"""Measures what the harness costs: ``python -m benchmarks [--data DIR] [--only NAME …] [--quick] [--json FILE]``."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .commands import commands
from .comparison_error import comparison_error
from .dependent_tasks import dependent_tasks
from .endpoint_calls import endpoint
from .episode_steps import episodes
from .figures import Options
from .harness import memory, turns
from .interval_error import interval_error
from .lost_trials import lost_trials
from .many_conversations import many_conversations, waiting_workers
from .many_machines import many_machines
from .own_loop_calls import own_loop_calls
from .planted_faults import planted_faults
from .policy_rules import policy
from .processes import collection, items, scaling, start_up
from .regrading import regrade
from .searches import searches
from .serving_calls import serving
from .simulations import comparisons, environments, first_simulations, gold, kept_work
from .stopping_error import stopping_error
from .stored_reports import reports
from .user_reading import reading
from .waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .figures import Figure

#: By name; what each measures and how it is read is its docstring.
BENCHMARKS: dict[str, Callable[[Options], Iterator[Figure]]] = {
    "gold": gold,
    "first": first_simulations,
    "kept": kept_work,
    "environment": environments,
    "comparison": comparisons,
    "policy": policy,
    "regrade": regrade,
    "commands": commands,
    "searches": searches,
    "turns": turns,
    "memory": memory,
    "endpoint": endpoint,
    "own-loop": own_loop_calls,
    "episodes": episodes,
    "serving": serving,
    "start-up": start_up,
    "collection": collection,
    "items": items,
    "scaling": scaling,
    "waiting": waiting,
    "reports": reports,
    "waiting-workers": waiting_workers,
    "many-conversations": many_conversations,
    "many-machines": many_machines,
    "comparison-error": comparison_error,
    "stopping-error": stopping_error,
    "interval-error": interval_error,
    "dependent-tasks": dependent_tasks,
    "lost-trials": lost_trials,
    "reading": reading,
    "planted-faults": planted_faults,
}
_HEADER = f"{'':<42}{'median':>11}{'best':>11}   {'middle half':<23}{'processor':>11}{'runs':>6}   target"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    options = _parser().parse_args(arguments)
    names = options.only or list(BENCHMARKS)
    how = Options(options.data.resolve() if options.data else None, options.quick)
    document: dict[str, Any] = {"machine": _machine(), "data": str(how.data or "bundled"), "quick": how.quick}
    document["benchmarks"] = {}
    print("  ".join(f"{key}: {value}" for key, value in document["machine"].items()), f" data: {document['data']}")
    for name in names:
        note = inspect.cleandoc(BENCHMARKS[name].__doc__ or "")
        print(f"\n{name}. {note}\n\n{_HEADER}")
        start, figures = time.perf_counter(), []
        for figure in BENCHMARKS[name](how):
            print(_row(figure), flush=True)
            figures.append(figure.as_json())
        if not figures:
            print("  skipped: a package that it needs is not installed")
        document["benchmarks"][name] = {"seconds": time.perf_counter() - start, "note": note, "figures": figures}
    if options.json:
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what the harness costs.")
    parser.add_argument("--data", type=Path, metavar="DIR", help="official data (default: bundled)")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="little of everything, to see that it runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures, each single run among them")
    return parser


def _row(figure: Figure) -> str:
    low, high = figure.spread
    cpu = "" if figure.median_cpu is None else _number(figure.median_cpu)
    row = f"{figure.name:<42}{_number(figure.median):>11}{_number(figure.best):>11}"
    row += f"   {_number(low) + ' … ' + _number(high):<23}{cpu:>11}{len(figure.wall):>6}"
    if figure.target is not None:
        bound, met = "≥" if figure.at_least else "≤", "reached" if figure.met else "MISSED"
        row += f"   {bound} {figure.target:g} {figure.unit}: {met}"
        return row
    return f"{row}   {figure.unit}"


def _number(value: float) -> str:
    """Format with three significant digits, as far as that takes decimals."""
    decimals = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{decimals}f}"


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    main()
