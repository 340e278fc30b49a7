"""The telecom domain: its tools, its phone, and what goes over between the two sides.

One long file, because everything here works on the same small databases.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_tau.environment import Environment, ToolError
from pytest_tau.models import ToolMessage
from pytest_tau_domains.telecom import domain, workflow
from pytest_tau_domains.telecom.models import TelecomDB
from pytest_tau_domains.telecom.sync import sync
from pytest_tau_domains.telecom.tools import TelecomTools
from pytest_tau_domains.telecom.user_models import TelecomUserDB
from pytest_tau_domains.telecom.user_tools import TelecomUserTools

PHONE = "555-000-0001"
ME = {"customer_id": "C1", "line_id": "L1"}
STRANGER = {"customer_id": "C2", "line_id": "L1"}


def bill(bill_id: str, status: str, month: int) -> dict[str, Any]:
    """A bill of C1 over 30 USD."""
    day = f"2025-{month:02}-0"
    period = {"period_start": day + "1", "period_end": day + "9", "issue_date": day + "5", "due_date": day + "7"}
    return {"bill_id": bill_id, "customer_id": "C1", "total_due": 30.0, "status": status, **period}


def agent_data() -> dict[str, Any]:
    """C1 has two lines and an overdue bill; C2 has nothing."""
    person = {"date_of_birth": "1990-01-02", "email": "x@example.com", "phone_number": "555-999-9999"}
    person["address"] = {"street": "1 Elm St", "city": "Oslo", "state": "TX", "zip_code": "00001"}  # type: ignore[assignment]
    prices = {"data_limit_gb": 10, "price_per_month": 30, "data_refueling_price_per_gb": 2.5}
    return {
        "plans": [{"plan_id": "P1", "name": "Small", **prices}],
        "customers": [
            {
                "customer_id": "C1",
                "full_name": "Ada Berg",
                **person,
                "line_ids": ["L1", "L2"],
                "bill_ids": ["B1", "B2"],
                "created_at": "2024-05-06T07:08:09",
            },
            {"customer_id": "C2", "full_name": "Bo Dahl", **person, "phone_number": "555-000-0009"},
        ],
        "lines": [
            {"line_id": "L1", "phone_number": PHONE, "status": "Active", "plan_id": "P1", "data_used_gb": 4},
            {"line_id": "L2", "phone_number": "555-000-0002", "plan_id": "P1", "contract_end_date": "2026-01-31"},
        ],
        "bills": [bill("B1", "Overdue", 1), bill("B2", "Paid", 2)],
        "devices": [{"device_id": "D1", "device_type": "phone", "model": "Brick", "is_esim_capable": False}],
    }


def make_environment(*, user: str | None = PHONE, **phone: Any) -> Environment:
    """An environment over the small databases, with these settings of the phone."""
    user_data = {"device": phone, "surroundings": {"phone_number": user}}
    environment = Environment(
        domain_name="telecom",
        policy="",
        agent=TelecomTools(TelecomDB.model_validate(agent_data())),
        user=TelecomUserTools(TelecomUserDB.model_validate(user_data)),
        sync=sync,
    )
    environment.sync()
    return environment


@pytest.fixture
def env() -> Environment:
    return make_environment()


def say(env: Environment, name: str, **arguments: Any) -> str:
    """The user's call must succeed."""
    return _succeed(env.call(name, arguments, "user"))


def ask(env: Environment, name: str, **arguments: Any) -> str:
    """The agent's call must succeed."""
    return _succeed(env.call(name, arguments))


def _succeed(message: ToolMessage) -> str:
    assert not message.error, message.content
    assert message.content is not None
    return message.content


def phone_of(env: Environment) -> Any:
    return env.user_db.device  # type: ignore[union-attr]


def around(env: Environment) -> Any:
    return env.user_db.surroundings  # type: ignore[union-attr]


