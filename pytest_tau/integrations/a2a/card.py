"""The card of an A2A server: its address, the interface that is used, and the key that it wants."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH, PROTOCOL_VERSION_0_3, PROTOCOL_VERSION_1_0

from ...errors import ConfigurationError
from ...masking import mask_secrets

if TYPE_CHECKING:
    from a2a.types import AgentCard, AgentInterface, SecurityScheme

#: The header of a bearer token, and of a login.
BEARER = "Authorization"
#: The versions that the SDK speaks; it would try later ones, too.
_VERSION = re.compile(r"(0\.3|1\.\d+)(\.\d+)?")


def card_url(spec: str) -> str:
    """Return the address of the card of ``a2a:URL``.

    Raises:
        ConfigurationError: It is not a URL.
    """
    url = server_url(spec)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        example = "expected the URL of an A2A server, such as a2a:http://127.0.0.1:9999"
        raise ConfigurationError(f"agent {mask_secrets(spec)!r}: {example}")
    return url if url.endswith(".json") else url.rstrip("/") + AGENT_CARD_WELL_KNOWN_PATH


def server_url(spec: str) -> str:
    """Return the URL of ``a2a:URL``."""
    return spec.partition(":")[2]


def choose_interface(card: AgentCard, source: str) -> AgentInterface:
    """Return the interface of a card that is used: JSON-RPC, in version 1.x rather than 0.3.

    Args:
        card: The card.
        source: The address of the card, for relative addresses and errors.

    Raises:
        ConfigurationError: The card has no such interface, or is not a card.
    """
    if not card.supported_interfaces:
        problem = "is not an agent card: it names no interface (supportedInterfaces, or url and protocolVersion)"
        raise ConfigurationError(f"{source} {problem}")
    for interface in card.supported_interfaces:
        interface.url = urljoin(source, interface.url)
        interface.protocol_version = interface.protocol_version or PROTOCOL_VERSION_1_0
    usable: list[AgentInterface] = [
        interface
        for interface in card.supported_interfaces
        if interface.protocol_binding == "JSONRPC" and _VERSION.fullmatch(interface.protocol_version)
    ]
    if not usable:
        offered = [
            f"{interface.protocol_binding} {interface.protocol_version}" for interface in card.supported_interfaces
        ]
        supported = "JSON-RPC of A2A 1.x and 0.3"
        raise ConfigurationError(f"{source}: the agent speaks {', '.join(offered)}; supported: {supported}")
    # The order of the card is the agent's preference; within it, the newer protocol is less ambiguous.
    return min(usable, key=lambda interface: interface.protocol_version.startswith(PROTOCOL_VERSION_0_3))


def wanted_key(card: AgentCard) -> tuple[str, bool]:
    """Return the header in which an agent expects its key, and whether it requires one."""
    schemes = sorted(card.security_schemes.items())
    headers = {name: header for name, scheme in schemes if (header := _header_of(scheme))}
    choices = [set(requirement.schemes) for requirement in card.security_requirements]
    # One of the choices is enough; an empty one needs nothing.
    usable = [names for names in choices if names <= set(headers)]
    first = next((name for names in usable for name in headers if name in names), next(iter(headers), None))
    return (headers[first] if first else BEARER), bool(usable) and all(choices)


def _header_of(scheme: SecurityScheme) -> str | None:
    """Return the header of a security scheme; None if it needs more than a key."""
    match scheme.WhichOneof("scheme"):
        case "api_key_security_scheme":
            api_key = scheme.api_key_security_scheme
            return api_key.name if api_key.location == "header" and api_key.name else None
        case "http_auth_security_scheme":
            return BEARER if scheme.http_auth_security_scheme.scheme.lower() == "bearer" else None
        case "oauth2_security_scheme" | "open_id_connect_security_scheme":
            return BEARER
    return None
