"""How far the scores of a run can be compared with those of τ²-bench, from the conditions of its trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..plain import json
from ..settings import stated
from ..text import listed, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..runs.record import TrialRecord

#: The domains of τ²-bench.
DOMAINS = frozenset({"airline", "retail", "telecom", "telecom-workflow", "banking_knowledge", "mock"})
#: The number of trials of each task that a submission is expected to have.
TRIALS = 4
#: The model of the judge, and the default model of the user. Source: τ²-bench v1.0.1.
REFERENCE_MODEL = "gpt-4.1-2025-04-14"
#: The limits of a conversation. Source: τ²-bench v1.0.1.
_LIMITS = {"max_steps": 200, "max_errors": 10}
#: How users behave without a persona. Source: τ²-bench v1.0.1.
_PERSONA = {"verbosity": "standard", "interrupt_tendency": "waits", "behaviour": "cooperative"}
_ROLES = ("agent", "user", "judge")
_MOST, _LONGEST = 3, 60
_OWN_PROTOCOL, _BUNDLED = "protocol tau", "bundled data"


@dataclass(frozen=True)
class Comparability:
    """How far a run can be compared.

    Attributes:
        kind: ``standard`` if nothing was changed, ``custom`` if something was, ``unknown`` without recorded conditions.
        deviations: What was changed.
        incomplete: What is missing for a submission: trials and tasks.
        models: The models that were not the agent's, which are stated with a score: user and judge.
        changed: The deviations that are settings of conversations or capabilities, without the number of trials.
    """

    kind: str
    deviations: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    @property
    def is_asked_for(self) -> bool:
        """Return whether the run has the protocol or the data of τ²-bench, as one that is to be compared."""
        return not {_OWN_PROTOCOL, _BUNDLED} <= set(self.deviations)

    @property
    def text(self) -> str:
        """Return the line of a report. Of a run over bundled tasks that did not ask for more, it says only that."""
        if not self.is_asked_for:
            changed = "".join(f"; {deviation}" for deviation in self.deviations if deviation.startswith(self.changed))
            return f"{self.kind} ({_BUNDLED}, not the tasks of τ²-bench{changed})"
        parts = [self.kind + (f" ({'; '.join(self.deviations)})" if self.deviations else "")]
        parts += [f"incomplete ({', '.join(self.incomplete)})"] if self.incomplete else []
        return ", ".join([*parts, *self.models])

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": self.kind,
            "deviations": list(self.deviations),
            "incomplete": list(self.incomplete),
            "models": list(self.models),
        }


def comparability(records: Iterable[TrialRecord]) -> Comparability | None:
    """Return how far trials can be compared with τ²-bench; None if none is of a domain of it."""
    chosen = [record for record in records if record.domain in DOMAINS]
    if not chosen:
        return None
    known = [record for record in chosen if record.conditions]
    if not known:
        return Comparability("unknown", ("the run has not recorded its conditions",))
    deviations = [*_deviations(known), *_of_outcomes(chosen)]
    if len(known) < len(chosen):
        deviations.append(f"{plural(len(chosen) - len(known), 'trial')} without recorded conditions")
    kind = "custom" if deviations else "standard"
    changed = tuple({text: None for record in known for text in _changed(record.conditions or {})})
    return Comparability(kind, tuple(deviations), tuple(_incomplete(chosen)), tuple(_models(known)), changed)


#: Conditions whose difference makes runs hard to compare, by the words of a warning. Agents are what is compared.
_COMPARED = {
    "user": "the user",
    "user_prompt": "the user's prompt",
    "protocol": "the protocol",
    "texts": "the official texts",
    "judge": "the judge",
    "data": "the data",
    "policy": "the variant of the policy",
    "grading": "the grading profile",
    "max_steps": "the limit of steps",
    "max_errors": "the limit of errors",
    "seed": "the seed",
}

#: Conditions that not every trial of a run has.
_BY_TRIAL = frozenset({"judge"})
#: Settings, by label, of which the conditions have more: how each simulated user behaved. And the value of another one
#: that is the reference's, which has no time limit.
_STATED_APART, _NO_TIMEOUT = "user persona", ("timeout", "0")
#: Conditions that the header of a τ²-bench file states, besides the model of the user.
_STATED = ("user", "max_steps", "max_errors")
#: What its users are called here.
_USERS = {"user_simulator": "llm", "dummy_user": "dummy"}


def conditions_of_run(records: Iterable[TrialRecord], info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the conditions of a run: what its trials have recorded, and its seed, or what a τ²-bench header states.

    Args:
        records: The trials.
        info: The manifest of the run, or the header.
    """
    user, settings = info.get("user_info"), info.get("settings")
    seed = {"seed": settings["seed"]} if isinstance(settings, dict) and "seed" in settings else {}
    conditions: list[Mapping[str, Any]] = [{**record.conditions, **seed} for record in records if record.conditions]
    if conditions or not isinstance(user, dict):
        return conditions
    name = str(user.get("implementation"))
    stated = {key: info.get(key) for key in _STATED} | {"user": _USERS.get(name, name)}
    return [stated if name == "dummy_user" else stated | {"models": {"user": {"name": user.get("llm")}}}]


