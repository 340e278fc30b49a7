"""Runs of the right size: ``--tau-stop-early[=P]``, and ``tau plan``, which says what a run can show."""

from __future__ import annotations

from ...capability import Capability, Command, declared, deferred, option, quoted


def _certainty(value: str) -> float | None:
    """Return a probability above 0.5, 1 for certainty; None for ``false``, as an ini file has it."""
    if value.lower() in ("false", "no", "off", "0"):
        return None
    try:
        probability = 1.0 if value.lower() in ("true", "yes", "on") else float(value)
    except ValueError:
        probability = -1.0
    if not 0.5 < probability <= 1:
        problem = f"expected a probability above 0.5 and at most 1, such as 0.99, got {quoted(value)}"
        raise ValueError(f"{problem} (without one, write the option after the paths)")
    return probability


@declared(frozen=True)
class StoppingSettings:
    """The settings.

    Attributes:
        stop_early: With which probability the verdict must be known; 1 for certainty, None to run all trials.
    """

    stop_early: float | None = option(
        _certainty,
        "session",
        "P",
        bare="1",
        rerun=0,
        help="skip the remaining trials once the verdict of the run is certain, or with P, such as 0.99, once it is "
        "known with this probability; the tasks are then run in random order",
    )


capability = Capability(
    name="stopping",
    settings=StoppingSettings,
    on=lambda _: True,  # a run that is too small for its gates says so, whether or not it may end early
    hooks=deferred(f"{__name__}.plugin:make_stopping"),
    commands=(
        Command(
            "plan",
            "start",
            "state what a run can show before it is made, and what it costs",
            deferred(f"{__name__}.plan:add_parser"),
        ),
    ),
)
