"""Technical support as a table of checks, causes and remedies.

It follows the policy (``tech_support_manual.md`` and ``tech_support_workflow.md``), in the order of the workflow.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

#: Causes that only the carrier's records show and remove; ``account`` has the procedures.
AccountCause: TypeAlias = Literal["suspension", "line roaming", "allowance"]

#: The request to the customer for each step.
STEPS = {
    "check_status_bar": "Please look at the status bar at the top of your screen and tell me what it shows.",
    "check_network_status": "Please check the network status of your phone and tell me what it says.",
    "check_sim_status": "Please check the status of your SIM card and tell me what it says.",
    "run_speed_test": "Please run a speed test and tell me the result.",
    "can_send_mms": "Please test whether you can send an MMS and tell me the result.",
    "check_data_restriction_status": "Please check whether data saver is on.",
    "check_network_mode_preference": "Please check which network mode your phone prefers.",
    "check_vpn_status": "Please check whether a VPN is connected.",
    "check_wifi_calling_status": "Please check whether Wi-Fi calling is on.",
    "check_app_permissions": "Please check which permissions the messaging app has.",
    "check_apn_settings": "Please check the APN settings and tell me what they say.",
    "toggle_airplane_mode": "Please turn off airplane mode.",
    "reseat_sim_card": "Please take the SIM card out and put it back in.",
    "reset_apn_settings": "Please reset the APN settings.",
    "reboot_device": "Please reboot your phone.",
    "toggle_roaming": "Please turn on data roaming in the settings of your phone.",
    "toggle_data": "Please turn on mobile data.",
    "toggle_data_saver_mode": "Please turn off data saver.",
    "set_network_mode_preference": "Please set the network mode to 4g_5g_preferred.",
    "disconnect_vpn": "Please disconnect the VPN, and leave it off.",
    "toggle_wifi_calling": "Please turn off Wi-Fi calling, and leave it off.",
    "grant sms": "Please grant the sms permission to the messaging app.",
    "grant storage": "Please grant the storage permission to the messaging app.",
    "check_payment_request": "Please check your payment requests.",
    "make_payment": "Please make the payment.",
}


class Rule(NamedTuple):
    """One possible cause.

    Attributes:
        cause: Its description.
        check: The check that shows it; empty if the remedy is applied in any case.
        wrong: A pattern that the check's result matches if the cause is present.
        remedy: The steps that remove it, in order; none if a human agent must take over.
        account: The procedure in the carrier's records that finds and removes it, instead of a check; the remedy's
            steps follow.
        abroad: Whether it matters to travellers only.
    """

    cause: str
    check: str = ""
    wrong: str = ""
    remedy: tuple[str, ...] = ()
    account: AccountCause | None = None
    abroad: bool = False

    def applies(self, result: str) -> bool:
        """Return whether the check's result shows this cause."""
        return re.search(self.wrong, result, re.IGNORECASE) is not None


class Problem(NamedTuple):
    """A problem with its test and its possible causes.

    Attributes:
        test: The check that shows whether it is there.
        solved: A pattern that the test's result matches once it is solved.
        prerequisites: Problems that have to be solved first.
        rules: Its possible causes, in the order in which they are checked.
    """

    test: str
    solved: str
    prerequisites: tuple[str, ...]
    rules: tuple[Rule, ...]


_APN_RESET = ("reset_apn_settings", "reboot_device")
_NO_5G = r"preference: *(?:2g|3g|4g)_only"

#: By name. Customers report ``service``, ``speed`` or ``mms``.
PROBLEMS = {
    "service": Problem(
        test="check_status_bar",
        solved=r"📶|\b[2-5]G\b",
        prerequisites=(),
        rules=(
            Rule("airplane mode is on", "check_status_bar", r"✈|airplane", ("toggle_airplane_mode",)),
            Rule("the SIM card is missing", "check_sim_status", r"no sim card|missing", ("reseat_sim_card",)),
            Rule("the SIM card is locked", "check_sim_status", r"lock|\bP[IU][NK]\b"),
            Rule("the APN is faulty", remedy=_APN_RESET),
            Rule("the line is suspended", account="suspension", remedy=("reboot_device",)),
        ),
    ),
    "connection": Problem(
        test="run_speed_test",
        solved=r"\bmbps\b",
        prerequisites=("service",),
        rules=(
            Rule(
                "roaming is off in the phone",
                *("check_network_status", r"roaming enabled: *no", ("toggle_roaming",)),
                abroad=True,
            ),
            Rule("roaming is off on the line", account="line roaming", abroad=True),
            Rule("mobile data is off", "check_network_status", r"mobile data enabled: *no", ("toggle_data",)),
            Rule("the data allowance is used up", account="allowance"),
        ),
    ),
    "speed": Problem(
        test="run_speed_test",
        solved=r"\bexcellent\b",
        prerequisites=("connection",),
        rules=(
            Rule("data saver is on", "check_data_restriction_status", r"saver\b.*\bon\b", ("toggle_data_saver_mode",)),
            Rule("the network mode is old", "check_network_mode_preference", _NO_5G, ("set_network_mode_preference",)),
            Rule("a VPN is connected", "check_vpn_status", r"and connected", ("disconnect_vpn",)),
        ),
    ),
    "mms": Problem(
        test="can_send_mms",
        solved=r"\bcan send\b",
        prerequisites=("service", "connection"),
        rules=(
            Rule("the network is 2G", "check_network_status", r"type: *2g", ("set_network_mode_preference",)),
            Rule("Wi-Fi calling is on", "check_wifi_calling_status", r"turned on\b", ("toggle_wifi_calling",)),
            Rule("the app may not use SMS", "check_app_permissions", r"^(?!.*\bsms\b.*)", ("grant sms",)),
            Rule("the app may not use storage", "check_app_permissions", r"^(?!.*\bstorage\b)", ("grant storage",)),
            Rule("the MMSC address is missing", "check_apn_settings", r"not set", _APN_RESET),
        ),
    ),
}

#: Questions that the records answer, before any problem is worked on: a pattern of the question, the record of the
#: account with the answer, its field, and the template of the reply.
QUESTIONS = (
    (r"\b(?:which|what) plan\b", "plan", "name", "Your line is on the plan {}."),
    (r"\bcontract\b.*\?", "line", "contract_end_date", "The contract of your line runs until {}."),
    (r"\be-?mail address\b.*\?", "customer", "email", "The e-mail address on file is {}."),
)

#: Problems by patterns of the customer's words; the first match counts.
REPORTS = (
    ("mms", r"\bmms\b|picture message|multimedia"),
    ("service", r"\bno service\b|no network|\bsignal\b|calls? (?:nor|and|or) texts?"),
    ("speed", r"\bdata\b|internet|speed|\bslow|\bload|\bpages?\b"),
    ("service", r"\bservice\b|\bnetwork\b|\bcalls?\b"),
)
