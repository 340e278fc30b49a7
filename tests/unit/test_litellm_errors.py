from __future__ import annotations

import time
import warnings
from email.utils import formatdate

import httpx
import openai
import pytest

from pytest_tau.chat import ChatRequest
from pytest_tau.chat.retries import RetryPolicy
from pytest_tau.errors import PASSING_FAULTS, ModelError
from pytest_tau.integrations.litellm.client import load
from pytest_tau.integrations.litellm.errors import to_model_error

REQUEST = ChatRequest(model="openai/scripted", messages=[], args={"extra_headers": {"X-Auth": "Token tau-secret-1234"}})
SENT = httpx.Request("POST", "https://api.example.org/v1/chat/completions")


def model_error(error: BaseException) -> ModelError:
    return to_model_error(error, REQUEST, 5.0)


def refusal(status: int, headers: dict[str, str] | None = None, body: object = None) -> openai.APIStatusError:
    answer = httpx.Response(status, headers={"date": "today", **(headers or {})}, request=SENT)
    return openai.APIStatusError("refused", response=answer, body=body)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": "-1"}, 0.0),
        ({"Retry-After": formatdate(time.time() - 60, usegmt=True)}, 0.0),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_time_that_a_server_asks_for_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert model_error(refusal(429, headers)).retry_after == seconds


def test_the_time_may_be_a_date() -> None:
    asked = model_error(refusal(429, {"Retry-After": formatdate(time.time() + 3600, usegmt=True)})).retry_after
    assert asked is not None
    assert 3000 < asked <= 3600


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "bad_request"),
        (401, "authentication"),
        (402, "quota"),
        (403, "authentication"),
        (404, "unknown_model"),
        (408, "timeout"),
        (409, "unavailable"),
        (413, "bad_request"),
        (422, "bad_request"),
        (429, "rate_limit"),
        (500, "unavailable"),
        (502, "unavailable"),
        (503, "overloaded"),
        (504, "unavailable"),
        (529, "overloaded"),
        (200, "bad_answer"),
    ],
)
def test_what_the_server_says_decides(status: int, kind: str) -> None:
    assert model_error(refusal(status)).kind == kind


def test_litellm_errors_are_mapped_to_their_kind() -> None:
    litellm = load()
    assert (
        model_error(litellm.AuthenticationError("The api_key must be set", "openai", "scripted")).kind
        == "authentication"
    )
    assert model_error(litellm.BadRequestError("no such argument", "scripted", "openai")).kind == "bad_request"
    assert model_error(litellm.BadRequestError("LLM Provider NOT provided.", "scripted", "")).kind == "unknown_model"
    assert model_error(litellm.RateLimitError("slow", "openai", "scripted")).kind == "rate_limit"
    assert model_error(litellm.Timeout("slow", "scripted", "openai")).kind == "timeout"
    assert model_error(litellm.APIConnectionError("KeyError: 'choices'", "openai", "scripted")).kind == "bad_answer"


def test_what_the_network_does_may_pass() -> None:
    assert model_error(httpx.ReadError("closed")).kind == "unavailable"
    lost = openai.APIConnectionError(request=SENT)
    lost.__cause__ = ConnectionResetError(104, "Connection reset by peer")
    assert model_error(lost).kind == "unavailable"
    assert str(model_error(lost)).endswith("reported: [Errno 104] Connection reset by peer")


def test_errors_without_an_answer_name_the_proxy_of_the_environment(monkeypatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    error = to_model_error(ConnectionError("refused"), REQUEST, 1.0)
    assert str(error).endswith("reported: refused; HTTPS_PROXY names the proxy http://proxy.invalid:3128")


def test_what_is_missing_on_this_machine_will_not_pass() -> None:
    error = model_error(ModuleNotFoundError("No module named 'boto3'"))
    assert (error.kind, error.passing) == ("bad_request", False)
    assert "reported: No module named 'boto3'" in str(error)


def test_a_ring_of_exceptions_ends() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert "reported: first" in str(model_error(first))


def test_the_first_line_says_what_happened_and_what_to_do_and_the_second_what_was_reported() -> None:
    message = "Invalid value\nfor 'temperature' " + "x" * 1000
    first, second = str(model_error(refusal(400, body={"message": message}))).splitlines()
    assert first == "openai/scripted: the provider refuses the call; check that the model accepts these arguments"
    assert second.startswith("reported: Invalid value for 'temperature' xxx")
    assert second.endswith("x …")
    assert len(second) < 330


def test_headers_of_the_call_are_masked_in_what_is_reported() -> None:
    text = str(model_error(refusal(400, body={"message": "bad header 'Token tau-secret-1234' (tau-secret-1234)"})))
    assert "reported: bad header '***' (***)" in text


def test_waits_grow_up_to_the_longest_and_obey_the_server_within_it() -> None:
    patience = RetryPolicy(attempts=5, first_wait=1.0, longest_wait=10.0)
    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 10.0), (5000, 10.0)):
        for _ in range(20):
            assert longest / 2 <= patience.wait(attempt, None) <= longest
    assert patience.wait(1, 5.0) == 5.0
    assert patience.wait(1, 3600.0) == 10.0
    assert len({patience.wait(3, None) for _ in range(20)}) > 10


def test_a_look_at_the_environment_that_pytest_changes_is_tried_again() -> None:
    found = model_error(KeyError("PYTEST_CURRENT_TEST"))
    assert (found.kind, found.kind in PASSING_FAULTS) == ("unavailable", True)
    assert model_error(KeyError("choices")).kind not in PASSING_FAULTS


def test_a_warning_that_was_raised_in_a_call_is_not_the_provider_s_refusal() -> None:
    wrapped = ValueError("the connection failed")
    wrapped.__cause__ = UserWarning("Items 'x' on TypedDict class 'Y' are using the `ReadOnly` qualifier.")
    assert {model_error(error).kind for error in (wrapped, wrapped.__cause__)} == {"unavailable"}


def test_warnings_of_litellm_are_ignored_before_the_filters_of_a_later_test() -> None:
    with warnings.catch_warnings():
        load()
        warnings.simplefilter("error")
        load()
        warnings.warn("Items 'x' on TypedDict class 'Y' are using the `ReadOnly` qualifier.", stacklevel=1)
        count = len(warnings.filters)
        load()
        assert len(warnings.filters) == count