def differing_conditions(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the conditions apart from agents that differ between two runs, as far as both have them."""
    sides = [before, after]
    if not all(sides):
        return []
    recorded = all("protocol" in conditions for side in sides for conditions in side)
    differing = []
    for key, name in _COMPARED.items():
        if not recorded and key not in _STATED:
            continue
        earlier, later = ({_value(conditions.get(key)) for conditions in side} for side in sides)
        if key in _BY_TRIAL:
            earlier, later = earlier - {""}, later - {""}
        by_trial = key in _BY_TRIAL and (earlier <= later or later <= earlier)
        if earlier != later and not by_trial:
            differing.append(name + _values(earlier, later))
    changed = [list(map(_settings_of, side)) for side in sides]
    for name in dict.fromkeys(name for side in changed for settings in side for name in settings):
        earlier, later = ({_value(settings.get(name)) for settings in side} for side in changed)
        if earlier != later:
            differing.append(name + _values(earlier - {""}, later - {""}))
    return differing + _differing_models(sides)


def _differing_models(sides: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return the models that differ, and the roles whose models have other arguments.

    Another model of the agent is another agent, whatever its arguments are.
    """
    differing = []
    for role in _ROLES:
        models = [[model for conditions in side if (model := conditions.get("models", {}).get(role))] for side in sides]
        if not all(models):
            continue  # a model that was not called in one of the runs is a matter of the tasks
        earlier, later = ({_value(model.get("name")) for model in side} for side in models)
        if earlier != later:
            if role == "agent":
                continue
            differing.append(f"the model of the {role}{_values(earlier, later)}")
        if all("args" in model for side in models for model in side):
            earlier, later = ({json.dumps(model["args"], sort_keys=True) for model in side} for side in models)
            differing += [f"the arguments of the {role}'s model{_values(earlier, later)}"] if earlier != later else []
    return differing


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={part}" for name, part in value.items())
    return "" if value in (None, False) else str(value)


def _values(one: set[str], two: set[str]) -> str:
    sides = [listed(sorted(values), _MOST) or "none" for values in (one, two)]
    return f" ({sides[0]} and {sides[1]})" if all(len(side) <= _LONGEST for side in sides) else ""


def _deviations(records: Sequence[TrialRecord]) -> list[str]:
    """Return what deviates from the reference in any trial; with the number of trials if it is not all."""
    deviations = Counter(text for record in records for text in dict.fromkeys(_of_conditions(record.conditions or {})))
    texts = Counter(str((record.conditions or {}).get("texts")) for record in records)
    if len(texts) > 1:
        deviations["different official texts"] = len(records)
    partly = {text for text, many in deviations.items() if many < len(records)}
    # What only some trials have comes last, by name, as trials may run in any order.
    return [text for text in deviations if text not in partly] + [
        f"{text} in {plural(deviations[text], 'trial')}" for text in sorted(partly)
    ]


def _of_conditions(conditions: Mapping[str, Any]) -> list[str]:
    agent, user = conditions.get("agent"), conditions.get("user")
    deviations = [] if conditions.get("protocol") == "tau2" else [_OWN_PROTOCOL]
    deviations += [] if agent == "llm" else [f"agent {agent}"]
    deviations += [] if user == "llm" else [f"user {user}"]
    for side, name in (("agent", agent), ("user", user)):
        prompt = conditions.get(f"{side}_prompt")
        if name == "llm" and prompt not in ("official", "built in"):
            deviations.append(f"{side}'s prompt: {prompt}")
    deviations += [] if conditions.get("data") == "official" else [_BUNDLED]
    deviations += [f"policy {conditions['policy']}"] if conditions.get("policy") else []
    persona = {name: value for name, value in (conditions.get("persona") or {}).items() if value != _PERSONA.get(name)}
    deviations += [f"persona {' '.join(f'{name}={value}' for name, value in persona.items())}"] if persona else []
    deviations += [f"variant {conditions['variant']}"] if conditions.get("variant") else []
    deviations += [f"grading {conditions['grading']}"] if conditions.get("grading") != "official" else []
    deviations += _changed(conditions)
    judge = conditions.get("judge")
    deviations += [f"judge {judge}"] if judge not in (None, "llm") else []
    for limit, usual in _LIMITS.items():
        if conditions.get(limit) not in (None, usual):
            deviations.append(f"{limit} {conditions[limit]}")
    for role, model in conditions.get("models", {}).items():
        arguments = {name: value for name, value in model.get("args", {}).items() if value is not None}
        if role != "agent" and arguments not in ({}, {"temperature": 0.0}, {"temperature": 0}):
            deviations.append(f"arguments of the {role}'s model")
    return deviations


def _changed(conditions: Mapping[str, Any]) -> list[str]:
    settings = {name: value for name, value in _settings_of(conditions).items() if (name, value) != _NO_TIMEOUT}
    settings.pop(_STATED_APART, None)
    return stated(settings)


def _settings_of(conditions: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the settings that verdicts depend on and that have no condition of their own, by label."""
    changed = conditions.get("changed")
    return changed if isinstance(changed, dict) else {}


def _of_outcomes(records: Sequence[TrialRecord]) -> list[str]:
    timed_out = sum(record.termination_reason == "timeout" for record in records)
    return [f"the time limit ended {plural(timed_out, 'trial')}"] if timed_out else []


def _incomplete(records: Sequence[TrialRecord]) -> list[str]:
    """Return what is missing: trials of tasks, tasks of the split base, and trials without a verdict."""
    trials: dict[str, Counter[str]] = defaultdict(Counter)
    sizes: dict[str, int] = {}
    others: Counter[str] = Counter()
    for record in records:
        size = (record.conditions or {}).get("base")
        if size is None:
            others[record.domain] += 1
        else:
            trials[record.domain][record.task_id] += record.ran
            sizes[record.domain] = size
    missing = []
    for domain, tasks in sorted(trials.items()):
        if len(tasks) < sizes[domain]:
            missing.append(f"{domain}: {len(tasks)} of {plural(sizes[domain], 'task')} of the split base")
        if (fewest := min(tasks.values())) < TRIALS:
            missing.append(f"{domain}: {fewest} of {plural(TRIALS, 'trial')}")
    missing += [
        f"{domain}: {plural(many, 'trial')} of tasks outside of the split base"
        for domain, many in sorted(others.items())
    ]
    return missing


def _models(records: Sequence[TrialRecord]) -> list[str]:
    """Return the models of user and judge, which are stated with a score."""
    texts = []
    for role in ("user", "judge"):
        names = sorted({name for record in records if (name := record.called_model(role))})
        if names:
            other = any(name.rpartition("/")[2] != REFERENCE_MODEL for name in names)
            texts.append(f"{role} model {listed(names, _MOST)}" + (f" (reference: {REFERENCE_MODEL})" if other else ""))
    return texts
