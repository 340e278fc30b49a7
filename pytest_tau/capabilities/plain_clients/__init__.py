"""Model calls that an agent makes with a client of its own, such as ``OpenAI()``, are those of its trial."""

from __future__ import annotations

from ...capability import Capability, declared, deferred, option, text


@declared(frozen=True)
class PlainClientSettings:
    """The settings.

    Attributes:
        plain_clients: ``on`` or ``off``.
    """

    plain_clients: str = option(
        text,
        "calls",
        "WHAT",
        default="on",
        choices=("on", "off"),
        example="off",
        help="whether model calls that an agent makes with its own client (over httpx, requests or aiohttp) are "
        "counted, recorded and replayed (default: %(default)s)",
    )


capability = Capability(
    name="plain_clients",
    settings=PlainClientSettings,
    on=lambda settings: settings.plain_clients == "on",
    hooks=deferred(f"{__name__}.plugin:PlainClients"),
)