class TestAgentTools:
    @pytest.mark.parametrize(
        ("name", "arguments", "text"),
        [
            ("get_customer_by_phone", {"phone_number": "1"}, "Customer with phone number 1 not found"),
            ("get_customer_by_id", {"customer_id": "C9"}, "Customer with ID C9 not found"),
            ("get_customer_by_id", {"customer_id": ["C1"]}, "Customer with ID ['C1'] not found"),
            ("get_details_by_id", {"id": "L9"}, "Line with ID L9 not found"),
            ("get_details_by_id", {"id": "l1"}, "Unknown ID format or type: l1"),
            ("get_details_by_id", {"id": ""}, "Unknown ID format or type: "),
            ("suspend_line", {**STRANGER, "reason": ""}, "Line L1 not found for customer C2"),
            ("suspend_line", {**ME, "line_id": "L2", "reason": ""}, "Line must be active to suspend"),
            ("resume_line", ME, "Line must be suspended to resume"),
            ("get_bills_for_customer", {"customer_id": "C9"}, "Customer with ID C9 not found"),
            ("send_payment_request", {"customer_id": "C2", "bill_id": "B1"}, "Bill B1 not found for customer C2"),
            ("get_data_usage", STRANGER, "Line L1 not found for customer C2"),
            ("refuel_data", {**ME, "gb_amount": 0}, "Refuel amount must be positive"),
        ],
    )
    def test_refusals_change_nothing(self, env: Environment, name: str, arguments: dict[str, Any], text: str) -> None:
        before = env.dump()
        reply = env.call(name, arguments)
        assert (reply.error, reply.content) == (True, f"Error: {text}")
        assert env.dump() == before

    @pytest.mark.parametrize("number", [PHONE, "555-000-0002", "555-999-9999"])
    def test_a_customer_is_found_by_any_number(self, env: Environment, number: str) -> None:
        assert json.loads(ask(env, "get_customer_by_phone", phone_number=number))["customer_id"] == "C1"

    def test_a_name_is_found_in_any_case_but_only_with_the_birthday(self, env: Environment) -> None:
        found = json.loads(ask(env, "get_customer_by_name", full_name="ADA berg", dob="1990-01-02"))
        assert [customer["customer_id"] for customer in found] == ["C1"]
        assert ask(env, "get_customer_by_name", full_name="Ada Berg", dob="1990-01-03") == "[]"

    @pytest.mark.parametrize("record_id", ["L1", "D1", "B1", "C1", "P1"])
    def test_details_of_every_kind(self, env: Environment, record_id: str) -> None:
        assert next(iter(json.loads(ask(env, "get_details_by_id", id=record_id)).values())) == record_id

    def test_records_write_a_time_with_a_space_and_keep_nulls(self, env: Environment) -> None:
        record = json.loads(ask(env, "get_customer_by_id", customer_id="C1"))
        assert record["created_at"] == "2024-05-06 07:08:09"
        assert record["last_extension_date"] is None

    def test_numbers_of_the_data_usage_are_text(self, env: Environment) -> None:
        assert json.loads(ask(env, "get_data_usage", **ME)) == {
            "line_id": "L1",
            "data_used_gb": "4.0",
            "data_limit_gb": "10.0",
            "data_refueling_gb": "0.0",
            "cycle_end_date": "2025-02-28",
        }

    @pytest.mark.parametrize(("limit", "expected"), [(12, ["B2", "B1"]), (1, ["B2"]), (0, []), (-1, ["B2"])])
    def test_bills_come_newest_first_and_limited(self, env: Environment, limit: int, expected: list[str]) -> None:
        bills = json.loads(ask(env, "get_bills_for_customer", customer_id="C1", limit=limit))
        assert [bill["bill_id"] for bill in bills] == expected

    def test_suspending_and_resuming(self, env: Environment) -> None:
        suspended = json.loads(ask(env, "suspend_line", **ME, reason="lost"))
        assert suspended["message"] == "Line suspended successfully. $5/month holding fee will apply."
        assert suspended["line"]["suspension_start_date"] == "2025-02-25"
        resumed = json.loads(ask(env, "resume_line", **ME))
        assert (resumed["line"]["status"], resumed["line"]["suspension_start_date"]) == ("Active", None)

    def test_a_pending_line_can_be_resumed(self, env: Environment) -> None:
        assert json.loads(ask(env, "resume_line", customer_id="C1", line_id="L2"))["line"]["status"] == "Active"

    def test_roaming_that_is_already_so_is_no_error(self, env: Environment) -> None:
        assert ask(env, "disable_roaming", **ME) == "Roaming was already disabled"
        assert ask(env, "enable_roaming", **ME) == "Roaming enabled successfully"
        assert ask(env, "enable_roaming", **ME) == "Roaming was already enabled"
        assert ask(env, "disable_roaming", **ME) == "Roaming disabled successfully"

    def test_refuelling_opens_one_draft_bill_and_then_uses_it(self, env: Environment) -> None:
        first = json.loads(ask(env, "refuel_data", **ME, gb_amount=2))
        assert first == {
            "message": "Successfully added 2 GB of data for line L1 for $5.00",
            "new_data_refueling_gb": "2.0",
            "charge": "5.0",
        }
        ask(env, "refuel_data", **ME, gb_amount=0.5)
        draft = env.agent_db.first_bill(env.agent_db.customer("C1"), "Draft")  # type: ignore[attr-defined]
        assert [item.description for item in draft.line_items] == [
            "Data refueling: 2 GB at $2.5/GB",
            "Data refueling: 0.5 GB at $2.5/GB",
        ]
        assert draft.total_due == 6.25
        assert env.agent_db.customer("C1").bill_ids == ["B1", "B2", draft.bill_id]  # type: ignore[attr-defined]

    def test_the_draft_bills_id_is_the_same_in_every_run(self) -> None:
        states = []
        for _ in range(2):
            env = make_environment()
            ask(env, "refuel_data", **ME, gb_amount=1)
            states.append(env.dump())
        assert states[0] == states[1]
        assert states[0]["agent"]["bills"][-1]["bill_id"].startswith("B")
        assert len(states[0]["agent"]["bills"][-1]["bill_id"]) == 9

    def test_one_payment_request_at_a_time_and_for_any_bill(self, env: Environment) -> None:
        assert ask(env, "send_payment_request", customer_id="C1", bill_id="B2").endswith("for bill B2")
        second = env.call("send_payment_request", {"customer_id": "C1", "bill_id": "B1"})
        assert second.content == "Error: A bill is already awaiting payment for this customer"


