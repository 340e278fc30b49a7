"""Editions: a domain with other values of its policy, ``--tau-edition`` and ``tau vary``."""

from __future__ import annotations

from ...capability import Capability, Command, declared, deferred, option, text


@declared(frozen=True)
class EditionSettings:
    """The settings.

    Attributes:
        edition: A seed, the name of an edition, or the path of a file of values; None for the domain's own values.
    """

    edition: str | None = option(
        text,
        "verdict",
        "EDITION",
        example="7",
        help="run an edition of the domain, in which the policy states other values: a seed that changes all of them, "
        "a TOML file with some, or airline_plus or retail_plus",
    )


capability = Capability(
    name="editions",
    settings=EditionSettings,
    domain=deferred(f"{__name__}.edition:in_edition"),
    lint=deferred(f"{__name__}.lint:lint"),
    hooks=deferred(f"{__name__}.plugin:EditionReport"),
    commands=(
        Command(
            "vary",
            "look",
            "list the values of a policy whose change no task notices",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
