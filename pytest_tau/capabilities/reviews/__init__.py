"""Reviews of conversations: the errors of agent and user that a model or a function finds, and who is at fault."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - a dataclass reads it
from typing import Any

from ...capability import Capability, Command, FactColumn, declared, deferred, model_arguments, model_name, option, text


@declared(frozen=True)
class ReviewSettings:
    """The settings.

    Attributes:
        review: Which trials are reviewed: ``failed``, or ``all`` that have a verdict; None for none.
        review_mode: ``full``, or ``user`` for the user alone.
        reviewer: The specification of the reviewer; None for a model.
        reviewer_llm: The name of its model; None for that of the judge.
        reviewer_llm_args: Arguments of its calls.
    """

    review: str | None = option(
        text,
        "speed",
        "WHICH",
        choices=("failed", "all"),
        bare="failed",
        rerun=2,
        help="have a model review trials after their verdict, which it does not change: failed (default), or all",
    )
    review_mode: str = option(
        text,
        "speed",
        "MODE",
        default="full",
        choices=("full", "user"),
        rerun=2,
        help="full (default), or user: a review of the user alone, by a reviewer that sees neither policy nor "
        "reference nor the agent's calls",
    )
    reviewer: str | None = option(
        text,
        "speed",
        "SPEC",
        rerun=2,
        help="reviewer: llm (default), or your function or object: module:attribute, file.py:attribute",
    )
    reviewer_llm: str | None = option(
        model_name, "speed", "MODEL", rerun=2, help="the reviewer's model (default: the judge's)"
    )
    reviewer_llm_args: Mapping[str, Any] = option(
        model_arguments,
        "speed",
        "JSON",
        default={},
        rerun=2,
        help='arguments of its calls, over {"temperature": 0.0}; null removes one',
    )


capability = Capability(
    name="reviews",
    title="review",
    settings=ReviewSettings,
    hooks=deferred(f"{__name__}.trial:make_reviews"),
    facts=deferred(f"{__name__}.report:read_facts"),
    columns=(
        FactColumn("review_status", "status"),
        FactColumn("review_first_critical", "first_critical"),
        *(FactColumn(f"review_{name}", name) for name in ("fault_owner", "fault_type", "agent_errors", "user_errors")),
        FactColumn("review_tags", "tag_names"),
        FactColumn("reviewer_cost", "cost"),
    ),
    summary=deferred(f"{__name__}.report:summary"),
    comparison=deferred(f"{__name__}.report:comparison"),
    failure=deferred(f"{__name__}.report:failure"),
    page=deferred(f"{__name__}.report:page"),
    commands=(
        Command(
            "review",
            "compare",
            "have a model review the conversations of a run",
            deferred(f"{__name__}.command:add_parser"),
        ),
    ),
)
