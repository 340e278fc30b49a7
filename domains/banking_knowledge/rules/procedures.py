"""Rules about the steps that a procedure of the documents consists of: none is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_tau.policy import Rule

from .unwrapped import unwrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

_DISPUTE: Final = "file_debit_card_transaction_dispute_6281"
_CLOSE, _FREEZE = "close_debit_card_4721", "freeze_debit_card_3892"
#: The calls that carry out the action on a card which a dispute records; the more severe one is enough.
_CARD_ACTIONS: Final = {"close_and_reissue": (_CLOSE,), "freeze_pending_investigation": (_FREEZE, _CLOSE)}
_SUBMIT: Final = "submit_credit_limit_increase_request_7392"
_HISTORY: Final = "get_credit_limit_increase_history_4829"
_DECISIONS: Final = ("approve_credit_limit_increase_5847", "deny_credit_limit_increase_5848")
_CREDIT: Final = "apply_savings_account_credit_6831"


def _card_action(trajectory: Trajectory) -> Iterator[Breach]:
    real_calls = unwrapped(trajectory)
    for dispute in real_calls.of_tool(_DISPUTE):
        card, action = dispute.arguments.get("card_id"), str(dispute.arguments.get("card_action"))
        actions = [
            call for call in real_calls.of_tool(*_CARD_ACTIONS.get(action, ())) if call.arguments.get("card_id") == card
        ]
        if action in _CARD_ACTIONS and not actions:
            yield real_calls.breach(
                dispute, f"{action} is recorded for card {card}, and not done: {_CARD_ACTIONS[action][0]}"
            )


def _steps(
    tools: Collection[str], needed: Iterable[str], argument: str, *, concerns: Callable[[MadeCall], bool] | None = None
) -> Callable[[Trajectory], Iterator[Breach]]:
    """Return the check that calls of some tools have others beside them for the same account, before or after them."""

    def check(trajectory: Trajectory) -> Iterator[Breach]:
        real_calls = unwrapped(trajectory)
        for call in real_calls.of_tool(*tools):
            about = call.arguments.get(argument)
            for name in needed if concerns is None or concerns(call) else ():
                if not any(step.arguments.get(argument) == about for step in real_calls.of_tool(name)):
                    yield real_calls.breach(call, f"{name} was not called for {about}")

    return check


PROCEDURE_RULES = [
    Rule(
        "card-action",
        "The dispute itself changes no card; freeze or close the card with its own tool.",
        _card_action,
        of_reference=True,
        editions=(("f3ce1c63b53d",),),
    ),
    Rule(
        "limit-steps",
        "An increase is decided at once by these steps, in this order.",
        _steps(_DECISIONS, (_SUBMIT, _HISTORY), "credit_card_account_id"),
        of_reference=True,
        editions=(("2b03fe42af3d",),),
    ),
    Rule(
        "interest-report",
        "If it is too low, report it: use submit_interest_discrepancy_report_7294",
        _steps(
            (_CREDIT,),
            ("submit_interest_discrepancy_report_7294",),
            "account_id",
            concerns=lambda call: call.arguments.get("credit_type") == "interest_correction",
        ),
        of_reference=True,
        editions=(("1c521c3bd1bd",),),
    ),
]
