"""The rule that a customer is transferred only once everything that the policy offers was tried or is ruled out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from pytest_tau.policy import Rule

from ..constants import MAX_REFUEL_GB, TODAY
from .customer import identified

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_tau.policy import Breach, MadeCall, Trajectory

    from ..models import Line, TelecomDB
    from ..user_models import Phone, TelecomUserDB

_TRANSFER = "transfer_to_human_agents"
#: What the policy leaves to a person.
_BEYOND = re.compile(
    r"\b(?:change|changing|switch|switching|upgrade|upgrading|downgrade|different|new|other|better|bigger)\b[^.?!]{0,40}"
    r"\bplan\b|\bplan change\b|\bhuman\b|\bperson\b|\brepresentative\b|\bsupervisor\b|\bmanager\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:don(?:'|\u2019)?t|do not|won(?:'|\u2019)?t|will not|can(?:'|\u2019)?t|cannot|not|never|rather not) "
    r"(?:\w+ ){0,3}(?:pay|refuel|buy|spend|add|purchase|want|agree|accept|afford|interested|refill|top)|"
    r"\bno,? thank|^\W*no\b|\brefuse|\bdecline",
    re.IGNORECASE,
)
_LOCKED = re.compile(r"locked_p[iu][nk]|\block|\bP[IU][NK]\b")
_FAMILIES = (
    ("mms", re.compile(r"\bmms\b|picture message|multimedia|group message", re.IGNORECASE)),
    ("data", re.compile(r"\bdata\b|internet|speed|\bslow|\bload|\bpages?\b|browsing|streaming", re.IGNORECASE)),
    ("service", re.compile(r"\bservice\b|\bsignal\b|\bnetwork\b|\bcalls?\b", re.IGNORECASE)),
)


def _transfer(trajectory: Trajectory) -> Iterator[Breach]:
    for call in trajectory.of_tool(_TRANSFER):
        user_texts = [turn.text for turn in trajectory.user_texts(before=call)]
        family = _family(user_texts)
        if family and not _ruled_out(trajectory, call, user_texts):
            left = next(_remaining(trajectory, call, family, refuses=any(map(_REFUSES.search, user_texts))), None)
            if left:
                yield trajectory.breach(call, left)


def _family(said: list[str]) -> str | None:
    """Return the family of the problem by the first text that names one; None if it is none of technical support."""
    families = (next((name for name, words in _FAMILIES if words.search(text)), None) for text in said)
    return next((name for name in families if name), None)


def _ruled_out(trajectory: Trajectory, call: MadeCall, said: list[str]) -> bool:
    """Return whether the conversation has shown something that has no remedy."""
    results = [
        earlier.result or ""
        for earlier in (*trajectory.user_calls, *trajectory.calls)
        if earlier.turn_number < call.turn_number
    ]
    if any(map(_BEYOND.search, said)) or any(map(_LOCKED.search, [*said, *results])):
        return True
    tried = [earlier for earlier in trajectory.before(call) if earlier.name.startswith("get_customer")]
    if not identified(trajectory, call):
        return (
            any(lookup.failed or lookup.value == [] for lookup in tried) or len(trajectory.agent_texts(before=call)) > 3
        )
    lines = [earlier.value for earlier in trajectory.before(call) if isinstance(earlier.value, dict)]
    ends = [str(line.get("contract_end_date")) for line in lines if line.get("status") == "Suspended"]
    return any(end < TODAY.isoformat() for end in ends)


def _remaining(trajectory: Trajectory, call: MadeCall, family: str, *, refuses: bool) -> Iterator[str]:
    """Yield what stands between the customer and the solution, and has a remedy or was not looked at."""
    environment = trajectory.shared_state_before(call)
    user_db = cast("TelecomUserDB", environment.user_db) if environment else None
    if environment is None or user_db is None or user_db.surroundings.phone_number is None:
        return
    db = cast("TelecomDB", environment.agent_db)
    line = db.line_by_phone(user_db.surroundings.phone_number)
    if line.status == "Suspended" and refuses:
        return  # nothing helps a customer who will not pay
    yield from _service(user_db.device, line)
    if family == "service":
        return
    if line.data_used_gb >= db.plan(line.plan_id).data_limit_gb + line.data_refueling_gb:
        if line.data_refueling_gb < MAX_REFUEL_GB and not refuses:
            yield "the data allowance is still used up"
        elif not any(earlier.name == "get_data_usage" for earlier in trajectory.before(call)):
            yield "the data allowance, which is used up, was not looked at"
        return
    yield from _connection(user_db, line)
    yield from _speed(user_db.device) if family == "data" else _mms(user_db.device)


def _service(phone: Phone, line: Line) -> Iterator[str]:
    if phone.airplane_mode:
        yield "airplane mode is still on"
    if phone.sim_card_missing:
        yield "the SIM card is still missing"
    if phone.sim_card_status.startswith("locked"):
        yield "the SIM card, which is locked, was not looked at"
    if phone.active_apn_settings.apn_name == "broken":
        yield "the APN settings are still faulty"
    if line.status == "Suspended" and line.contract_end_date and line.contract_end_date < TODAY:
        yield "the line, whose contract has ended, was not looked at"
    elif line.status == "Suspended":
        yield "the line is still suspended"


def _connection(user_db: TelecomUserDB, line: Line) -> Iterator[str]:
    phone = user_db.device
    if user_db.surroundings.is_abroad and not phone.roaming_enabled:
        yield "roaming is still off in the phone"
    if user_db.surroundings.is_abroad and not line.roaming_enabled:
        yield "roaming is still off on the line"
    if not phone.data_enabled:
        yield "mobile data is still off"


def _speed(phone: Phone) -> Iterator[str]:
    if phone.data_saver_mode:
        yield "data saver is still on"
    if phone.network_mode_preference != "4g_5g_preferred":
        yield f"the network mode is still {phone.network_mode_preference}"
    if phone.vpn_connected:
        yield "a VPN is still connected"


def _mms(phone: Phone) -> Iterator[str]:
    if phone.network_technology_connected == "2G":
        yield "the network is still 2G"
    if phone.wifi_calling_enabled:
        yield "Wi-Fi calling is still on"
    permissions = phone.app_statuses["messaging"].permissions
    if not (permissions.sms and permissions.storage):
        yield "the messaging app still lacks a permission"
    if not phone.active_apn_settings.mmsc_url:
        yield "the address of the MMS centre is still missing"


TRANSFER_RULES = [
    Rule(
        "transfer",
        "Transfer in two cases and no others: the request lies outside your scope, or everything this policy and the "
        "technical support policy offer for the problem has been tried or is ruled out.",
        _transfer,
        needs_dialog=True,
    ),
]
