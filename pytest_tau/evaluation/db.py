"""DB: both databases end as the reference actions leave them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..environment import canonical
from ..models import DBCheck, Difference

if TYPE_CHECKING:
    from ..environment import Change, Environment


class DBFindings(NamedTuple):
    """The check, and the places where the states differ (none where they are equal)."""

    check: DBCheck
    differences: list[Difference]


def check_db(final: Environment, reference: Environment | None) -> DBFindings:
    """Compare the final state of both sides with the reference's, in order and in type of JSON value.

    Args:
        final: The environment after the conversation.
        reference: The environment after the reference actions; None where the task has neither actions nor
            assertions, which always matches.

    Source: τ²-bench v1.0.1, environment evaluator.
    """
    differences: list[Difference] = []
    if reference is not None:
        for side, expected, got in (
            ("agent", reference.agent_db, final.agent_db),
            ("user", reference.user_db, final.user_db),
        ):
            if expected is not None and got is not None and not expected.equals(got):
                differences += [_difference(side, change) for change in expected.changes(got)]
    match = not differences
    return DBFindings(DBCheck(db_match=match, db_reward=float(match)), differences)


def _difference(side: str, change: Change) -> Difference:
    return Difference(
        side=side, path=change.path, expected=_json(change.expected), got=_json(change.got), missing=change.missing
    )


def _json(value: Any) -> Any:
    return json.loads(canonical(value))
