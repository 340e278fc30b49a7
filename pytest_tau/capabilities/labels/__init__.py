"""Labels by people, and how far judges, rules and parties at fault agree with them."""

from __future__ import annotations

from ...capability import Capability, Command, deferred

capability = Capability(
    name="labels",
    commands=(
        Command("label", "look", "label the trials of a run by hand", deferred(f"{__name__}.command:add_label_parser")),
        Command(
            "agreement",
            "look",
            "compare judges, rules and parties at fault with labels by people",
            deferred(f"{__name__}.command:add_agreement_parser"),
        ),
    ),
)
