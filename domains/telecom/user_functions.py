"""Functions of the phone that tasks call: initialization actions and assertions; the user's tools build on them."""

from typing import Literal, get_args

from pytest_tau.environment import ToolError, Toolkit

from .phone import data_works, measure_speed, mms_works, search_network
from .user_models import App, AppPermissions, Connection, Performance, Phone, Surroundings, TelecomUserDB, VPNDetails


class PhoneFunctions(Toolkit[TelecomUserDB]):
    """Initialization actions and assertions on the user's side. Source: the reference's telecom domain."""

    def __init__(self, db: TelecomUserDB) -> None:
        """Connect the phone's database with a VPN that works well."""
        super().__init__(db)
        # Not part of the database. Both are replaced and never changed, so that a copy of the toolkit has its own.
        # Once the VPN that the phone connects to is broken, it stays so after a reconnect.
        self._vpn: Performance = "excellent"
        self._on_own_vpn = False

    def set_user_info(self, name: str, phone_number: str) -> None:
        """Set the user's name and number; the phone number links the phone to a line of the carrier's.

        Raises:
            ToolError: Not two texts; nothing is changed.
        """
        if not (isinstance(name, str) and isinstance(phone_number, str) and phone_number):
            raise ToolError(f"Name and phone number must be text, got {name!r} and {phone_number!r}")
        self._around.name, self._around.phone_number = name, phone_number

    def set_user_location(self, abroad: bool) -> None:
        """Put the user at home or abroad."""
        self._around.is_abroad = abroad

    def simulate_network_search(self) -> None:
        """Search for a network with the phone."""
        phone, reception = self._phone, search_network(self._phone, self._around)
        # Almost every function searches, and setting a field takes longer than to see that nothing has changed.
        if phone.network_connection_status != reception.connection:
            phone.network_connection_status = reception.connection
        if phone.network_technology_connected != reception.technology:
            phone.network_technology_connected = reception.technology
        if phone.network_signal_strength != reception.signal:
            phone.network_signal_strength = reception.signal

    def turn_airplane_mode_on(self) -> None:
        """Turn airplane mode on, by the switch that the user has."""
        self._switch_airplane_mode_to(True)

    def turn_airplane_mode_off(self) -> None:
        """Turn airplane mode off, by the switch that the user has; if it is off, it goes on and off again."""
        self._switch_airplane_mode_to(False)

    def turn_roaming_on(self) -> None:
        """Turn the phone's data roaming on; the phone searches."""
        self._phone.roaming_enabled = True
        self.simulate_network_search()

    def turn_roaming_off(self) -> None:
        """Turn the phone's data roaming off; the phone searches."""
        self._phone.roaming_enabled = False
        self.simulate_network_search()

    def turn_data_saver_mode_on(self) -> None:
        """Turn data saver on."""
        self._phone.data_saver_mode = True

    def turn_data_saver_mode_off(self) -> None:
        """Turn data saver off."""
        self._phone.data_saver_mode = False

    def turn_data_on(self) -> None:
        """Turn mobile data on; unlike with the others, the phone does not search."""
        self._phone.data_enabled = True

    def turn_data_off(self) -> None:
        """Turn mobile data off; the phone searches."""
        self._phone.data_enabled = False
        self.simulate_network_search()

    def unseat_sim_card(self) -> None:
        """Take the SIM card out of its slot."""
        self._phone.sim_card_missing = True
        self.simulate_network_search()

    def lock_sim_card(self, mode: Literal["pin", "puk"]) -> None:
        """Lock the SIM card with a PIN or a PUK code.

        Raises:
            ToolError: Another mode.
        """
        if mode not in ("pin", "puk"):
            raise ToolError(f"A SIM card is locked by 'pin' or 'puk', got {mode!r}")
        self._phone.sim_card_status = "locked_pin" if mode == "pin" else "locked_puk"
        self.simulate_network_search()

    def break_apn_settings(self) -> None:
        """Spoil the access point's name, so that no network is found."""
        self._phone.active_apn_settings.apn_name = "broken"
        self.simulate_network_search()

    def break_apn_mms_setting(self) -> None:
        """Remove the address of the MMS centre."""
        self._phone.active_apn_settings.mmsc_url = None

    def set_wifi_calling(self, enabled: bool, mms_over_wifi: bool | None = None) -> None:
        """Set Wi-Fi calling, and whether MMS goes over it; None leaves that as it is."""
        self._phone.wifi_calling_enabled = enabled
        if mms_over_wifi is not None:
            self._phone.wifi_calling_mms_over_wifi = mms_over_wifi

    def break_vpn(self) -> None:
        """Connect the VPN, if it is not, and make its server slow; so is each later connection's."""
        if not self._phone.vpn_connected:
            self._connect_vpn()
        if self._phone.vpn_details is None:
            raise ToolError("The VPN has no details that could be broken")
        self._phone.vpn_details.server_performance = "poor"
        if self._on_own_vpn:
            self._vpn = "poor"

    def remove_app_permission(self, app_name: str, permission: str) -> None:
        """Withdraw a permission from an app.

        Raises:
            ToolError: No such app or permission.
        """
        if self._app(app_name) is None:
            raise ToolError(f"App '{app_name}' not found on this phone.")
        if not self._set_permission(app_name, permission.lower(), granted=False):
            raise ToolError(f"Permission '{permission}' not tracked for app '{app_name}'")

    def assert_airplane_mode_status(self, expected_status: bool) -> bool:
        """Return whether airplane mode is as expected."""
        return self._phone.airplane_mode == expected_status

    def assert_mobile_roaming_status(self, expected_status: bool) -> bool:
        """Return whether the phone's data roaming is as expected."""
        return self._phone.roaming_enabled == expected_status

    def assert_mobile_data_saver_mode_status(self, expected_status: bool) -> bool:
        """Return whether data saver is as expected."""
        return self._phone.data_saver_mode == expected_status

    def assert_mobile_data_usage_exceeded(self, expected_status: bool) -> bool:
        """Return whether it is as expected that the line's data is used up."""
        return self._around.mobile_data_usage_exceeded == expected_status

    def assert_can_send_mms(self, expected_status: bool) -> bool:
        """Return whether the phone's ability to send an MMS is as expected."""
        return mms_works(self._phone, self._around) == expected_status

    def assert_mobile_data_status(self, expected_status: bool) -> bool:
        """Return whether mobile data works as expected; the switch is only one part of it."""
        return data_works(self._phone, self._around) == expected_status

    def assert_service_status(self, expected_status: Connection) -> bool:
        """Return whether the phone's connection is in this state.

        Raises:
            ToolError: No such state.
        """
        if expected_status not in get_args(Connection):
            raise ToolError(f"'{expected_status}' is not a connection status")
        return self._phone.network_connection_status == expected_status

    def assert_internet_speed(self, expected_speed: float, expected_desc: str | None = None) -> bool:
        """Return whether mobile data has at least this speed, in Mbps, and this label; letter case does not matter."""
        speed = measure_speed(self._phone, self._around)
        labelled = expected_desc is None or speed.label.lower() == expected_desc.lower()
        return (speed.mbps or 0.0) >= expected_speed and labelled

    def assert_internet_not_excellent(self) -> bool:
        """Return whether mobile data is anything but excellent."""
        return measure_speed(self._phone, self._around).label != "Excellent"

    @property
    def _phone(self) -> Phone:
        return self.db.device

    @property
    def _around(self) -> Surroundings:
        return self.db.surroundings

    def _app(self, name: str) -> App | None:
        return self._phone.app_statuses.get(name)

    def _set_permission(self, app_name: str, permission: str, *, granted: bool) -> bool:
        """Set a permission of an installed app; return False if apps have no such permission."""
        if permission not in AppPermissions.model_fields:
            return False
        setattr(self._phone.app_statuses[app_name].permissions, permission, granted)
        return True

    def _connect_vpn(self) -> None:
        self._phone.vpn_connected = self._on_own_vpn = True
        self._phone.vpn_details = VPNDetails(
            server_address="192.168.1.1", protocol="OpenVPN", server_performance=self._vpn
        )

    def _disconnect_vpn(self) -> None:
        self._phone.vpn_connected = self._on_own_vpn = False
        self._phone.vpn_details = None

    def _leave_wifi(self) -> None:
        self._phone.wifi_connected = False
        self._phone.wifi_ssid = None
        self._phone.wifi_signal_strength = "none"

    def _flip_airplane_mode(self) -> None:
        phone = self._phone
        phone.airplane_mode = not phone.airplane_mode
        if phone.airplane_mode:
            self._disconnect_vpn()
        if phone.airplane_mode or phone.wifi_enabled:
            self._leave_wifi()
        self.simulate_network_search()

    def _switch_airplane_mode_to(self, on: bool) -> None:
        self._flip_airplane_mode()
        if self._phone.airplane_mode != on:
            self._flip_airplane_mode()
