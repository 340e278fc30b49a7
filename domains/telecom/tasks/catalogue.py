"""Catalogue of single faults, and of the three problems to which they add up.

Source: τ²-bench v1.0.1, telecom tasks: names, calls and order; what ``Fault`` and ``Intent`` call ours is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..constants import MAX_REFUEL_GB
from .faults import Call, Fault, Intent, Slot, Statement

if TYPE_CHECKING:
    from ..models import LineStatus

_LINE = {"customer_id": Slot("customer_id"), "line_id": Slot("line_id")}
_BILL = {"customer_id": Slot("customer_id"), "bill_id": Slot("overdue_bill_id")}


def _user(name: str, /, **arguments: object) -> Call:
    return Call("user", name, arguments)


def _agent(name: str, /, **arguments: object) -> Call:
    return Call("assistant", name, arguments)


def _phone_is(name: str, /, **arguments: object) -> Statement:
    return Statement("user", name, arguments)


def _account_is(name: str, /, **arguments: object) -> Statement:
    return Statement("assistant", name, arguments)


def line_status_is(status: LineStatus) -> Statement:
    """Build the statement that the subject's line has this status."""
    return _account_is("assert_line_status", **_LINE, expected_status=status)


def refuelled_is(amount: float) -> Statement:
    """Build the statement that so many GB have been refuelled on the subject's line."""
    return _account_is("assert_data_refueling_amount", **_LINE, expected_amount=amount)


#: Comes before any fault: whose phone it is.
INTRODUCTION = _user("set_user_info", name=Slot("name"), phone_number=Slot("phone_number"))

_NO_SERVICE = _phone_is("assert_service_status", expected_status="no_service")
_NO_CONNECTION = _phone_is("assert_internet_speed", expected_speed=0, expected_desc="No Connection")
_NO_DATA = _phone_is("assert_mobile_data_status", expected_status=False)
_NO_MMS = _phone_is("assert_can_send_mms", expected_status=False)
_EXCEEDED = _phone_is("assert_mobile_data_usage_exceeded", expected_status=True)
_SUSPENDED = (
    _NO_SERVICE,
    _account_is("assert_overdue_bill_exists", customer_id=Slot("customer_id"), overdue_bill_id=Slot("overdue_bill_id")),
    line_status_is("Suspended"),
)
_ABROAD = _user("set_user_location", abroad=True)
_SEARCH = _user("simulate_network_search")
_RESET_APN = (_user("reset_apn_settings"), _user("reboot_device"))


def _suspend(*, contract_ended: bool) -> tuple[Call, ...]:
    bill = {"new_bill_id": Slot("overdue_bill_id"), "contract_ended": contract_ended}
    return _agent("suspend_line_for_overdue_bill", **_LINE, **bill), _SEARCH


def _roaming_is(on: bool) -> Statement:
    return _phone_is("assert_mobile_roaming_status", expected_status=on)


def _remove(permission: str) -> Call:
    return _user("remove_app_permission", app_name="messaging", permission=permission)


def _grant(permission: str) -> Call:
    return _user("grant_app_permission", app_name="messaging", permission=permission)