class TestPhone:
    @pytest.mark.parametrize(
        ("state", "text"),
        [
            ({}, "📶³ Good | 5G | 📱 Data Enabled | 🔋 80%"),
            ({"data_saver_mode": True}, "📶³ Good | 5G | 📱 Data Enabled | 🔽 Data Saver | 🔋 80%"),
            ({"data_enabled": False, "data_saver_mode": True}, "📶³ Good | 5G | 📵 Data Disabled | 🔋 80%"),
            (
                {"network_technology_connected": "none", "network_signal_strength": "none"},
                "📵 No Signal | 📵 Data Disabled | 🔋 80%",
            ),
            ({"airplane_mode": True, "vpn_connected": True}, "✈️ Airplane Mode | 🔒 VPN Connected | 🔋 80%"),
            (
                {"wifi_enabled": True, "wifi_connected": True, "wifi_ssid": "home", "network_signal_strength": "fair"},
                "📶² Fair | 5G | 📱 Data Enabled | 📡 Connected to home | 🔋 80%",
            ),
            (
                {"airplane_mode": True, "wifi_enabled": True, "wifi_connected": True, "battery_level": 5},
                "✈️ Airplane Mode | 📡 Enabled | 🔋 5%",
            ),
        ],
    )
    def test_status_bar(self, state: dict[str, Any], text: str) -> None:
        assert say(make_environment(**state), "check_status_bar") == f"Status Bar: {text}"

    @pytest.mark.parametrize(
        ("state", "text"),
        [
            ({"network_signal_strength": "excellent"}, "275.00 Mbps (Excellent)"),
            ({}, "220.00 Mbps (Excellent)"),
            ({"network_signal_strength": "fair"}, "137.50 Mbps (Excellent)"),
            ({"network_signal_strength": "poor"}, "55.00 Mbps (Good)"),
            ({"network_technology_connected": "4G"}, "44.00 Mbps (Good)"),
            ({"network_technology_connected": "3G", "network_signal_strength": "fair"}, "1.50 Mbps (Poor)"),
            ({"network_technology_connected": "2G", "network_signal_strength": "poor"}, "0.05 Mbps (Very Poor)"),
            ({"data_saver_mode": True}, "44.00 Mbps (Good)"),
            (
                {"vpn_connected": True, "vpn_details": {"server_performance": "poor"}},
                "22.00 Mbps (Fair)",
            ),
            (
                {"vpn_connected": True, "vpn_details": {"server_performance": "poor"}, "data_saver_mode": True},
                "4.40 Mbps (Poor)",
            ),
            ({"vpn_connected": True, "vpn_details": {"server_performance": "fair"}}, "220.00 Mbps (Excellent)"),
            ({"vpn_connected": True}, "220.00 Mbps (Excellent)"),
        ],
    )
    def test_speed(self, state: dict[str, Any], text: str) -> None:
        assert say(make_environment(**state), "run_speed_test").startswith(f"Speed Test Result: {text}. Connection is")

    @pytest.mark.parametrize(
        "state",
        [
            {"data_enabled": False},
            {"airplane_mode": True},
            {"network_signal_strength": "none"},
            {"network_connection_status": "no_service"},
        ],
    )
    def test_no_connection(self, state: dict[str, Any]) -> None:
        assert say(make_environment(**state), "run_speed_test") == "Speed test failed: No Connection."

    def test_abroad_needs_roaming_on_the_phone_and_on_the_line(self, env: Environment) -> None:
        env.run_function("user", "set_user_location", {"abroad": True})
        for on_phone, on_line, works in [(0, 0, False), (1, 0, False), (1, 1, True), (0, 1, False)]:
            phone_of(env).roaming_enabled = bool(on_phone)
            env.call("enable_roaming" if on_line else "disable_roaming", ME)
            assert env.run_function("user", "assert_mobile_data_status", {"expected_status": works})

    def test_used_up_data_stops_at_once_and_refuelling_brings_it_back(self, env: Environment) -> None:
        env.run_function("assistant", "set_data_usage", {**ME, "data_used_gb": 10.0})
        assert env.run_function("user", "assert_mobile_data_usage_exceeded", {"expected_status": True})
        assert say(env, "run_speed_test") == "Speed test failed: No Connection."
        ask(env, "refuel_data", **ME, gb_amount=0.1)
        assert env.run_function("user", "assert_mobile_data_status", {"expected_status": True})

    @pytest.mark.parametrize(
        ("mode", "found"),
        [
            ("4g_5g_preferred", "📶⁴ Excellent | 5G"),
            ("4g_only", "📶³ Good | 4G"),
            ("3g_only", "📶² Fair | 3G"),
            ("2g_only", "📶¹ Poor | 2G"),
        ],
    )
    def test_the_preference_decides_what_is_found(self, env: Environment, mode: str, found: str) -> None:
        told = say(env, "set_network_mode_preference", mode=mode)
        assert told == f"Preferred Network Mode set to: {mode}\nStatus Bar: {found} | 📱 Data Enabled | 🔋 80%"

    @pytest.mark.parametrize("coverage", [{"5G": "none", "4G": "fair"}, {"4G": "fair"}])
    def test_without_5g_the_phone_takes_4g(self, env: Environment, coverage: dict[str, str]) -> None:
        around(env).signal_strength = coverage
        env.run_function("user", "simulate_network_search", {})
        assert say(env, "check_status_bar") == "Status Bar: 📶² Fair | 4G | 📱 Data Enabled | 🔋 80%"

    @pytest.mark.parametrize(
        ("function", "arguments"),
        [
            ("unseat_sim_card", {}),
            ("lock_sim_card", {"mode": "puk"}),
            ("break_apn_settings", {}),
            ("turn_airplane_mode_on", {}),
        ],
    )
    def test_what_takes_the_service_away(self, env: Environment, function: str, arguments: dict[str, Any]) -> None:
        env.run_function("user", function, arguments)
        assert env.run_function("user", "assert_service_status", {"expected_status": "no_service"})

    def test_reseating_repairs_a_missing_card_but_no_lock(self, env: Environment) -> None:
        env.run_function("user", "unseat_sim_card", {})
        assert say(env, "check_sim_status") == "No SIM card detected in the phone."
        env.run_function("user", "lock_sim_card", {"mode": "pin"})
        say(env, "reseat_sim_card")
        assert say(env, "check_sim_status") == "The SIM card is locked with a PIN code."

    def test_suspension_shows_only_after_a_search(self, env: Environment) -> None:
        before = say(env, "check_status_bar")
        ask(env, "suspend_line", **ME, reason="lost")
        assert around(env).line_active is False
        assert say(env, "check_status_bar") == before
        assert say(env, "reboot_device").endswith("📵 No Signal | 📵 Data Disabled | 🔋 80%")
        ask(env, "resume_line", **ME)
        assert "No Signal" in say(env, "check_status_bar")
        assert "Excellent" in say(env, "toggle_roaming")

    def test_apn_reset_needs_a_reboot(self, env: Environment) -> None:
        env.run_function("user", "break_apn_settings", {})
        assert "No Signal" in say(env, "reset_apn_settings")
        assert "Current APN Name: broken" in say(env, "check_apn_settings")
        assert say(env, "reboot_device").startswith(
            "Resetting APN settings...\nRestarting network services...\nStatus Bar: 📶⁴ Excellent"
        )
        assert say(env, "reboot_device").startswith("Restarting network services...\n")

    def test_setting_the_apn_repairs_it_at_once_and_cancels_a_reset(self, env: Environment) -> None:
        env.run_function("user", "break_apn_settings", {})
        env.run_function("user", "break_apn_mms_setting", {})
        say(env, "reset_apn_settings")
        assert "MMSC URL (for picture messages): Not Set\n" in say(env, "check_apn_settings")
        assert say(env, "set_apn_settings", apn_settings={}).startswith("APN settings set to: internet\n")
        assert "Resetting" not in say(env, "reboot_device")
        assert say(env, "can_send_mms") == "Your messaging app can send MMS messages."

    @pytest.mark.parametrize("given", [None, 5, "internet", [], {"apn_name": "x"}, {"apn": "internet"}])
    def test_bad_apn_settings_leave_the_phone_as_it_is(self, env: Environment, given: Any) -> None:
        before = env.dump()
        reply = env.call("set_apn_settings", {"apn_settings": given}, "user")
        assert reply.error
        assert env.dump() == before

    @pytest.mark.parametrize("mode", [None, 4, ["4g_only"]])
    def test_a_mode_that_is_no_text_is_an_error(self, env: Environment, mode: Any) -> None:
        before = env.dump()
        assert env.call("set_network_mode_preference", {"mode": mode}, "user").error
        assert env.dump() == before

    @pytest.mark.parametrize(
        ("function", "arguments"),
        [
            ("set_wifi_calling", {"enabled": True, "mms_over_wifi": True}),
            ("break_apn_mms_setting", {}),
            ("remove_app_permission", {"app_name": "messaging", "permission": "SMS"}),
            ("remove_app_permission", {"app_name": "messaging", "permission": "storage"}),
            ("set_network_mode_preference", {"mode": "2g_only"}),
            ("turn_data_off", {}),
        ],
    )
    def test_what_takes_mms_away(self, env: Environment, function: str, arguments: dict[str, Any]) -> None:
        assert env.run_function("user", "assert_can_send_mms", {"expected_status": True})
        env.run_function("user", function, arguments)
        assert env.run_function("user", "assert_can_send_mms", {"expected_status": False})

    def test_wifi_calling_breaks_mms_again_when_turned_back_on(self, env: Environment) -> None:
        env.run_function("user", "set_wifi_calling", {"enabled": True, "mms_over_wifi": True})
        say(env, "toggle_wifi_calling")
        assert "can send" in say(env, "can_send_mms")
        say(env, "toggle_wifi_calling")
        assert "cannot send" in say(env, "can_send_mms")

    def test_a_broken_vpn_stays_so_in_its_environment_only(self, env: Environment) -> None:
        env.run_function("user", "break_vpn", {})
        say(env, "disconnect_vpn")
        assert env.run_function("user", "assert_internet_speed", {"expected_speed": 200, "expected_desc": "excellent"})
        say(env, "connect_vpn")
        assert "<PerformanceLevel.POOR: 'poor'>" in say(env, "check_vpn_status")
        assert env.run_function("user", "assert_internet_not_excellent", {})
        other = make_environment()
        say(other, "connect_vpn")
        assert say(other, "check_vpn_status") == (
            "VPN is ON and connected. Details: {'server_address': '192.168.1.1', 'protocol': 'OpenVPN', "
            "'server_performance': <PerformanceLevel.EXCELLENT: 'excellent'>}"
        )

    def test_airplane_mode_drops_wifi_and_vpn_for_good(self) -> None:
        env = make_environment(wifi_enabled=True, wifi_connected=True, wifi_ssid="home", wifi_signal_strength="good")
        say(env, "connect_vpn")
        assert say(env, "toggle_airplane_mode") == ("Airplane Mode is now ON.\nStatus Bar: ✈️ Airplane Mode | 🔋 80%")
        assert say(env, "toggle_airplane_mode").endswith("📶⁴ Excellent | 5G | 📱 Data Enabled | 🔋 80%")
        assert say(env, "check_wifi_status") == "Wi-Fi is ON but not connected to any network."
        assert say(env, "check_vpn_status") == "VPN is turned OFF."

    def test_turning_airplane_mode_off_twice_still_has_its_side_effects(self, env: Environment) -> None:
        say(env, "connect_vpn")
        env.run_function("user", "turn_airplane_mode_off", {})
        assert env.run_function("user", "assert_airplane_mode_status", {"expected_status": False})
        assert phone_of(env).vpn_connected is False

    def test_turning_data_on_does_not_search_and_turning_it_off_does(self, env: Environment) -> None:
        env.run_function("user", "turn_data_on", {})
        assert phone_of(env).network_signal_strength == "good"
        env.run_function("user", "turn_data_off", {})
        assert phone_of(env).network_signal_strength == "excellent"

    def test_network_status_lists_everything(self) -> None:
        env = make_environment(wifi_enabled=True, wifi_connected=True, wifi_ssid="home", sim_card_missing=True)
        assert say(env, "check_network_status").splitlines() == [
            "Airplane Mode: OFF",
            "SIM Card Status: missing",
            "Cellular Connection: connected",
            "Cellular Signal: good",
            "Cellular Network Type: 5G",
            "Mobile Data Enabled: Yes",
            "Data Roaming Enabled: No",
            "Wi-Fi Radio: ON",
            "Wi-Fi Connected: Yes",
            "Connected Wi-Fi Network: home",
        ]

    def test_apps_and_their_permissions(self, env: Environment) -> None:
        assert say(env, "check_installed_apps").endswith("on the phone: messaging, browser")
        assert say(env, "check_app_status", app_name="browser") == (
            "Status for App: browser\n - Permissions Granted:\n   - storage\n   - network"
        )
        assert say(env, "grant_app_permission", app_name="browser", permission="SMS").startswith(
            "Success. Permission 'sms' granted to app 'browser'.\nStatus Bar: "
        )
        for permission in ("sms", "storage", "network"):
            env.run_function("user", "remove_app_permission", {"app_name": "browser", "permission": permission})
        assert say(env, "check_app_status", app_name="browser").endswith("\n - Permissions: None granted.")
        assert say(env, "check_app_permissions", app_name="browser").endswith("has no permissions granted.")

    @pytest.mark.parametrize(
        ("name", "arguments", "text"),
        [
            ("set_network_mode_preference", {"mode": "6g"}, "Failed to set network mode: '6g' is not a valid option."),
            ("disconnect_vpn", {}, "No active VPN connection to disconnect."),
            ("make_payment", {}, "You do not have a payment request."),
            ("check_payment_request", {}, "No payment request has been made."),
            ("check_app_status", {"app_name": "x"}, "App 'x' not found on this phone."),
            ("check_app_permissions", {"app_name": "x"}, "App 'x' not found on this phone."),
            (
                "grant_app_permission",
                {"app_name": "x", "permission": "sms"},
                "Error. App 'x' not found. Cannot grant permission.",
            ),
            (
                "grant_app_permission",
                {"app_name": "browser", "permission": "x"},
                "Error. Permission 'x' not tracked for app 'browser', available permissions: "
                "['sms', 'storage', 'phone', 'network']",
            ),
        ],
    )
    def test_soft_failures_are_no_errors(
        self, env: Environment, name: str, arguments: dict[str, Any], text: str
    ) -> None:
        before = env.dump()
        assert say(env, name, **arguments).startswith(text)
        assert env.dump() == before

    def test_wifi_cannot_be_switched_in_airplane_mode(self) -> None:
        env = make_environment(airplane_mode=True)
        assert say(env, "toggle_wifi").startswith("Cannot change Wi-Fi settings while Airplane Mode is ON.\nStatus")
        assert phone_of(env).wifi_enabled is False

    def test_connecting_twice_shows_no_status_bar(self, env: Environment) -> None:
        say(env, "connect_vpn")
        assert say(env, "connect_vpn") == "VPN already connected."


