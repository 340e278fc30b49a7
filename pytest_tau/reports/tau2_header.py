"""The header of a results file in τ²-bench's format: what a run's manifest and its domains have of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..chat.requests import without_secrets
from ..errors import TauError
from ..files import digest
from ..runs.results.entries import OWN

if TYPE_CHECKING:
    from ..regrade.recognition import DomainSource
    from ..runs.reader import Run
    from .export import DomainContent

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
        return info
    settings = info.get("settings") or {}
    recorded = ((info.get("hashes") or {}).get("domains") or {}).get(domain, {}).get("policy")
    policy = _policy(settings, domain, recorded, domains)
    persona = settings.get("user_persona")
    drawn = isinstance(persona, dict) and any(isinstance(value, dict) for value in persona.values())
    own = {
        "comparability": info.get("comparability"),
        "policy_hash": recorded if policy is None else None,
        "user_persona": persona if drawn else None,  # there, it has one value for each key
    }
    own = {name: value for name, value in own.items() if value}
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
        **({OWN: own} if own else {}),
    }


def _side(settings: dict[str, Any], side: str) -> dict[str, Any]:
    return {
        "implementation": settings.get(side),
        "llm": settings.get(f"{side}_llm"),
        "llm_args": settings.get(f"{side}_llm_args"),
        "voice_settings": None,
    }


def _policy(settings: dict[str, Any], domain: str, recorded: str | None, domains: DomainSource | None) -> str | None:
    """Return the policy that the run had, if it still is the domain's."""
    if recorded is None or domains is None:
        return None
    try:
        environment = domains.load(domain).environment(
            solo=bool(settings.get("solo")), policy=settings.get("agent_retrieval") or settings.get("policy_variant")
        )
    except TauError:  # a domain of another project, or without the run's data
        return None
    return environment.policy if digest(environment.policy) == recorded else None


def _guidelines(info: dict[str, Any], domain: str, domains: DomainSource | None) -> str | None:
    """Return the template of the system message of the user's model, which the run has recorded."""
    found: dict[str, str] = info.get("user_prompts") or {}
    has_tools = False
    if domains is not None and "user_tools" in found:
        try:
            has_tools = domains.load(domain).spec.user_tools is not None
        except TauError:
            has_tools = False
    return found.get("user_tools" if has_tools else "user")
