"""The conditions under which a trial was run, recorded with it: what its comparability is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..chat.requests import public_arguments
from ..environment import DEFAULT_SPLIT
from ..errors import TauError
from ..evaluation import LazyJudge
from ..participants import BY_MODEL, Prompting
from ..participants.prompts import OFFICIAL_GUIDELINES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..chat import Role, TrialModels
    from ..environment import Domain
    from ..models import Task
    from ..participants import ParticipantSource, Side
    from .config import SimulationSettings
    from .trial import Trial

_ROLES: tuple[Role, ...] = ("agent", "user", "judge")


def conditions_of(trial: Trial, agent: ParticipantSource, user: ParticipantSource) -> dict[str, Any]:
    """Return the conditions of a finished trial, without those that do not apply. Models are listed if called.

    Args:
        trial: The trial.
        agent: The source of its agent.
        user: The source of its user.
    """
    settings = trial.settings
    texts = settings.protocol.texts
    retriever = trial.domain.retriever(settings.policy, settings.retrieval)
    found: dict[str, Any] = {
        "protocol": settings.protocol.name,
        "texts": texts.fingerprint if texts else None,
        "agent": agent.name,
        "user": user.name,
        "agent_prompt": prompt_name(settings, "agent", agent),
        "user_prompt": prompt_name(settings, "user", user),
        "models": {role: _model(trial.models, role) for role in _ROLES if role in trial.models.ledger.asked},
        "judge": _judge(settings, trial.task),
        "data": "official" if trial.domain.folder != trial.domain.spec.folder else "bundled",
        "base": base_size(trial.domain, trial.task),
        "policy": settings.policy if settings.policy != next(iter(trial.domain.spec.policies)) else None,
        "retrieval": retriever.name if retriever else None,
        "persona": dict(trial.persona),
        "variant": settings.variant or None,
        "changed": settings.changed,
        "grading": settings.evaluation.grading.name,
        "max_steps": settings.limits.max_steps,
        "max_errors": settings.limits.max_errors,
    }
    return {name: value for name, value in found.items() if value not in (None, False, {}, [])}


def base_size(domain: Domain, task: Task) -> int | None:
    """Return the number of tasks of the domain's split base, if the task is one of them as it is in the file."""
    try:
        # First by the id: the tasks may be many, and are not read yet in a run over other files.
        if task.id not in domain.splits.get(DEFAULT_SPLIT, (task.id,)):
            return None
        base = domain.base_tasks()
    except TauError:
        return None
    return len(base) if base.get(task.id) == task else None


def prompt_name(settings: SimulationSettings, side: Side, source: ParticipantSource) -> str | None:
    """Return the prompt of a side that a built-in model plays: ``official``, ``built in``, or the name of a file."""
    if not (source.name in BY_MODEL or (side == "user" and source.name == "llm")):
        return None
    prompting = settings.prompting.get(side, Prompting())
    if prompting.prompt is None:
        return "official" if settings.protocol.is_official else prompting.name
    return "official" if prompting.name == OFFICIAL_GUIDELINES else prompting.name


def _model(models: TrialModels, role: Role) -> dict[str, Any]:
    """Return the name and the recorded arguments of a model."""
    model = models.get(role)
    if model is None:  # called by an agent of the user's own
        return {"name": usage.model if (usage := models.ledger.usage.get(role)) else ""}
    return {"name": model.name, "args": model_arguments(model.args)}


def model_arguments(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a model that are recorded: the public ones, without the seed, which differs by trial."""
    return {name: value for name, value in public_arguments(args).items() if name != "seed"}


def _judge(settings: SimulationSettings, task: Task) -> str | None:
    judge = settings.evaluation.judge
    if judge is None or not task.needs_judge:
        return None
    return "llm" if isinstance(judge, LazyJudge) else judge.name