class TestSync:
    def test_payment_goes_there_and_back(self, env: Environment) -> None:
        ask(env, "send_payment_request", customer_id="C1", bill_id="B1")
        assert say(env, "check_payment_request") == "You have a payment request for bill B1 of 30.0 USD."
        assert env.agent_db.bill("B1").status == "Awaiting Payment"  # type: ignore[attr-defined]
        assert say(env, "make_payment") == "Payment of 30.0 USD has been made for bill B1."
        assert env.agent_db.bill("B1").status == "Paid"  # type: ignore[attr-defined]
        assert around(env).payment_request is None
        assert env.run_function("assistant", "assert_no_overdue_bill", {"overdue_bill_id": "B1"})

    def test_an_unpaid_request_stays_as_it_was(self, env: Environment) -> None:
        ask(env, "send_payment_request", customer_id="C1", bill_id="B1")
        env.agent_db.bills["B1"].total_due = 99.0  # type: ignore[attr-defined]
        env.sync()
        assert around(env).payment_request.amount_due == 30.0

    def test_a_failing_sync_keeps_what_the_tool_changed(self, env: Environment) -> None:
        around(env).phone_number = "nobody's"
        reply = env.call("toggle_data", {}, "user")
        assert (reply.error, reply.content) == (True, "Error: Line with phone number nobody's not found")
        assert phone_of(env).data_enabled is False

    def test_a_phone_without_a_number_is_left_alone(self) -> None:
        env = make_environment(user=None)
        ask(env, "enable_roaming", **ME)
        ask(env, "suspend_line", **ME, reason="lost")
        assert (around(env).roaming_allowed, around(env).line_active) == (False, True)

    def test_nothing_is_copied_while_nothing_changes(self, env: Environment) -> None:
        for name in ("check_status_bar", "toggle_data", "check_payment_request"):
            say(env, name)
        tables = [getattr(env.agent_db, name) for name in TelecomDB.model_fields]
        assert not any(table.touched for table in tables)


