"""Technical support as a table: what to look at, what is wrong then, and what mends it.

Worked out from the policy (``tech_support_manual.md`` and ``tech_support_workflow.md``), in the order of the workflow.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

#: What only the carrier's records can tell or change; carried out in ``rules_account``.
AccountMatter: TypeAlias = Literal["suspension", "line roaming", "allowance"]

#: How the customer is asked for each step.
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
    """One thing that can be wrong.

    Attributes:
        cause: What it is, in words.
        look: The check that shows it; none where the remedy is due in any case.
        wrong: A pattern that the check's answer fits if it is wrong.
        remedy: The steps that mend it, in order; none where nothing does, and a human agent must take over.
        account: What the carrier's records decide, in place of all these.
        abroad: It matters to travellers only.
        again: Look once more after the remedy, since another fault may show only then.
    """

    cause: str
    look: str = ""
    wrong: str = ""
    remedy: tuple[str, ...] = ()
    account: AccountMatter | None = None
    abroad: bool = False
    again: bool = False

    def applies(self, shown: str) -> bool:
        """Whether what the check showed says that this is wrong."""
        return re.search(self.wrong, shown, re.IGNORECASE) is not None


class Path(NamedTuple):
    """A problem, and how it is worked on.

    Attributes:
        test: The check that tells whether it is there.
        solved: A pattern that the test's answer fits once it is not.
        first: Problems that have to be solved before.
        rules: What can be behind it, in the order in which it is looked for.
    """

    test: str
    solved: str
    first: tuple[str, ...]
    rules: tuple[Rule, ...]


_APN_RESET = ("reset_apn_settings", "reboot_device")
_NO_5G = r"preference: *(?:2g|3g|4g)_only"

#: By problem. What a customer reports is ``service``, ``speed`` or ``mms``.
PATHS = {
    "service": Path(
        test="check_status_bar",
        solved=r"📶|\b[2-5]G\b",
        first=(),
        rules=(
            Rule("airplane mode is on", "check_status_bar", r"✈|airplane", ("toggle_airplane_mode",)),
            Rule(
                "the SIM card is missing", "check_sim_status", r"no sim card|missing", ("reseat_sim_card",), again=True
            ),
            Rule("the SIM card is locked", "check_sim_status", r"lock|\bP[IU][NK]\b"),
            Rule("the APN is faulty", remedy=_APN_RESET),
            Rule("the line is suspended", account="suspension", remedy=("reboot_device",)),
        ),
    ),
    "connection": Path(
        test="run_speed_test",
        solved=r"\bmbps\b",
        first=("service",),
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
    "speed": Path(
        test="run_speed_test",
        solved=r"\bexcellent\b",
        first=("connection",),
        rules=(
            Rule("data saver is on", "check_data_restriction_status", r"saver\b.*\bon\b", ("toggle_data_saver_mode",)),
            Rule("the network mode is old", "check_network_mode_preference", _NO_5G, ("set_network_mode_preference",)),
            Rule("a VPN is connected", "check_vpn_status", r"and connected", ("disconnect_vpn",)),
        ),
    ),
    "mms": Path(
        test="can_send_mms",
        solved=r"\bcan send\b",
        first=("service", "connection"),
        rules=(
            Rule("the network is 2G", "check_network_status", r"type: *2g", ("set_network_mode_preference",)),
            Rule("Wi-Fi calling is on", "check_wifi_calling_status", r"turned on\b", ("toggle_wifi_calling",)),
            Rule("the app may not use SMS", "check_app_permissions", r"^(?!.*\bsms\b.*)", ("grant sms",)),
            Rule("the app may not use storage", "check_app_permissions", r"^(?!.*\bstorage\b)", ("grant storage",)),
            Rule("the MMSC address is missing", "check_apn_settings", r"not set", _APN_RESET),
        ),
    ),
}

#: What the records answer right away, before any problem is looked for: a pattern of the question, and which record
#: of the account it is about, which field of it, and how it is told.
QUESTIONS = (
    (r"\b(?:which|what) plan\b", "plan", "name", "Your line is on the plan {}."),
    (r"\bcontract\b.*\?", "line", "contract_end_date", "The contract of your line runs until {}."),
    (r"\be-?mail address\b.*\?", "customer", "email", "The e-mail address on file is {}."),
)

#: What the customer's words make of the problem, the first that fits.
REPORTS = (
    ("mms", r"\bmms\b|picture message|multimedia"),
    ("service", r"\bno service\b|no network|\bsignal\b|calls? (?:nor|and|or) texts?"),
    ("speed", r"\bdata\b|internet|speed|\bslow|\bload|\bpages?\b"),
    ("service", r"\bservice\b|\bnetwork\b|\bcalls?\b"),
)
