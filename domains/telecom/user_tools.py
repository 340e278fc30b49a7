"""The user's tools of the telecom domain: everything that a person can see and do on the phone."""

from typing import Any, get_args

from pydantic import ValidationError

from pytest_tau.environment import ToolError, tool

from .phone import measure_speed, mms_works, sim_status, status_bar
from .user_functions import PhoneFunctions
from .user_models import APNSettings, AppPermissions, NetworkMode

_ADVICE = {
    "Very Poor": "Connection is very slow. Basic web browsing might be difficult.",
    "Poor": "Connection is slow. Web browsing may be sluggish, streaming difficult.",
    "Fair": "Connection is okay for web browsing and some standard definition streaming.",
    "Good": "Connection is good for most activities, including HD streaming.",
    "Excellent": "Connection is very fast.",
}
_SIM_TEXT = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}


class TelecomUserTools(PhoneFunctions):
    """A phone in somebody's hand. Source: the reference's telecom domain."""

    @tool("read")
    def check_status_bar(self) -> str:
        """Read the status bar at the top of your screen.

        It has icons for airplane mode or the mobile signal, the network type, mobile data and data saver, a Wi-Fi
        connection, the VPN, and the battery.
        """
        return f"Status Bar: {status_bar(self._phone)}"

    @tool("read")
    def check_network_status(self) -> str:
        """List every connection setting of your phone and what it is connected to.

        Covers airplane mode, the SIM card, the cellular connection with its signal and type, the switches for mobile
        data and data roaming, and Wi-Fi.
        """
        phone = self._phone
        lines = [
            f"Airplane Mode: {_on_off(phone.airplane_mode)}",
            f"SIM Card Status: {sim_status(phone)}",
            f"Cellular Connection: {phone.network_connection_status}",
            f"Cellular Signal: {phone.network_signal_strength}",
            f"Cellular Network Type: {phone.network_technology_connected}",
            f"Mobile Data Enabled: {_yes_no(phone.data_enabled)}",
            f"Data Roaming Enabled: {_yes_no(phone.roaming_enabled)}",
            f"Wi-Fi Radio: {_on_off(phone.wifi_enabled)}",
            f"Wi-Fi Connected: {_yes_no(phone.wifi_connected)}",
        ]
        if phone.wifi_connected:
            lines.append(f"Connected Wi-Fi Network: {phone.wifi_ssid}")
        return "\n".join(lines)

    @tool("read")
    def check_network_mode_preference(self) -> str:
        """Show which mobile network types your phone is set to use."""
        return f"Network Mode Preference: {self._phone.network_mode_preference}"

    @tool("write")
    def set_network_mode_preference(self, mode: NetworkMode | str) -> str:
        """Choose which mobile network types your phone uses, and search for a network.

        Args:
            mode: `4g_5g_preferred` takes the fastest network there is; `4g_only`, `3g_only` and `2g_only` keep to one
                type, the older ones being slower.
        """
        modes = get_args(NetworkMode)
        if mode not in modes:
            options = ", ".join(modes)
            problem = f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: {options}"
            if not isinstance(mode, str):
                raise ToolError(problem)
            return self._with_status_bar(problem)
        self._phone.network_mode_preference = mode  # type: ignore[assignment]
        self.simulate_network_search()
        return self._with_status_bar(f"Preferred Network Mode set to: {mode}")

    @tool("read")
    def run_speed_test(self) -> str:
        """Measure how fast your mobile data downloads.

        Gives the speed in Mbps, a rating from Very Poor to Excellent, and what that is good for; or says that there
        is no connection.
        """
        speed = measure_speed(self._phone, self._around)
        if speed.mbps is None:
            return "Speed test failed: No Connection."
        return f"Speed Test Result: {speed.mbps:.2f} Mbps ({speed.label}). {_ADVICE[speed.label]}"

    @tool("write")
    def toggle_airplane_mode(self) -> str:
        """Flip airplane mode: on if it is off, off if it is on.

        While on, the phone has no mobile network, Wi-Fi or VPN. Turning it off makes the phone search for a network;
        Wi-Fi and VPN do not come back by themselves.
        """
        self._flip_airplane_mode()
        return self._switched("Airplane Mode", self._phone.airplane_mode)

    @tool("read")
    def check_sim_status(self) -> str:
        """Show whether your SIM card works, is missing, or waits for a PIN or PUK code."""
        return _SIM_TEXT[sim_status(self._phone)]

    @tool("write")
    def reseat_sim_card(self) -> str:
        """Take the SIM card out and put it back in properly; the phone then searches for a network.

        Mends a card that is not detected. A PIN or PUK lock stays.
        """
        self._phone.sim_card_missing = False
        self.simulate_network_search()
        return self._with_status_bar("SIM card re-seated successfully.")

    @tool("write")
    def toggle_data(self) -> str:
        """Flip the mobile data switch: on if it is off, off if it is on. Calls do not depend on it."""
        self._phone.data_enabled = not self._phone.data_enabled
        self.simulate_network_search()
        return self._switched("Mobile Data", self._phone.data_enabled)

    @tool("write")
    def toggle_roaming(self) -> str:
        """Flip data roaming in your phone's settings: on if it is off, off if it is on.

        Abroad, mobile data needs it on, and also that your carrier allows roaming on your line.
        """
        self._phone.roaming_enabled = not self._phone.roaming_enabled
        self.simulate_network_search()
        return self._switched("Data Roaming", self._phone.roaming_enabled)

    @tool("read")
    def check_data_restriction_status(self) -> str:
        """Show whether data saver is holding back your mobile data."""
        if self._phone.data_saver_mode:
            return "Data Saver mode is ON (limits data usage)."
        return "Data Saver mode is OFF."

    @tool("write")
    def toggle_data_saver_mode(self) -> str:
        """Flip data saver: on if it is off, off if it is on. While on, mobile data is slower."""
        self._phone.data_saver_mode = not self._phone.data_saver_mode
        return self._switched("Data Saver Mode", self._phone.data_saver_mode)

    @tool("read")
    def check_apn_settings(self) -> str:
        """Show the name of your phone's access point and the MMSC address that picture messages go through."""
        settings = self._phone.active_apn_settings
        return (
            f"Current APN Name: {settings.apn_name}\n"
            f"MMSC URL (for picture messages): {settings.mmsc_url or 'Not Set'}\n"
            "(These are technical settings, usually best left unchanged.)"
        )

    @tool("write")
    def set_apn_settings(self, apn_settings: APNSettings | dict[str, Any]) -> str:
        """Replace your phone's access point settings, effective at once, and search for a network.

        Args:
            apn_settings: The new settings. Whatever you leave out goes back to its default, so `{}` restores all.
        """
        try:
            settings = APNSettings.model_validate(apn_settings)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(["apn_settings", *map(str, first["loc"])])
            raise ToolError(f"Invalid APN settings: {place}: {first['msg']}") from None
        self._phone.active_apn_settings = settings
        self.simulate_network_search()
        return self._with_status_bar(f"APN settings set to: {settings.apn_name}")

    @tool("write")
    def reset_apn_settings(self) -> str:
        """Mark your access point settings for a reset; they become the default ones when you reboot the phone."""
        self._phone.active_apn_settings.reset_at_reboot = True
        self.simulate_network_search()
        return self._with_status_bar("APN settings will reset at reboot.")

    @tool("read")
    def check_wifi_status(self) -> str:
        """Show whether Wi-Fi is on, which Wi-Fi network you are connected to, and how strong it is."""
        phone = self._phone
        if not phone.wifi_enabled:
            return "Wi-Fi is turned OFF."
        if phone.wifi_connected:
            return f"Wi-Fi is ON and connected to '{phone.wifi_ssid}'. Signal strength: {phone.wifi_signal_strength}."
        return "Wi-Fi is ON but not connected to any network."

    @tool("write")
    def toggle_wifi(self) -> str:
        """Flip Wi-Fi: on if it is off, off if it is on. It cannot be changed in airplane mode."""
        phone = self._phone
        if phone.airplane_mode:
            return self._with_status_bar("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        phone.wifi_enabled = not phone.wifi_enabled
        if not phone.wifi_enabled:
            self._leave_wifi()
        return self._switched("Wi-Fi", phone.wifi_enabled)

    @tool("read")
    def check_wifi_calling_status(self) -> str:
        """Show whether your phone makes calls over Wi-Fi."""
        return f"Wi-Fi Calling is currently turned {_on_off(self._phone.wifi_calling_enabled)}."

    @tool("write")
    def toggle_wifi_calling(self) -> str:
        """Flip Wi-Fi calling: on if it is off, off if it is on. It can get in the way of picture messages."""
        self._phone.wifi_calling_enabled = not self._phone.wifi_calling_enabled
        return self._switched("Wi-Fi Calling", self._phone.wifi_calling_enabled)

    @tool("read")
    def check_vpn_status(self) -> str:
        """Show whether a VPN is connected and, if so, its server, its protocol and how well the server performs."""
        phone, details = self._phone, self._phone.vpn_details
        if phone.vpn_connected and details:
            performance = details.server_performance
            # The reference shows a Python dict here; the last value is the repr of an enum's member.
            return (
                f"VPN is ON and connected. Details: {{'server_address': {details.server_address!r}, "
                f"'protocol': {details.protocol!r}, "
                f"'server_performance': <PerformanceLevel.{performance.upper()}: {performance!r}>}}"
            )
        if phone.vpn_connected:
            return "VPN is ON and connected (no specific details available)."
        if phone.vpn_enabled_setting:
            return "VPN is turned ON in settings, but currently not connected."
        return "VPN is turned OFF."

    @tool("write")
    def connect_vpn(self) -> str:
        """Connect the VPN that is set up on your phone. Your data then goes through its server."""
        if self._phone.vpn_connected:
            return "VPN already connected."
        self._connect_vpn()
        return self._with_status_bar("VPN connected successfully.")

    @tool("write")
    def disconnect_vpn(self) -> str:
        """End the VPN connection, so that your data takes the direct way. A slow VPN server slows everything."""
        if not self._phone.vpn_connected:
            return self._with_status_bar("No active VPN connection to disconnect.")
        self._disconnect_vpn()
        return self._with_status_bar("VPN disconnected successfully.")

    @tool("read")
    def check_installed_apps(self) -> str:
        """List the apps on your phone, by the names that the other app tools take."""
        return f"The following apps are installed on the phone: {', '.join(self._phone.app_statuses)}"

    @tool("read")
    def check_app_status(self, app_name: str) -> str:
        """Show one app with the permissions that it has, one on each line.

        Args:
            app_name: The app as listed by `check_installed_apps`, such as `messaging`.
        """
        granted = self._granted(app_name)
        if granted is None:
            return f"App '{app_name}' not found on this phone."
        if not granted:
            return f"Status for App: {app_name}\n - Permissions: None granted."
        return "\n   - ".join([f"Status for App: {app_name}\n - Permissions Granted:", *granted])

    @tool("read")
    def check_app_permissions(self, app_name: str) -> str:
        """Show what an app is allowed to use, of `sms`, `storage`, `phone` and `network`.

        Args:
            app_name: The app as listed by `check_installed_apps`, such as `messaging`.
        """
        granted = self._granted(app_name)
        if granted is None:
            return f"App '{app_name}' not found on this phone."
        if not granted:
            return f"App '{app_name}' currently has no permissions granted."
        return f"App '{app_name}' has permission for: {', '.join(granted)}."

    @tool("write")
    def grant_app_permission(self, app_name: str, permission: str) -> str:
        """Allow an app to use something. The messaging app, for one, needs both sms and storage for MMS.

        Args:
            app_name: The app as listed by `check_installed_apps`, such as `messaging`.
            permission: One of `sms`, `storage`, `phone`, `network`.
        """
        permission = permission.lower()
        if self._app(app_name) is None:
            return self._with_status_bar(f"Error. App '{app_name}' not found. Cannot grant permission.")
        if not self._set_permission(app_name, permission, granted=True):
            return self._with_status_bar(
                f"Error. Permission '{permission}' not tracked for app '{app_name}', "
                f"available permissions: {list(AppPermissions.model_fields)}"
            )
        return self._with_status_bar(f"Success. Permission '{permission}' granted to app '{app_name}'.")

    @tool("read")
    def can_send_mms(self) -> str:
        """Find out whether your messaging app could send a picture message right now."""
        works = mms_works(self._phone, self._around)
        return f"Your messaging app {'can' if works else 'cannot'} send MMS messages."

    @tool("write")
    def reboot_device(self) -> str:
        """Switch your phone off and on again.

        It then searches for a network, and carries out a reset of the access point settings that you asked for. All
        other settings stay as they are.
        """
        steps = ["Restarting network services..."]
        if self._phone.active_apn_settings.reset_at_reboot:
            self._phone.active_apn_settings = APNSettings()
            steps.insert(0, "Resetting APN settings...")
        self.simulate_network_search()
        return self._with_status_bar("\n".join(steps))

    @tool("read")
    def check_payment_request(self) -> str:
        """See whether your carrier asks you to pay a bill, which one, and how much in USD."""
        request = self._around.payment_request
        if request is None:
            return "No payment request has been made."
        return f"You have a payment request for bill {request.bill_id} of {request.amount_due} USD."

    @tool("write")
    def make_payment(self) -> str:
        """Pay the bill that your carrier's open payment request is about, in full."""
        request = self._around.payment_request
        if request is None:
            return "You do not have a payment request."
        request.paid = True
        return f"Payment of {request.amount_due} USD has been made for bill {request.bill_id}."

    def _with_status_bar(self, text: str) -> str:
        return f"{text}\nStatus Bar: {status_bar(self._phone)}"

    def _switched(self, switch: str, on: bool) -> str:
        return self._with_status_bar(f"{switch} is now {_on_off(on)}.")

    def _granted(self, app_name: str) -> list[str] | None:
        """Return the app's permissions, in a fixed order; None if it is not installed."""
        app = self._app(app_name)
        return None if app is None else [name for name, granted in app.permissions if granted]


def _on_off(on: bool) -> str:
    return "ON" if on else "OFF"


def _yes_no(yes: bool) -> str:
    return "Yes" if yes else "No"
