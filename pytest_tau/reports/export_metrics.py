"""The metrics of a run under the names of τ²-bench's ``AgentMetrics``.

Source: τ²-bench v1.0.1, metrics. What pytest-tau adds has no field there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import IO, TYPE_CHECKING, Any

from ..analysis.metrics import pass_hat_k
from ..models import any_review
from ..plain import json
from .export import LOST, is_lost
from .tau2_fields import tau2_reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models import Review, Simulation
    from ..runs.reader import Run

    #: Returns the kind of a tool by its name: ``read``, ``write`` …; None if it is not known.
    ToolKind = Callable[[str], str | None]

_ERRORS = frozenset({"too_many_errors", "agent_error", "user_error"})
_AUTH = ("succeeded", "failed", "not_needed")


@dataclass
class _Counts:
    """The simulations of a domain, counted."""

    rewards: list[float] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    tasks: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    lost: int = 0
    actions: Counter[tuple[str, bool]] = field(default_factory=Counter)
    databases: Counter[bool | None] = field(default_factory=Counter)
    auth: Counter[str] = field(default_factory=Counter)
    endings: Counter[str] = field(default_factory=Counter)
    reviews: list[Review] = field(default_factory=list)
    reviewed_in_vain: int = 0


def write_metrics(run: Run, file: IO[str], domain: str, tool_kind: ToolKind) -> int:
    """Write the metrics of a domain as a JSON object; returns the number of its simulations.

    Args:
        run: The run.
        file: The target.
        domain: The domain's name.
        tool_kind: The kinds of its tools, for verdicts that lack them.
    """
    counts, trials = _Counts(), 0
    for trial in run.trials():
        if trial.domain == domain:
            trials = max(trials, trial.simulation.trial + 1)
            _add(counts, trial.simulation, lost=_excluded(run, trial), tool_kind=tool_kind)
    declared = run.info.get("num_trials")
    metrics = _metrics(counts, declared if isinstance(declared, int) and declared > 0 else trials)
    file.write(json.dumps(metrics, indent=1, ensure_ascii=False) + "\n")
    return len(counts.rewards) + counts.lost


def _excluded(run: Run, trial: Any) -> bool:
    return trial.simulation.termination_reason == LOST or is_lost(run, trial)


def _add(counts: _Counts, simulation: Simulation, *, lost: bool, tool_kind: ToolKind) -> None:
    if lost:
        counts.lost += 1
        return
    info = simulation.reward_info
    counts.rewards.append(simulation.reward)
    counts.tasks[simulation.task_id].append(bool(info and info.passed))
    if simulation.agent_cost is not None:
        counts.costs.append(simulation.agent_cost)
    reason = tau2_reason(simulation.termination_reason)
    counts.endings["error" if reason in _ERRORS else reason] += 1
    counts.databases[info.db_check.db_match if info and info.db_check else None] += 1
    for check in (info.action_checks if info else None) or []:
        kind = check.tool_type or tool_kind(check.action.name)
        counts.actions[kind or "", check.action_match] += 1
    auth = simulation.info.others.get("auth_classification")
    status = auth.get("status") if isinstance(auth, dict) else None
    counts.auth[status if status in _AUTH else "not_checked"] += 1
    review = any_review(simulation)
    if review is not None and review.done:
        counts.reviews.append(review)
    counts.reviewed_in_vain += review is not None and not review.done


def _metrics(counts: _Counts, declared: int) -> dict[str, Any]:
    """Return the fields of ``AgentMetrics``; a value without anything to compute it from is null."""
    results = [(len(verdicts), sum(verdicts)) for verdicts in counts.tasks.values()]
    most = min([declared, *(ran for ran, _ in results)]) if results else 0
    metrics: dict[str, Any] = {
        "avg_reward": fmean(counts.rewards) if counts.rewards else None,
        "pass_hat_ks": {str(k): pass_hat_k(results, k) for k in range(1, most + 1)},
        "avg_agent_cost": fmean(counts.costs) if counts.costs else None,
        "total_simulations": len(counts.rewards),
        "total_tasks": len(counts.tasks),
        "infra_error_count": counts.lost,
    }
    for kind in ("read", "write"):
        matched = counts.actions[kind, True]
        metrics[f"total_{kind}_actions"] = matched + counts.actions[kind, False]
        metrics[f"correct_{kind}_actions"] = matched
    names = {True: "db_match_count", False: "db_mismatch_count", None: "db_not_checked"}
    metrics |= {name: counts.databases[value] for value, name in names.items()}
    metrics |= {f"auth_{status}": counts.auth[status] for status in (*_AUTH, "not_checked")}
    metrics |= {
        f"termination_{name}": counts.endings[name] for name in ("user_stop", "agent_stop", "max_steps", "error")
    }
    metrics["termination_infrastructure_error"] = counts.lost
    return metrics | _of_reviews(counts)


def _of_reviews(counts: _Counts) -> dict[str, Any]:
    """Return the numbers of errors that reviews have found. Reviews that are not done are in none but the last."""
    numbers: dict[str, Any] = {}
    for side in ("agent", "user"):
        errors = [error for review in counts.reviews for error in review.of_side(side)]
        numbers[f"{side}_errors_by_severity"] = dict(Counter(str(error.severity or "unknown") for error in errors))
        tags: dict[str, Counter[str]] = defaultdict(Counter)
        for error in errors:
            for tag in error.error_tags:
                tags[tag][error.severity or "unknown"] += 1
        numbers[f"{side}_error_tags_by_severity"] = {tag: dict(severities) for tag, severities in tags.items()}
        numbers[f"sims_by_max_{side}_severity"] = dict(Counter(_worst(review, side) for review in counts.reviews))
    numbers["sims_by_first_critical_source"] = dict(Counter(review.first_critical for review in counts.reviews))
    return numbers | {"pytest_tau": {"reviews": len(counts.reviews), "reviews_without_result": counts.reviewed_in_vain}}


def _worst(review: Review, side: str) -> str:
    """Return the worst severity of a side's errors; of two critical kinds, that of the later error."""
    severities = [str(error.severity) for error in review.of_side(side) if error.severity]
    critical = [severity for severity in severities if severity.startswith("critical")]
    return (critical or severities or ["none"])[-1]
