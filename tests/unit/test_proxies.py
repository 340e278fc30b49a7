"""Proxies of the environment: this machine is exempt, and an error names the proxy without its password."""

import os

import pytest

from pytest_tau.proxies import loopback_exemption, proxy_of, with_proxy

LOOPBACK = "127.0.0.1,localhost,::1"


@pytest.fixture(autouse=True)
def _without_proxies(monkeypatch):
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize(
    ("environ", "exemption"),
    [
        ({}, {}),
        ({"NO_PROXY": "a.example"}, {}),
        ({"HTTP_PROXY": ""}, {}),
        ({"HTTP_PROXY": "http://p:1"}, {"NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}),
        ({"all_proxy": "http://p:1"}, {"NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}),
        (
            {"https_proxy": "http://p:1", "no_proxy": "a.example, b.example"},
            dict.fromkeys(("NO_PROXY", "no_proxy"), f"a.example,b.example,{LOOPBACK}"),
        ),
        (
            {"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a", "no_proxy": "b"},
            {"NO_PROXY": f"a,{LOOPBACK}", "no_proxy": f"b,{LOOPBACK}"},
        ),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "*"}, {"no_proxy": "*"}),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": LOOPBACK, "no_proxy": LOOPBACK}, {}),
    ],
)
def test_loopback_is_exempt_where_a_proxy_is_set(environ, exemption):
    assert loopback_exemption(environ) == exemption


@pytest.mark.parametrize(
    ("variables", "url", "proxy"),
    [
        ({"HTTP_PROXY": "http://p:1"}, "http://models.invalid/v1", "http://p:1"),
        ({"HTTP_PROXY": "http://p:1"}, "https://models.invalid/v1", None),
        ({"ALL_PROXY": "http://p:1"}, "https://models.invalid/v1", "http://p:1"),
        ({"ALL_PROXY": "socks5://p:1"}, "https://models.invalid/v1", None),
        ({"HTTP_PROXY": "http://p:1", "NO_PROXY": "models.invalid"}, "http://models.invalid/v1", None),
        *(
            ({"HTTP_PROXY": "http://p:1"}, f"http://{host}:8000/v1", None)
            for host in ("127.0.0.1", "127.1.2.3", "localhost", "[::1]")
        ),
    ],
)
def test_addresses_of_this_machine_have_no_proxy(monkeypatch, variables, url, proxy):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(url) == proxy


def test_descriptions_of_a_proxy_leave_its_password_out(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://kim:secret@p:1")
    assert with_proxy("refused", "https://models.invalid/v1") == "refused; HTTPS_PROXY names the proxy http://p:1"
    assert with_proxy("", "https://localhost/v1") == ""
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("ALL_PROXY", "socks5://user:secret@p:2")
    assert with_proxy("", "https://models.invalid/v1") == "ALL_PROXY names the proxy socks5://p:2"