class TestFunctions:
    def test_suspension_for_an_overdue_bill(self, env: Environment) -> None:
        say(env, "check_status_bar")
        arguments = {**ME, "new_bill_id": "B7", "contract_ended": True}
        with pytest.raises(ToolError, match="Customer already has an overdue bill"):
            env.run_function("assistant", "suspend_line_for_overdue_bill", arguments)
        env.agent_db.bills["B1"].status = "Paid"  # type: ignore[attr-defined]
        env.run_function("assistant", "suspend_line_for_overdue_bill", arguments)
        line = json.loads(ask(env, "get_details_by_id", id="L1"))
        assert (line["status"], line["contract_end_date"]) == ("Suspended", "2025-01-31")
        assert line["suspension_start_date"] == "2025-02-25"
        new = json.loads(ask(env, "get_details_by_id", id="B7"))
        assert (new["status"], new["total_due"], new["due_date"]) == ("Overdue", 30.0, "2025-01-15")
        assert env.run_function(
            "assistant", "assert_overdue_bill_exists", {"customer_id": "C1", "overdue_bill_id": "B7"}
        )
        assert not env.run_function("assistant", "assert_no_overdue_bill", {"overdue_bill_id": "B7"})
        with pytest.raises(ToolError, match="Line must be active to suspend for unpaid bill"):
            env.run_function("assistant", "suspend_line_for_overdue_bill", arguments)

    def test_assertions_on_the_agents_side(self, env: Environment) -> None:
        assert env.run_function("assistant", "assert_line_status", {**ME, "expected_status": "Active"})
        assert env.run_function("assistant", "assert_data_refueling_amount", {**ME, "expected_amount": 1e-9})
        assert env.run_function("assistant", "assert_no_overdue_bill", {"overdue_bill_id": "unknown"})
        assert env.run_function("assistant", "get_available_plan_ids", {}) == ["P1"]
        with pytest.raises(ToolError):
            env.run_function("assistant", "assert_overdue_bill_exists", {"customer_id": "C1", "overdue_bill_id": "B2"})

    def test_assertions_on_the_users_side(self, env: Environment) -> None:
        speed = {"expected_speed": 200, "expected_desc": "EXCELLENT"}
        assert env.run_function("user", "assert_internet_speed", speed)
        assert not env.run_function("user", "assert_internet_speed", {**speed, "expected_desc": "good"})
        assert not env.run_function("user", "assert_internet_speed", {"expected_speed": 221})
        env.run_function("user", "turn_data_off", {})
        assert env.run_function("user", "assert_internet_speed", {"expected_speed": 0})
        with pytest.raises(ToolError):
            env.run_function("user", "assert_service_status", {"expected_status": "fine"})

    @pytest.mark.parametrize(
        ("name", "arguments"),
        [
            ("set_user_info", {"name": "Ada", "phone_number": None}),
            ("set_user_info", {"name": "Ada", "phone_number": ""}),
            ("lock_sim_card", {"mode": "pim"}),
            ("remove_app_permission", {"app_name": "x", "permission": "sms"}),
            ("remove_app_permission", {"app_name": "browser", "permission": "x"}),
        ],
    )
    def test_mistakes_of_a_task_are_reported(self, env: Environment, name: str, arguments: dict[str, Any]) -> None:
        before = env.dump()
        with pytest.raises(ToolError):
            env.run_function("user", name, arguments)
        assert env.dump() == before


