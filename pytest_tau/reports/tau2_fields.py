"""Fields that τ²-bench requires of a results file, and values for those that a run does not know.

Its loader refuses null for them. A value that stands for an unknown one is listed in ``unknown`` under ``pytest_tau``
of the same object, by which it is null again once the file is read back.

Source: τ²-bench v1.0.1, result models.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..capability.calls import recorded_in
from ..chat.requests import without_secrets
from ..errors import TauError
from ..files import digest
from ..models import CAPABILITY_LIMIT
from ..runs.results.entries import OWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models import Simulation, TerminationReason
    from ..regrade.recognition import DomainSource
    from ..runs.reader import Run
    from .export import DomainContent


#: The time of what has none.
EPOCH = "1970-01-01T00:00:00"
#: A name that is not known.
UNKNOWN = "unknown"
#: Limits of a conversation, by the kind of file; the default first. Source: τ-bench and τ²-bench, run defaults.
_LIMITS = {"τ-bench": (30, 10)}
_USUAL_LIMITS = (200, 10)


def tau2_reason(reason: TerminationReason) -> TerminationReason:
    """Return how a conversation ended, for τ²-bench, which knows no limit of a capability."""
    return "max_steps" if reason == CAPABILITY_LIMIT else reason


def complete_info(info: dict[str, Any], trials: int, kind: str = "") -> dict[str, Any]:
    """Return a header with a value for each required field.

    Args:
        info: The header; unknown values are null or missing.
        trials: How many trials a task has at the most.
        kind: The kind of file that the run was read from, as ``ResultFile`` names it.
    """
    steps, errors = _LIMITS.get(kind, _USUAL_LIMITS)
    header = copy.deepcopy(info)
    unknown: list[str] = []

    def fill(part: str, name: str, value: Any) -> None:
        inside = header
        if part:
            existing = header.get(part)
            inside = header[part] = existing if isinstance(existing, dict) else {}
        if inside.get(name) is None:
            inside[name] = value
            unknown.append(f"{part}.{name}" if part else name)

    fill("", "git_commit", UNKNOWN)
    fill("", "num_trials", trials)
    fill("", "max_steps", steps)
    fill("", "max_errors", errors)
    fill("user_info", "implementation", UNKNOWN)
    fill("agent_info", "implementation", UNKNOWN)
    fill("environment_info", "policy", "")
    if unknown:
        header[OWN] = {**(header.get(OWN) or {}), "unknown": unknown}
    return header


def complete_task(task: dict[str, Any], domain: str) -> dict[str, Any]:
    """Return a task whose structured instructions name a domain."""
    instructions = task["user_scenario"]["instructions"]
    if not isinstance(instructions, dict) or instructions.get("domain") is not None:
        return task
    instructions["domain"] = domain
    return {**task, OWN: {"unknown": ["user_scenario.instructions.domain"]}}


def times_of(simulation: Simulation) -> tuple[dict[str, Any], list[str]]:
    """Return the times of a simulation, and the names of the fields whose values stand for unknown ones."""
    start, end = simulation.start_time, simulation.end_time
    missing = [name for name, value in (("start_time", start), ("end_time", end)) if not value]
    if not start and not simulation.duration:
        missing.append("duration")
    times = {
        "timestamp": end or start or EPOCH,
        "start_time": start or end or EPOCH,
        "end_time": end or start or EPOCH,
        "duration": simulation.duration,
    }
    return times, missing


def index_entry(simulation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry of a simulation in the index of a folder."""
    names = ("id", "task_id", "trial", "termination_reason", "agent_cost", "duration")
    reward = (simulation.get("reward_info") or {}).get("reward")
    return {**{name: simulation[name] for name in names}, "reward": reward}


#: Fields of τ²-bench's header that are never known here.
_UNKNOWN = ("text_streaming_config", "speech_complexity", "audio_native_config")


def tau2_header(run: Run, domain: str, content: DomainContent, domains: DomainSource | None) -> dict[str, Any]:
    """Return the header of a run: that of a τ²-bench file as it is, else what its manifest has of it.

    Args:
        run: The run, of which something was read.
        domain: The domain's name.
        content: What the run has of it.
        domains: The domains, for the policy; None if there are none.
    """
    info: dict[str, Any] = without_secrets(run.info)
    if "environment_info" in info:
        return {name: value for name, value in info.items() if name != "hashes"}
    settings = info.get("settings") or {}
    recorded = _recorded_policy(info, domain)
    policy = _policy(info, domain, domains)
    persona = settings.get("user_persona")
    drawn = isinstance(persona, dict) and any(isinstance(value, dict) for value in persona.values())
    own_fields = {
        "comparability": info.get("comparability"),
        "capabilities": {
            name: {"settings": entry["settings"]} for name, entry in recorded_in(info).items() if entry.get("settings")
        },
        "policy_hash": recorded if policy is None else None,
        "user_persona": persona if drawn else None,  # there, it has one value for each key
    }
    own_fields = {name: value for name, value in own_fields.items() if value}
    return {
        "git_commit": info.get("commit"),
        "num_trials": content.trials,
        "max_steps": settings.get("max_steps"),
        "max_errors": settings.get("max_errors"),
        "user_info": {
            **_side(settings, "user"),
            "global_simulation_guidelines": _guidelines(info, domain, domains),
            "persona_config": None if drawn else persona,
        },
        "agent_info": _side(settings, "agent"),
        "environment_info": {"domain_name": domain, "policy": policy, "tool_defs": None},
        "seed": settings.get("seed"),
        **dict.fromkeys(_UNKNOWN),
        "retrieval_config": content.retrieval,
        "retrieval_config_kwargs": (settings.get("agent_retrieval_args") or None) if content.retrieval else None,
        **({OWN: own_fields} if own_fields else {}),
    }


def _recorded_policy(info: dict[str, Any], domain: str) -> str | None:
    """Return the hash of the policy that the run had; None if it is not known."""
    policy: str | None = ((info.get("hashes") or {}).get("domains") or {}).get(domain, {}).get("policy")
    return policy


def _side(settings: dict[str, Any], side: str) -> dict[str, Any]:
    return {
        "implementation": settings.get(side),
        "llm": settings.get(f"{side}_llm"),
        "llm_args": settings.get(f"{side}_llm_args"),
        "voice_settings": None,
    }


def _policy(info: dict[str, Any], domain: str, domains: DomainSource | None) -> str | None:
    """Return the policy that the run had, if it still is the domain's."""
    settings, recorded = info.get("settings") or {}, _recorded_policy(info, domain)
    if recorded is None or domains is None:
        return None
    try:
        environment = domains.load(domain, info).environment(
            solo=bool(settings.get("solo")), policy=settings.get("agent_retrieval") or settings.get("policy_variant")
        )
    except TauError:  # a domain of another project, or without the run's data
        return None
    return environment.policy if digest(environment.policy) == recorded else None


def _guidelines(info: dict[str, Any], domain: str, domains: DomainSource | None) -> str | None:
    """Return the template of the system message of the user's model, which the run has recorded."""
    prompts: dict[str, str] = info.get("user_prompts") or {}
    has_tools = False
    if domains is not None and "user_tools" in prompts:
        try:
            has_tools = domains.load(domain).spec.user_tools is not None
        except TauError:
            has_tools = False
    return prompts.get("user_tools" if has_tools else "user")