AIRPLANE_MODE = Fault(
    "airplane_mode_on",
    "airplane",
    "airplane mode is on",
    start=(_user("turn_airplane_mode_on"),),
    checks=(_phone_is("assert_airplane_mode_status", expected_status=True), _NO_SERVICE),
    fix=(_user("toggle_airplane_mode"),),
)
UNSEATED_SIM = Fault(
    "unseat_sim_card",
    "sim-out",
    "the SIM card is out of its seat",
    start=(_user("unseat_sim_card"),),
    checks=(_NO_SERVICE,),
    fix=(_user("reseat_sim_card"),),
)
LOCKED_SIM = Fault(
    "lock_sim_card_pin",
    "sim-lock",
    "the SIM card is locked with a PIN",
    start=(_user("lock_sim_card", mode="pin"),),
    checks=(_NO_SERVICE,),
    diagnosis=_user("check_sim_status"),
)
BROKEN_APN = Fault(
    "break_apn_settings",
    "apn",
    "the APN is broken",
    start=(_user("break_apn_settings"),),
    checks=(_NO_SERVICE,),
    fix=_RESET_APN,
)
OVERDUE_BILL = Fault(
    "overdue_bill_suspension",
    "overdue",
    "the line is suspended over an unpaid bill",
    start=_suspend(contract_ended=False),
    checks=_SUSPENDED,
    fix=(
        _agent("send_payment_request", **_BILL),
        _user("make_payment"),
        _agent("resume_line", **_LINE),
        _user("reboot_device"),
    ),
    line_status="Active",
)
ENDED_CONTRACT = Fault(
    "contract_end_suspension",
    "contract",
    "the line is suspended and its contract has ended",
    start=_suspend(contract_ended=True),
    checks=_SUSPENDED,
    diagnosis=_agent("get_details_by_id", id=Slot("line_id")),
    line_status="Suspended",
)
PHONE_ROAMING_OFF = Fault(
    "user_abroad_roaming_enabled_off",
    "roam-phone",
    "the customer is abroad and roaming is off in the phone",
    start=(_ABROAD, _user("turn_roaming_off"), _agent("enable_roaming", **_LINE)),
    checks=(_roaming_is(False),),
    fix=(_user("toggle_roaming"),),
)
_LINE_ROAMING_OFF = Fault(
    "user_abroad_roaming_disabled_on",
    "roam-line",
    "the customer is abroad and roaming is off on the line",
    start=(_ABROAD, _user("turn_roaming_on"), _agent("disable_roaming", **_LINE), _SEARCH),
    checks=(_roaming_is(True), _NO_CONNECTION),
    fix=(_agent("enable_roaming", **_LINE),),
)
ALL_ROAMING_OFF = Fault(
    "user_abroad_roaming_disabled_off",
    "roam-both",
    "the customer is abroad and roaming is off in the phone and on the line",
    start=(_ABROAD, _user("turn_roaming_off"), _agent("disable_roaming", **_LINE), _SEARCH),
    checks=(_roaming_is(False), _NO_CONNECTION),
    fix=(_agent("enable_roaming", **_LINE), _user("toggle_roaming")),
)
DATA_OFF = Fault(
    "data_mode_off",
    "data-off",
    "mobile data is off",
    start=(_user("turn_data_off"),),
    checks=(_NO_DATA,),
    fix=(_user("toggle_data"),),
)
DATA_SAVER = Fault(
    "data_saver_mode_on",
    "saver",
    "data saver is on",
    start=(_user("turn_data_saver_mode_on"),),
    checks=(_phone_is("assert_mobile_data_saver_mode_status", expected_status=True),),
    fix=(_user("toggle_data_saver_mode"),),
    slows_only=True,
)
ONLY_2G = Fault(
    "bad_network_preference",
    "2g",
    "the phone is set to 2G only",
    start=(_user("set_network_mode_preference", mode="2g_only"),),
    fix=(_user("set_network_mode_preference", mode="4g_5g_preferred"),),
    slows_only=True,
)
SLOW_VPN = Fault(
    "bad_vpn",
    "vpn",
    "a slow VPN is connected",
    start=(_user("break_vpn"),),
    checks=(_phone_is("assert_internet_not_excellent"),),
    fix=(_user("disconnect_vpn"),),
    slows_only=True,
)
ALLOWANCE_USED_UP = Fault(
    "data_usage_exceeded",
    "quota",
    "the data allowance is used up",
    start=(_agent("set_data_usage", **_LINE, data_used_gb=Slot("over_limit_gb")),),
    checks=(_EXCEEDED,),
    fix=(_agent("refuel_data", **_LINE, gb_amount=MAX_REFUEL_GB),),
    extra=(refuelled_is(MAX_REFUEL_GB),),
)
REFUELLING_USED_UP = Fault(
    "data_usage_exceeded_no_refuel",
    "quota-end",
    "the data allowance and all the refuelling that a line may get are used up",
    start=(
        _agent("refuel_data", **_LINE, gb_amount=MAX_REFUEL_GB),
        _agent("set_data_usage", **_LINE, data_used_gb=Slot("over_refuelled_limit_gb")),
    ),
    checks=(_EXCEEDED,),
    extra=(refuelled_is(MAX_REFUEL_GB),),
    diagnosis=_agent("get_data_usage", **_LINE),
)
WIFI_CALLING = Fault(
    "bad_wifi_calling",
    "wifi-call",
    "Wi-Fi calling takes the MMS over",
    start=(_user("set_wifi_calling", enabled=True, mms_over_wifi=True),),
    fix=(_user("toggle_wifi_calling"),),
)
NO_MMSC = Fault(
    "break_apn_mms_setting",
    "mmsc",
    "the address of the MMS centre is missing",
    start=(_user("break_apn_mms_setting"),),
    checks=(_NO_MMS,),
    fix=_RESET_APN,
)
NO_SMS_PERMISSION = Fault(
    "break_app_sms_permission",
    "no-sms",
    "the messaging app may not use SMS",
    start=(_remove("sms"),),
    fix=(_grant("sms"),),
)
NO_STORAGE_PERMISSION = Fault(
    "break_app_storage_permission",
    "no-storage",
    "the messaging app may not use the storage",
    start=(_remove("storage"),),
    fix=(_grant("storage"),),
)
NO_PERMISSIONS = Fault(
    "break_app_both_permissions",
    "no-perms",
    "the messaging app may use neither SMS nor the storage",
    start=(_remove("sms"), _remove("storage")),
    fix=(_grant("sms"), _grant("storage")),
)

