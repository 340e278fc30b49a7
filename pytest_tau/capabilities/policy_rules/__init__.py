"""The rules of the domain's policy, checked in each conversation: ``--tau-policy-rules``."""

from __future__ import annotations

from ...capability import Capability, FactColumn, declared, deferred, option, text


@declared(frozen=True)
class PolicyRuleSettings:
    """The settings.

    Attributes:
        policy_rules: Whether the rules are checked: ``on`` or ``off``.
    """

    policy_rules: str = option(
        text,
        "output",
        "WHEN",
        default="on",
        choices=("on", "off"),
        rerun=0,
        help="check the rules of the domain's policy in each conversation: %(default)s (default) or off; the reward "
        "does not depend on it",
    )


capability = Capability(
    name="policy_rules",
    title="policy",
    settings=PolicyRuleSettings,
    on=lambda settings: settings.policy_rules == "on",
    trial=deferred(f"{__name__}.summary:PolicyStages"),
    facts=deferred(f"{__name__}.summary:read_report"),
    columns=(
        FactColumn(
            "policy",
            "score",
            label="Policy",
            kind="kept",
            metric=True,
            most=1.0,
            lacking="no trial was checked against rules: the domains have none, or --tau-policy-rules is off",
        ),
        FactColumn("policy_breaches", "broken", kind="text"),
        FactColumn("policy.*", "kept", metric=True, most=1.0, lacking="no trial was checked against this rule"),
    ),
    summary=deferred(f"{__name__}.summary:summary"),
    comparison=deferred(f"{__name__}.summary:comparison"),
    failure=deferred(f"{__name__}.summary:failure"),
    page=deferred(f"{__name__}.summary:page"),
    lint=deferred(f"{__name__}.lint:lint"),
)
