"""Running trials: settings, plan, execution, metrics."""

from ..files import item_id
from ..run_settings import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT
from .config import (
    DEFAULT_SEED,
    MODEL_ROLES,
    ModelChoice,
    ModelSettings,
    RunConfig,
    SimulationSettings,
)
from .judges import add_to_sys_path, load_judge
from .plan import select, trial_seeds, unmatched
from .reference import refuse_failing_reference
from .simulate import asimulate, prepare_trial, simulate
from .trial import Trial
from .trial_runner import TrialRunner

__all__ = [
    "DEFAULT_CONCURRENCY",
    "DEFAULT_SEED",
    "DEFAULT_TIMEOUT",
    "MODEL_ROLES",
    "ModelChoice",
    "ModelSettings",
    "RunConfig",
    "SimulationSettings",
    "Trial",
    "TrialRunner",
    "add_to_sys_path",
    "asimulate",
    "item_id",
    "load_judge",
    "prepare_trial",
    "refuse_failing_reference",
    "select",
    "simulate",
    "trial_seeds",
    "unmatched",
]
