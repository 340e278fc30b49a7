"""Running trials: settings, plan, execution, metrics."""

from .config import (
    DEFAULT_CONCURRENCY,
    DEFAULT_SEED,
    DEFAULT_TIMEOUT,
    ModelChoice,
    ModelSettings,
    RunConfig,
    SimulationSettings,
    default_user,
)
from .judges import add_to_sys_path, load_judge
from .plan import item_id, select, trial_seeds, unmatched
from .simulate import asimulate, simulate
from .trial import Trial

__all__ = [
    "DEFAULT_CONCURRENCY",
    "DEFAULT_SEED",
    "DEFAULT_TIMEOUT",
    "ModelChoice",
    "ModelSettings",
    "RunConfig",
    "SimulationSettings",
    "Trial",
    "add_to_sys_path",
    "asimulate",
    "default_user",
    "item_id",
    "load_judge",
    "select",
    "simulate",
    "trial_seeds",
    "unmatched",
]
