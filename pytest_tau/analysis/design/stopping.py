"""When a run may end because its gates are known well enough."""

from __future__ import annotations

#: How often the gates are predicted: after each twentieth of the trials.
LOOKS = 20
#: The doubt that each prediction may leave, as a share of the doubt that was asked for. Every prediction is a chance to
#: err: if the rate is close to the bound, runs end with another verdict more often than a single prediction errs
#: (``python -m benchmarks --only stopping-error``).
DOUBT = 0.2