class TestDeclaration:
    def test_unknown_keys_are_rejected(self) -> None:
        with pytest.raises(ValidationError):
            TelecomDB.model_validate({**agent_data(), "shops": []})
        with pytest.raises(ValidationError):
            TelecomUserDB.model_validate({"device": {"colour": "red"}})

    def test_an_untouched_phone_has_the_references_digest(self) -> None:
        digest = "e1f3a8637388808221228ff3f87294444e6b64caf721f5eb243a85d0a9380b28"
        assert TelecomUserDB().digest() == digest

    def test_parameters_offer_their_choices(self, env: Environment) -> None:
        tools = {tool.name: tool for tool in env.tools("user")}
        mode = tools["set_network_mode_preference"].parameters["properties"]["mode"]
        assert mode["anyOf"] == [
            {"enum": ["4g_5g_preferred", "4g_only", "3g_only", "2g_only"], "type": "string"},
            {"type": "string"},
        ]
        settings_, anything = tools["set_apn_settings"].parameters["properties"]["apn_settings"]["anyOf"]
        assert settings_ == {"$ref": "#/$defs/APNSettings"}
        assert anything == {"additionalProperties": True, "type": "object"}

    def test_tools_of_both_sides_have_different_names(self) -> None:
        assert not TelecomTools.tool_infos.keys() & TelecomUserTools.tool_infos.keys()

    @pytest.mark.parametrize(
        ("spec", "solo", "policy", "files"),
        [
            (domain, False, None, ("main_policy", "tech_support_manual")),
            (domain, True, None, ("main_policy_solo", "tech_support_manual")),
            (domain, False, "workflow", ("main_policy", "tech_support_workflow")),
            (workflow, False, None, ("main_policy", "tech_support_workflow")),
            (workflow, True, None, ("main_policy_solo", "tech_support_workflow_solo")),
        ],
    )
    def test_policies(self, tmp_path: Path, spec: Any, solo: bool, policy: str | None, files: tuple[str, str]) -> None:
        folder = tmp_path / "domains" / "telecom"
        folder.mkdir(parents=True)
        (folder / "db.json").write_text(json.dumps(agent_data()))
        (folder / "user_db.json").write_text("{}")
        for name in files:
            (folder / f"{name}.md").write_text(f"text of {name}")
        main, tech_support = files
        assert spec.load(tmp_path).environment(solo=solo, policy=policy).policy == (
            f"<main_policy>\ntext of {main}\n</main_policy>\n"
            f"<tech_support_policy>\ntext of {tech_support}\n</tech_support_policy>"
        )

    def test_solo_agents_have_the_users_tools(self) -> None:
        env = make_environment()
        env.solo = True
        assert len(env.tools()) == 43
        assert ask(env, "check_sim_status") == "Your SIM card is active and working."
        assert env.call("check_sim_status", {}, "user").error
