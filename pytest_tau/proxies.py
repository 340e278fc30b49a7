"""The HTTP proxies that environment variables name. A proxy cannot reach the servers of this machine."""

from __future__ import annotations

import importlib
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .variables import environment_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The hosts of loopback by the names that addresses have.
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
#: Clients read either spelling first.
_EXEMPTING = ("NO_PROXY", "no_proxy")
_BY_SCHEME = {"http": ("http", "all"), "https": ("https", "all")}


def loopback_exemption(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that exempt loopback from the proxies of an environment; empty if it names no proxy.

    Args:
        environ: The environment.
    """
    if not any(_names_proxy(name) and environ[name] for name in environ):
        return {}
    inherited = next((environ[name] for name in _EXEMPTING if environ.get(name)), "")
    exemption = {name: _with_loopback(environ.get(name) or inherited) for name in _EXEMPTING}
    return {name: hosts for name, hosts in exemption.items() if hosts != environ.get(name)}


def _with_loopback(hosts: str) -> str:
    listed = [host.strip() for host in hosts.split(",") if host.strip()]
    if "*" in listed:
        return hosts
    return ",".join([*listed, *(host for host in _LOOPBACK if host not in listed)])


def proxy_of(url: str) -> str | None:
    """Return the HTTP proxy of the environment for an address; None if there is none, or for an address of loopback."""
    named = _named_proxy(url)
    return named if named and urlsplit(named).scheme in ("http", "https") else None


def _named_proxy(url: str) -> str | None:
    """Return the proxy for an address, which may be one of SOCKS: some clients use it."""
    address = urlsplit(url)
    host = address.hostname or ""
    request = importlib.import_module("urllib.request")  # every run imports this module, and few use a proxy
    if _is_loopback(host) or request.proxy_bypass(host):
        return None
    proxies = request.getproxies()
    return next((proxies[name] for name in _BY_SCHEME.get(address.scheme, ()) if name in proxies), None)


def with_proxy(problem: str, url: str) -> str:
    """Return why an address was not reached, with the variable that names a proxy for it, and the proxy.

    Args:
        problem: Why; may be empty.
        url: The address.
    """
    proxy = _named_proxy(url)
    return "; ".join(filter(None, (problem, proxy and _describe(proxy))))


def _describe(proxy: str) -> str:
    """Return which variable names a proxy, and the proxy without its password."""
    variable = next(
        (name for name, value in environment_variables().items() if value == proxy and _names_proxy(name)), None
    )
    parts = urlsplit(proxy)
    shown = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    return f"{variable or 'the system'} names the proxy {shown}"


def _names_proxy(variable: str) -> bool:
    return variable.lower().endswith("_proxy") and variable not in _EXEMPTING


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
