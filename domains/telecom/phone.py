"""Behaviour of the phone: pure functions of its state and its surroundings.

Source: τ²-bench v1.0.1, telecom domain.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from .user_models import Connection, NetworkMode, Phone, Signal, SimStatus, Surroundings, Technology

_TECHNOLOGY_OF_MODE: Final[Mapping[NetworkMode, Technology]] = {"4g_only": "4G", "3g_only": "3G", "2g_only": "2G"}
_AVERAGE_MBPS: Final[Mapping[Technology, float]] = {"none": 0.0, "2G": 0.25, "3G": 3.0, "4G": 55.0, "5G": 275.0}
_SIGNAL_FACTOR: Final[Mapping[Signal, float]] = {"none": 0.0, "poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_POOR_VPN_FACTOR: Final = 0.1
_DATA_SAVER_FACTOR: Final = 0.2
#: Speeds, in Mbps, below which a label applies.
_LABELS: Final = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))
_SIGNAL_ICON: Final[Mapping[Signal, str]] = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}


class Network(NamedTuple):
    """The result of a network search."""

    connection: Connection
    technology: Technology
    signal: Signal


class Speed(NamedTuple):
    """A download speed in Mbps, None without a connection, and its label."""

    mbps: float | None
    label: str


def sim_status(phone: Phone) -> SimStatus:
    """Return the SIM card's status as the phone sees it."""
    return "missing" if phone.sim_card_missing else phone.sim_card_status


def search_network(phone: Phone, around: Surroundings) -> Network:
    """Return the network that the phone would find now."""
    blocked = phone.airplane_mode or phone.active_apn_settings.apn_name == "broken" or not around.line_active
    if blocked or sim_status(phone) != "active":
        return Network("no_service", "none", "none")
    coverage = around.signal_strength
    technology = _TECHNOLOGY_OF_MODE.get(phone.network_mode_preference)
    if technology is None:
        technology = "5G" if coverage.get("5G", "none") != "none" else "4G"
    return Network("connected", technology, coverage.get(technology, "none"))


def data_works(phone: Phone, around: Surroundings) -> bool:
    """Return whether mobile data works, regardless of Wi-Fi."""
    has_network = phone.network_signal_strength != "none" and phone.network_connection_status != "no_service"
    may_roam = phone.roaming_enabled and around.roaming_allowed
    return (
        not phone.airplane_mode
        and has_network
        and (not around.is_abroad or may_roam)
        and phone.data_enabled
        and not around.mobile_data_usage_exceeded
    )


def measure_speed(phone: Phone, around: Surroundings) -> Speed:
    """Return the speed of mobile data."""
    if not data_works(phone, around):
        return Speed(None, "No Connection")
    factor = 1.0
    if phone.vpn_connected and phone.vpn_details and phone.vpn_details.server_performance == "poor":
        factor *= _POOR_VPN_FACTOR
    if phone.data_saver_mode:
        factor *= _DATA_SAVER_FACTOR
    average = _AVERAGE_MBPS[phone.network_technology_connected]
    mbps = round(average * _SIGNAL_FACTOR[phone.network_signal_strength] * factor, 2)
    return Speed(mbps, next((label for limit, label in _LABELS if mbps < limit), "Excellent"))


def mms_works(phone: Phone, around: Surroundings) -> bool:
    """Return whether the messaging app can send an MMS."""
    app = phone.app_statuses.get("messaging")
    over_wifi = phone.wifi_calling_enabled and phone.wifi_calling_mms_over_wifi
    return (
        data_works(phone, around)
        and phone.network_technology_connected != "2G"
        and not over_wifi
        and phone.active_apn_settings.mmsc_url is not None
        and app is not None
        and app.permissions.storage
        and app.permissions.sms
    )


def status_bar(phone: Phone) -> str:
    """Return the icons at the top of the screen."""
    parts = ["✈️ Airplane Mode"] if phone.airplane_mode else _cellular_icons(phone)
    if phone.wifi_enabled and phone.wifi_connected:
        parts.append(f"📡 Connected to {phone.wifi_ssid}" if phone.wifi_ssid else "📡 Enabled")
    if phone.vpn_connected:
        parts.append("🔒 VPN Connected")
    parts.append(f"🔋 {phone.battery_level}%")
    return " | ".join(parts)


def _cellular_icons(phone: Phone) -> list[str]:
    technology = phone.network_technology_connected
    icons = [_SIGNAL_ICON[phone.network_signal_strength]]
    if technology != "none":
        icons.append(technology)
    if not phone.data_enabled or technology == "none":
        return [*icons, "📵 Data Disabled"]
    icons.append("📱 Data Enabled")
    if phone.data_saver_mode:
        icons.append("🔽 Data Saver")
    return icons
