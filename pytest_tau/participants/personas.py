"""How simulated users behave: the keys of a persona, its draw for a trial, and the text for a model.

Source: τ²-bench v1.0.1, persona configuration; the text is our own.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

from .behaviours import BEHAVIOURS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The key whose values are behaviours, to which plugins add their own.
BEHAVIOUR: Final = "behaviour"
#: The values of each key.
VALUES: Final = {
    "verbosity": ("standard", "minimal"),
    "interrupt_tendency": ("waits", "interrupts"),
    BEHAVIOUR: tuple(BEHAVIOURS),
}
#: What a model is asked for by a value; other values ask for nothing. A conversation of texts has no interruptions.
_TEXTS: Final = {
    ("verbosity", "minimal"): (
        "You are a person of few words. If a word or two answer a question, write only these. Write no greetings, no "
        "thanks and no other pleasantries."
    )
}
#: Pleasantries of the scripted user, with what remains of them.
_PLEASANTRIES: Final = (
    ("Yes, please.", "Yes."),
    ("No, thank you.", "No."),
    (", please, not ", ", not "),
    ("All right, thank you. ###", "###"),
    ("Thank you, that was all. ###", "###"),
    ("All right.", "OK."),
)


def draw_persona(given: Mapping[str, Mapping[str, float]], seed: int | None) -> dict[str, str]:
    """Return the persona of a trial.

    Args:
        given: The weight of each value, by key.
        seed: The trial's seed, by which the values are drawn.
    """
    chosen = {}
    for key, weights in given.items():
        values = list(weights)
        # Each key has draws of its own, so that another key changes none.
        draw = random.Random(f"{seed} persona {key}")  # noqa: S311 - not for secrets
        chosen[key] = draw.choices(values, [weights[value] for value in values])[0]
    return chosen


def persona_text(persona: Mapping[str, str]) -> str:
    """Return the paragraph for a model that plays the user; empty if the persona asks for nothing."""
    return "\n\n".join(_TEXTS[item] for item in persona.items() if item in _TEXTS)


def without_pleasantries(text: str) -> str:
    """Return a text of the scripted user without its pleasantries."""
    for pleasantry, remaining in _PLEASANTRIES:
        text = text.replace(pleasantry, remaining)
    return text


def is_minimal(persona: Mapping[str, str]) -> bool:
    """Return whether a user says as little as it can."""
    return persona.get("verbosity") == "minimal"


def shown_persona(given: Mapping[str, Mapping[str, float]]) -> dict[str, str | dict[str, float]]:
    """Return a persona as it is recorded: a key with one value has that, instead of its weight."""
    return {key: next(iter(weights)) if len(weights) == 1 else dict(weights) for key, weights in given.items()}


def persona_line(given: Mapping[str, Mapping[str, float]]) -> str:
    """Return a persona in one line: ``verbosity=minimal:0.8,standard:0.2``."""
    parts = []
    for key, value in shown_persona(given).items():
        weights = value if isinstance(value, str) else ",".join(f"{name}:{share:g}" for name, share in value.items())
        parts.append(f"{key}={weights}")
    return ",".join(parts)
