"""The card of an A2A server: where and in which version of the protocol it is spoken to."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from ...chat import without_login
from ...errors import ConfigurationError

PREFIX = "a2a:"
CARD_PATH = ".well-known/agent-card.json"
#: The path of the card before version 0.3; servers of 0.3 may use it, too.
OLD_CARD_PATH = ".well-known/agent.json"
#: The environment variable with the key of an agent that is a server.
KEY_VARIABLE = "TAU_AGENT_API_KEY"
#: The environment variable with other hosts that are sent this key, if the card names them.
HOST_VARIABLE = "TAU_AGENT_API_KEY_HOSTS"
BEARER = "Authorization"
_BINDING = "JSONRPC"
_SUPPORTED = "JSON-RPC of A2A 1.x and 0.3"


class Interface(NamedTuple):
    """An address of an agent.

    Attributes:
        url: Where JSON-RPC requests are posted.
        version: The version of the protocol, such as ``1.0``.
        tenant: Part of each request, if the card names it.
        key_header: The header for a key; in ``Authorization`` it is a bearer token.
        needs_key: The card requires a key.
        gets_key: The address is sent the key, if there is one.
    """

    url: str
    version: str
    tenant: str = ""
    key_header: str = BEARER
    needs_key: bool = False
    gets_key: bool = True

    @property
    def is_legacy(self) -> bool:
        """Return whether the version is 0.3, whose methods and messages have other names."""
        return self.version == "0.3"


def card_url(spec: str) -> str:
    """Return the address of the card of ``a2a:URL``.

    Raises:
        ConfigurationError: It is not a URL.
    """
    url = spec.removeprefix(PREFIX)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        example = f"expected the URL of an A2A server, such as {PREFIX}http://127.0.0.1:9999"
        raise ConfigurationError(f"agent {without_login(spec)!r}: {example}")
    return url if url.endswith(".json") else urljoin(f"{url.rstrip('/')}/", CARD_PATH)


def chosen_interface(card: Any, source: str) -> Interface:
    """Return the interface of a card that is used: JSON-RPC, in the newest version that is supported.

    Args:
        card: The card, as parsed from JSON.
        source: The address of the card, for errors.

    Raises:
        ConfigurationError: The card has no such interface, or is not a card.
    """
    # Cards name the version since 0.2.6.
    default_version = "0.2" if source.endswith(OLD_CARD_PATH) else "0.3"
    offered = _offered(card, default_version) if isinstance(card, dict) else []
    header, needs_key = _key_header(card) if isinstance(card, dict) else (BEARER, False)
    if not offered:
        problem = "is not an agent card: it names no interface (supportedInterfaces, or url and protocolVersion)"
        raise ConfigurationError(f"{source} {problem}")
    usable = [
        Interface(urljoin(source, url), version, tenant, header, needs_key)
        for url, binding, version, tenant in offered
        if binding.upper() == _BINDING and (version == "0.3" or version.startswith("1."))
    ]
    if not usable:
        found = ", ".join(f"{binding} {version}" for _, binding, version, _ in offered)
        raise ConfigurationError(f"{source}: the agent speaks {found}; supported: {_SUPPORTED}")
    # The order of the card is the agent's preference; within it, the newer protocol is less ambiguous.
    return next((found for found in usable if not found.is_legacy), usable[0])


def _offered(card: dict[str, Any], default_version: str) -> list[tuple[str, str, str, str]]:
    """Return URL, binding, version and tenant of each interface; ``supportedInterfaces`` is new in version 1.0."""
    found = [
        (entry.get("url"), entry.get("protocolBinding"), entry.get("protocolVersion"), entry.get("tenant") or "")
        for entry in _list(card.get("supportedInterfaces"))
    ]
    version = card.get("protocolVersion", default_version)
    found.append((card.get("url"), card.get("preferredTransport") or _BINDING, version, ""))
    found += [
        (entry.get("url"), entry.get("transport"), version, "") for entry in _list(card.get("additionalInterfaces"))
    ]
    return [
        (url, binding, _minor(version), tenant)
        for url, binding, version, tenant in found
        if isinstance(url, str) and isinstance(binding, str) and isinstance(version, str) and isinstance(tenant, str)
    ]


def _key_header(card: dict[str, Any]) -> tuple[str, bool]:
    """Return the header in which an agent expects its key, and whether it requires one."""
    schemes = card.get("securitySchemes")
    headers = {name: header for name, one in _items(schemes) if (header := _header_of(one))}
    required = card.get("securityRequirements") or card.get("security")
    choices = [set(entry.get("schemes") or entry) for entry in _list(required)]
    # One of the choices is enough; an empty one needs nothing.
    usable = [names for names in choices if names <= set(headers)]
    first = next((name for names in usable for name in headers if name in names), next(iter(headers), None))
    return (headers[first] if first else BEARER), bool(usable) and all(choices)


def _header_of(scheme: dict[str, Any]) -> str | None:
    """Return the header of a security scheme, in the words of version 0.3 or 1.x; None if it needs more than a key."""
    kind = str(scheme.get("type") or next(iter(scheme), "")).lower()
    fields = scheme if "type" in scheme else scheme.get(next(iter(scheme), ""), {})
    if not isinstance(fields, dict):
        return None
    if kind.startswith("apikey"):
        name = fields.get("name")
        place = fields.get("in") or fields.get("location")
        return name if place == "header" and isinstance(name, str) and name else None
    if kind.startswith("http"):
        return BEARER if str(fields.get("scheme", "")).lower() == "bearer" else None
    return BEARER if kind.startswith(("oauth2", "openid")) else None


def _items(value: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, one) for name, one in value.items() if isinstance(one, dict)] if isinstance(value, dict) else []


def _list(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _minor(version: str) -> str:
    """Return the version without its patch number, as the protocol compares versions."""
    return ".".join(version.split(".")[:2])