_ROAMING = (PHONE_ROAMING_OFF, _LINE_ROAMING_OFF, ALL_ROAMING_OFF)
_ALLOWANCE = (ALLOWANCE_USED_UP, REFUELLING_USED_UP)
_CONNECTED = Statement("user", "assert_service_status", {"expected_status": "connected"}, "the phone has no service")
_BILL_PAID = Statement(
    "assistant", "assert_no_overdue_bill", {"overdue_bill_id": Slot("overdue_bill_id")}, "the overdue bill is not paid"
)

MOBILE_DATA = Intent(
    "mobile_data_issue",
    "data",
    groups=((AIRPLANE_MODE,), _ROAMING, (DATA_OFF,), (DATA_SAVER,), (ONLY_2G,), (SLOW_VPN,), _ALLOWANCE),
    core=1,
    goal=(
        _phone_is("assert_mobile_data_status", expected_status=True),
        _phone_is("assert_internet_speed", expected_speed=200, expected_desc="excellent"),
    ),
    unsolved=(_NO_DATA,),
)
SERVICE = Intent(
    "service_issue",
    "service",
    groups=((AIRPLANE_MODE,), (UNSEATED_SIM,), (LOCKED_SIM,), (BROKEN_APN,), (OVERDUE_BILL, ENDED_CONTRACT)),
    core=0,
    goal=(_CONNECTED, _BILL_PAID),
    unsolved=(_NO_SERVICE,),
)
MMS = Intent(
    "mms_issue",
    "mms",
    groups=(
        *((AIRPLANE_MODE,), (UNSEATED_SIM,), (DATA_OFF,), _ALLOWANCE, _ROAMING),
        *((ONLY_2G,), (WIFI_CALLING,), (NO_MMSC,), (NO_SMS_PERMISSION, NO_STORAGE_PERMISSION, NO_PERMISSIONS)),
    ),
    core=5,
    goal=(_phone_is("assert_can_send_mms", expected_status=True),),
    unsolved=(_NO_MMS,),
)
#: In the order of the reference's task file.
INTENTS = (MOBILE_DATA, SERVICE, MMS)
