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
from .judges import import_from, load_judge
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
    "asimulate",
    "default_user",
    "import_from",
    "item_id",
    "load_judge",
    "select",
    "simulate",
    "trial_seeds",
    "unmatched",
]
