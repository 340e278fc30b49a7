"""Phrasings by which people ask for what can be done on a phone, for users without a model."""

from pytest_tau.environment import Spoken

_SWITCH = "turn/switch/toggle/put/enable/disable/activate/deactivate/flip"
_LOOK = "check/look/see/read/view/open/verify/is/what/which/tell/show"
_APPS = {"messaging": ("messaging/message/mms/sms app", "messaging"), "browser": ("browser",)}
_PERMISSIONS = {
    "sms": ("sms",),
    "storage": ("storage",),
    "phone": ("phone permission",),
    "network": ("network permission",),
}
_MODES = {
    "4g_5g_preferred": ("4g_5g_preferred", "4g/5g preferred", "5g", "automatic", "fastest"),
    "4g_only": ("4g_only", "4g only", "only 4g"),
    "3g_only": ("3g_only", "3g only", "only 3g"),
    "2g_only": ("2g_only", "2g only", "only 2g"),
}

#: By tool.
PHRASINGS = {
    "check_status_bar": Spoken(
        (f"{_LOOK} status bar", f"{_LOOK} top screen", f"{_LOOK} signal bar/icon", "do see signal"),
        shows={"status bar signal": "📶"},
    ),
    "check_network_status": Spoken(
        (
            f"{_LOOK} network/connection status/setting/overview",
            f"{_LOOK} mobile/cellular data",
            f"{_LOOK} roaming",
            f"{_LOOK} airplane/flight mode",
        )
    ),
    "check_network_mode_preference": Spoken((f"{_LOOK} preferred network", f"{_LOOK} network mode")),
    "set_network_mode_preference": Spoken(
        (
            "set/change/switch/choose/select/put network mode/type/preference",
            "set/change/switch/choose/select/put preferred network",
        ),
        values={"mode": _MODES},
    ),
    "run_speed_test": Spoken(
        (
            "run/do/perform/try/start/repeat/take speed test",
            "test/measure/check speed",
            "test mobile/internet connection",
        ),
        shows={"speed test excellent": "excellent", "excellent internet/connection/data speed": "excellent"},
    ),
    "toggle_airplane_mode": Spoken((f"{_SWITCH} airplane/aeroplane/flight mode",)),
    "check_sim_status": Spoken((f"{_LOOK} sim", f"{_LOOK} sim card status")),
    "reseat_sim_card": Spoken(
        ("reseat/re-seat/reinsert/re-insert/remove/eject/take/pull sim", "put sim card back", "put sim back")
    ),
    "toggle_data": Spoken((f"{_SWITCH} mobile/cellular data",)),
    "toggle_roaming": Spoken((f"{_SWITCH} roaming", f"{_SWITCH} data roaming")),
    "check_data_restriction_status": Spoken((f"{_LOOK} data saver/restriction", f"{_LOOK} data saver mode")),
    "toggle_data_saver_mode": Spoken((f"{_SWITCH} data saver", f"{_SWITCH} mobile data saver")),
    "check_apn_settings": Spoken((f"{_LOOK} apn", f"{_LOOK} access point", f"{_LOOK} mmsc")),
    "reset_apn_settings": Spoken(("reset/restore apn", "reset/restore access point", "reset/restore apn setting")),
    "check_wifi_status": Spoken((f"{_LOOK} wi-fi/wifi",)),
    "toggle_wifi": Spoken((f"{_SWITCH} wi-fi/wifi",)),
    "check_wifi_calling_status": Spoken((f"{_LOOK} wi-fi/wifi calling",)),
    "toggle_wifi_calling": Spoken((f"{_SWITCH} wi-fi/wifi calling",)),
    "check_vpn_status": Spoken((f"{_LOOK} vpn", "are/do vpn")),
    "connect_vpn": Spoken(("connect/enable/activate/start vpn", "turn/switch on vpn", "turn/switch vpn on")),
    "disconnect_vpn": Spoken(
        ("disconnect/disable/deactivate/stop/close/end vpn", "turn/switch off vpn", "turn/switch vpn off")
    ),
    "check_installed_apps": Spoken((f"list/{_LOOK} installed app", "what/which app installed")),
    "check_app_status": Spoken((f"{_LOOK} app status", f"{_LOOK} status app"), values={"app_name": _APPS}),
    "check_app_permissions": Spoken(
        (f"{_LOOK} permission", f"{_LOOK} app permission", f"{_LOOK} permission app"), values={"app_name": _APPS}
    ),
    "grant_app_permission": Spoken(
        (
            "grant/allow/give/enable/add/turn/switch sms/storage/phone/network permission",
            "grant/allow/give/enable/add permission",
            "grant/allow/give messaging/message/app",
        ),
        values={"app_name": _APPS, "permission": _PERMISSIONS},
    ),
    "can_send_mms": Spoken(
        ("send/sending mms", "send/sending picture/multimedia", "test/try/check mms"), shows={"send mms": "can send"}
    ),
    "reboot_device": Spoken(("reboot/restart/re-start/rebooting/restarting", "power off/cycle")),
    "check_payment_request": Spoken((f"{_LOOK} payment request",)),
    "make_payment": Spoken(
        ("make/complete/submit payment", "proceed with payment", "pay/accept payment request", "pay")
    ),
    # Only by its name: agents reset the settings.
    "set_apn_settings": Spoken(),
}
