"""Grading profiles: every rule on which ``official`` and ``strict`` differ, in one table."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import ConfigurationError, unknown_name

#: The number of the rules, including those of judges and their prompts, as stored runs have it. Raise it with every
#: change that can move a verdict; ``tests/unit/test_grading_rules.py`` fails otherwise.
GRADING_RULES = 2


@dataclass(frozen=True)
class Grading:
    """The rules of a profile.

    Attributes:
        stop_beats_limit: A stop on the very step that reaches a limit counts as the stop.
        union_of_arguments: A call matches a reference action if all arguments of both are equal, instead of only the
            arguments that the call has.
        requestor_counts: A call by the other side matches no reference action.
        one_call_one_action: A call satisfies one reference action at the most.
        whole_phrases: A phrase is found as a whole token, numbers written one way on both sides (with their sign,
            without thousands separators and zeros at the end of decimals), instead of as a substring of text without
            commas.
        mark_null_pass: A task that a do-nothing agent passes is marked in ``RewardInfo.info``.
    """

    name: str
    stop_beats_limit: bool
    union_of_arguments: bool
    requestor_counts: bool
    one_call_one_action: bool
    whole_phrases: bool
    mark_null_pass: bool


#: The reference's semantics, oddities included, so that numbers compare. Source: τ²-bench v1.0.1.
OFFICIAL = Grading(
    name="official",
    stop_beats_limit=False,
    union_of_arguments=False,
    requestor_counts=False,
    one_call_one_action=False,
    whole_phrases=False,
    mark_null_pass=False,
)
#: The oddities corrected.
STRICT = Grading(
    name="strict",
    stop_beats_limit=True,
    union_of_arguments=True,
    requestor_counts=True,
    one_call_one_action=True,
    whole_phrases=True,
    mark_null_pass=True,
)
PROFILES = {profile.name: profile for profile in (OFFICIAL, STRICT)}


def profile_named(name: str) -> Grading:
    """Return a profile by name.

    Raises:
        ConfigurationError: No such profile.
    """
    if name not in PROFILES:
        raise ConfigurationError(unknown_name("grading profile", name, PROFILES))
    return PROFILES[name]
