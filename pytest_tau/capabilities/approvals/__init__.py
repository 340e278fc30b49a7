"""A person who approves: the third participant of a conversation, ``--tau-approver``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...capability import Capability, FactColumn, declared, deferred, model_name, option, text

if TYPE_CHECKING:
    from .approver import ApprovalRequest, Decision
    from .interrupts import ask_approver

#: What is public, by the module that has it.
_HOMES = {"ApprovalRequest": "approver", "Decision": "approver", "ask_approver": "interrupts"}
__all__ = ["ApprovalRequest", "Decision", "ask_approver", "capability"]


@declared(frozen=True)
class ApprovalSettings:
    """The settings.

    Attributes:
        approver: The specification of the approver.
        approver_llm: The name of the model that is the approver instead; None for none.
    """

    approver: str = option(
        text,
        "verdict",
        "SPEC",
        default="script",
        example="human",
        help="who approves calls that need it: script (default; the answers of the task, else it approves), human "
        "(with -s), or your function of a request: module:attribute, file.py:attribute",
    )
    approver_llm: str | None = option(model_name, "verdict", "MODEL", help="the model that approves calls that need it")


capability = Capability(
    name="approvals",
    settings=ApprovalSettings,
    on=lambda _settings: True,
    check=deferred(f"{__name__}.stages:check_approver"),
    trial=deferred(f"{__name__}.stages:stages_of"),
    fixtures=deferred(f"{__name__}.task_hook:TaskHook"),
    hooks=deferred(f"{__name__}.plugin:ApprovalHooks"),
    facts=deferred(f"{__name__}.facts:ApprovalFacts"),
    columns=(
        FactColumn("approvals", "asked", label="Approvals"),
        FactColumn("unapproved", label="Unapproved", metric=True, lacking="no domain of the run has approvals"),
    ),
    summary=deferred(f"{__name__}.facts:summary"),
    failure=deferred(f"{__name__}.facts:failure"),
    page=deferred(f"{__name__}.facts:page"),
    lint=deferred(f"{__name__}.script:lint"),
)


def __getattr__(name: str) -> Any:
    """Import what is public when it is asked for: this module is imported for its options."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
