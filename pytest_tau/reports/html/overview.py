"""Totals of a whole run: planned, run and excluded trials, and the rates with their intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from ...analysis.comparability import comparability
from ...analysis.facts import changed_settings
from ...analysis.metrics import Range, given_reference
from ...analysis.scores import Scores, outcomes_by_group
from ...analysis.unseen import unseen_agents, unseen_line
from ...analysis.variants import Variants, records_by_variant
from ...capability.calls import summary_lines
from ...masking import shown_setting
from ...runs.groups import count_tasks
from ...runs.manifest import NO_REASON, named_participants
from ...runs.results.files import works_alone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...capability import Capability
    from ...runs.reader import Run
    from ...runs.record import TrialRecord

#: Rates are shown up to this k.
_MOST_TRIALS = 8
#: Settings that are shown, with what they are called; arguments of models are not, because they may contain keys.
_SETTINGS = {
    "agent": "Agent",
    "agent_llm": "Agent model",
    "user": "User",
    "user_llm": "User model",
    "judge": "Judge",
    "judge_llm": "Judge model",
    "grading": "Grading",
    "policy_variant": "Policy",
    "agent_retrieval": "Retrieval",
    "split": "Split",
    "trials": "Trials",
    "seed": "Seed",
    "max_steps": "Max steps",
}
#: Trials that were never among the planned ones.
_ELSEWHERE = frozenset({"in other shards", "deselected"})


def counts(run: Run, records: Sequence[TrialRecord]) -> dict[str, Any]:
    """Return the numbers of trials, as the terminal counts them; ``planned`` is None if the run has not recorded it.

    ``run`` does not include errors. ``not_run`` has planned trials, and ``excluded`` the others that the run had. Of
    the trials that were run, ``not_counted`` are excluded from rates.
    """
    planned, stored = run.info.get("planned"), run.info.get("excluded")
    by_reason = {str(why): many for why, many in stored.items() if many} if isinstance(stored, dict) else {}
    not_run = {why: many for why, many in by_reason.items() if why not in _ELSEWHERE}
    outcomes = Counter(record.outcome for record in records)
    # A τ²-bench file says how many trials each task was to have, and not which tasks were meant.
    trials = _planned(planned) if isinstance(planned, dict) else None
    missing = 0 if trials is None else trials - len(records) - sum(not_run.values())
    return {
        "planned": trials,
        "not_run": {**not_run, **({NO_REASON: missing} if missing > 0 else {})},
        "run": len(records) - outcomes["error"],
        **{name: outcomes[name] for name in ("passed", "failed", "error")},
        "excluded": {why: many for why, many in by_reason.items() if why in _ELSEWHERE},
        "not_counted": sum(record.counted_as == "excluded" for record in records),
        "restored": sum(record.restored for record in records),
        "tasks": count_tasks({record.group: None for record in records}),
        "called_models": _may_have_called_models(run, records),
    }


def _may_have_called_models(run: Run, records: Sequence[TrialRecord]) -> bool:
    """Return whether trials called models, or may have: files of others and agents of one's own may not say so."""
    if "settings" not in run.info or unseen_agents(records):
        return True
    return any(record.model_usage or record.stated_cost is not None for record in records)


def rates(records: Sequence[TrialRecord]) -> list[dict[str, Any]]:
    """Return pass^k of each domain, k from 1 to as many trials as there are, each with its 95 % interval.

    If there are variants of its tests, a domain has an entry for each.

    Where missing trials decide, there is no value, and low and high are the range that they leave.

    Trials that ended in an error are not counted; ``strictly`` is pass^1 with them as failures. If all trials are
    excluded, it is None, and ``points`` is empty.
    """
    return [
        {"domain": f"{name} [{variant}]" if variant else name, **_pass_rates(trials)}
        for name, domain_records in _by_domain(records).items()
        for variant, trials in records_by_variant(domain_records).items()
    ]


def comparisons(records: Sequence[TrialRecord]) -> list[str]:
    """Return the comparisons of each two variants of the tests on a domain, as lines."""
    variants_by_domain = {name: Variants.of(trials) for name, trials in _by_domain(records).items()}
    return [
        f"{name}: {line}" if len(variants_by_domain) > 1 else line
        for name, variants in variants_by_domain.items()
        if variants
        for line in variants.pair_lines()
    ]


def _by_domain(records: Sequence[TrialRecord]) -> dict[str, list[TrialRecord]]:
    domains: dict[str, list[TrialRecord]] = defaultdict(list)
    for record in records:
        domains[record.domain].append(record)
    return dict(sorted(domains.items()))


def about(run: Run, records: Sequence[TrialRecord], capabilities: Sequence[Capability]) -> list[list[str]]:
    """Return what is known of a run, each fact with its name: only facts that have no secret in them.

    Args:
        run: The run, with its manifest.
        records: Its trials.
        capabilities: The capabilities of the run.
    """
    info = run.info
    facts: list[tuple[str, Any]] = []
    settings = info.get("settings")
    if isinstance(settings, dict):
        participants = named_participants(info)
        # Without a user, one stands in that says nothing.
        stated = {
            name: value for name, value in (settings | participants).items() if (name, value) != ("user", "dummy")
        }
        facts += [(title, stated.get(name)) for name, title in _SETTINGS.items()]
        facts += [(name.capitalize(), value) for name, value in changed_settings(info).items()]
    for side in ("agent",) if works_alone(info) else ("agent", "user"):
        part = info.get(f"{side}_info")
        if isinstance(part, dict):
            facts += [(side.capitalize(), part.get("implementation")), (f"{side.capitalize()} model", part.get("llm"))]
    facts.append(("Given the reference actions", given_reference(records)))
    compared = comparability(records)
    facts += summary_lines(capabilities, records)
    facts.append(("Comparability", compared.text if compared is not None else None))
    unseen = unseen_agents(records) if any(record.model_usage for record in records) else []
    facts += [("Not in the costs", unseen_line(unseen))] if unseen else []
    versions = info.get("versions")
    facts += [("Began", info.get("started")), ("Ended", info.get("finished"))]
    facts += list(versions.items()) if isinstance(versions, dict) else []
    commit = info.get("commit") or info.get("git_commit")
    if isinstance(commit, str):
        facts.append(("Commit", commit[:12] + (", with changes" if info.get("dirty") else "")))
    facts = [(name, ", ".join(map(str, value)) if isinstance(value, list) else value) for name, value in facts]
    known = [(str(name), str(value)) for name, value in facts if isinstance(value, str | int) and value]
    return [[name, shown_setting(value)] for name, value in known]


def _planned(planned: Mapping[str, Any]) -> int:
    return sum(
        trials
        for tasks in planned.values()
        if isinstance(tasks, dict)
        for trials in tasks.values()
        if isinstance(trials, int)
    )


def _pass_rates(records: Sequence[TrialRecord]) -> dict[str, Any]:
    scores = Scores.of("", records).with_intervals(records)
    ran = [task["passed"] + task["failed"] for task in outcomes_by_group(records).values()]
    points = []
    for k, rate, interval in scores.rates[:_MOST_TRIALS]:
        value, (low, high) = (None, rate) if isinstance(rate, Range) else (rate, interval or (None, None))
        points.append({"k": k, "value": value, "low": low, "high": high, "tasks": sum(trials >= k for trials in ran)})
    all_rates = scores.with_errors or scores.rates
    return {"tasks": scores.tasks, "points": points, "strictly": all_rates[0].value if all_rates else None}
