"""Why two verdicts on the same simulation differ, in lines that a person reads."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..models import call_as_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..models import Difference, RewardInfo

_MOST = 4


def reward_differences(stored: RewardInfo | None, fresh: RewardInfo) -> list[str]:
    """What decides over one of the verdicts and not over the other, a line each.

    Args:
        stored: The file's verdict; its checks may be missing.
        fresh: Ours.
    """
    ended = (fresh.info or {}).get("ended_early")
    lines = [f"ended by {ended}: only a stop can earn more than 0"] if ended else []
    basis = set(fresh.reward_basis or [])
    was = dict(_checks(stored, basis)) if stored else {}
    for label, met in _checks(fresh, basis):
        before = was.get(label)
        if before is None and not met:
            lines.append(f"{label}: not met")
        elif before is not None and before != met:
            lines.append(f"{label}: {'met' if before else 'not met'} as stored, {'met' if met else 'not met'} now")
        else:
            continue
        if label == _DATABASE and not met:
            lines += [f"  {_place(difference)}" for difference in (fresh.db_diff or [])[:_MOST]]
            left = len(fresh.db_diff or []) - _MOST
            lines += [f"  and {left} more"] if left > 0 else []
    return lines or ["every check is met now; the file does not tell which one was not"]


_DATABASE = "DB"


def _checks(info: RewardInfo, basis: set[str]) -> Iterator[tuple[str, bool]]:
    """Each check that gates, by a label that is its own."""
    seen: Counter[str] = Counter()
    for component, label, met in _every_check(info):
        if component in basis:
            seen[label] += 1
            yield label if seen[label] == 1 else f"{label} ({seen[label]})", met


def _every_check(info: RewardInfo) -> Iterator[tuple[str, str, bool]]:
    if info.db_check is not None:
        yield "DB", _DATABASE, info.db_check.db_match
    for assertion in info.env_assertions or []:
        wanted = assertion.env_assertion
        value = "" if wanted.assert_value else " is false"
        label = f"assertion {call_as_text(wanted.func_name, wanted.arguments)}{value}"
        yield "ENV_ASSERTION", label, assertion.met
    for check in info.action_checks or []:
        label = f"action {call_as_text(check.action.name, check.action.arguments)}"
        yield "ACTION", label, check.action_match
    for phrase in info.communicate_checks or []:
        yield "COMMUNICATE", f"phrase {phrase.info!r}", phrase.met
    for statement in info.nl_assertions or []:
        yield "NL_ASSERTION", f"statement {statement.nl_assertion!r}", statement.met


def _place(difference: Difference) -> str:
    where = f"{difference.side} {difference.path}"
    if difference.missing == "got":
        return f"{where}  expected {_short(difference.expected)}, missing"
    if difference.missing == "expected":
        return f"{where}  not expected, got {_short(difference.got)}"
    return f"{where}  expected {_short(difference.expected)}, got {_short(difference.got)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"
