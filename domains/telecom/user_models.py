"""Records of the user's side: a phone, and its surroundings as far as they affect it."""

from typing import Literal, TypeAlias

from pydantic import Field

from pytest_tau.environment import Database, Record

SimStatus: TypeAlias = Literal["active", "missing", "locked_pin", "locked_puk"]
Technology: TypeAlias = Literal["none", "2G", "3G", "4G", "5G"]
Signal: TypeAlias = Literal["none", "poor", "fair", "good", "excellent"]
Connection: TypeAlias = Literal["connected", "searching", "no_service", "emergency_only"]
NetworkMode: TypeAlias = Literal["4g_5g_preferred", "4g_only", "3g_only", "2g_only"]
Performance: TypeAlias = Literal["unknown", "poor", "fair", "good", "excellent"]
APNName: TypeAlias = Literal["internet", "broken"]


class APNSettings(Record):
    """How the phone reaches the carrier's data network and its MMS centre. What is left out gets its default."""

    apn_name: APNName = Field(default="internet", description="Access point for data; `broken` is a faulty entry.")
    reset_at_reboot: bool = Field(
        default=False, description="Whether the next reboot puts all of these back to default."
    )
    mms_apn: str | None = Field(default="mms", description="Access point for picture messages.")
    mmsc_url: str | None = Field(
        default="http://mms.carrier.com/mms/wapenc",
        description="Address of the MMS centre; without it no MMS is sent.",
    )
    mms_proxy: str | None = Field(default=None, description="Proxy host for MMS, where the carrier needs one.")
    mms_port: int | None = Field(default=None, description="Port of that proxy.")


class VPNDetails(Record):
    """The VPN server in use."""

    server_address: str | None = None
    protocol: str | None = None
    server_performance: Performance = "unknown"


class AppPermissions(Record):
    """The permissions of an app."""

    sms: bool = False
    storage: bool = False
    phone: bool = False
    network: bool = False


class App(Record):
    """An installed app."""

    app_name: str
    permissions: AppPermissions = Field(default_factory=AppPermissions)


def _installed_apps() -> dict[str, App]:
    messaging = AppPermissions(sms=True, storage=True, phone=True)
    browser = AppPermissions(storage=True, network=True)
    return {
        "messaging": App(app_name="messaging", permissions=messaging),
        "browser": App(app_name="browser", permissions=browser),
    }


class Phone(Record):
    """The state of the phone.

    Signal, technology and connection are what the last network search found, not what it would find now.
    """

    sim_card_status: SimStatus = "active"
    sim_card_missing: bool = False
    airplane_mode: bool = False
    network_signal_strength: Signal = "good"
    network_technology_connected: Technology = "5G"
    network_connection_status: Connection = "connected"
    battery_level: int = 80
    data_enabled: bool = True
    roaming_enabled: bool = False
    network_mode_preference: NetworkMode = "4g_5g_preferred"
    active_apn_settings: APNSettings = Field(default_factory=APNSettings)
    wifi_enabled: bool = False
    wifi_connected: bool = False
    wifi_ssid: str | None = None
    wifi_signal_strength: Signal = "none"
    wifi_calling_enabled: bool = False
    wifi_calling_mms_over_wifi: bool = False
    data_saver_mode: bool = False
    vpn_enabled_setting: bool = False
    vpn_connected: bool = False
    vpn_details: VPNDetails | None = None
    app_statuses: dict[str, App] = Field(default_factory=_installed_apps)


class PaymentRequest(Record):
    """A bill, in USD, that the carrier asks the user to pay."""

    bill_id: str
    amount_due: float
    paid: bool = False


def _coverage() -> dict[Technology, Signal]:
    return {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"}


class Surroundings(Record):
    """The user's identity and place, and the effects of the carrier's side on the phone.

    The sync sets ``roaming_allowed``, ``mobile_data_usage_exceeded``, ``line_active`` and ``payment_request``.
    """

    name: str | None = None
    phone_number: str | None = None
    is_abroad: bool = False
    roaming_allowed: bool = False
    signal_strength: dict[Technology, Signal] = Field(default_factory=_coverage)
    mobile_data_usage_exceeded: bool = False
    line_active: bool = True
    payment_request: PaymentRequest | None = None


class TelecomUserDB(Database):
    """The user's database."""

    device: Phone = Field(default_factory=Phone)
    surroundings: Surroundings = Field(default_factory=Surroundings)
