"""Addresses that customers move to; no customer in the database has one of them."""

from __future__ import annotations

from ...models import Address


def _address(address1: str, address2: str, city: str, state: str, zip_code: str) -> Address:
    return Address(address1=address1, address2=address2, city=city, country="USA", state=state, zip=zip_code)


#: By the names that texts of scenarios use.
PLACES = {
    "BOSTON": _address("27 Larch Street", "Apt 6", "Boston", "MA", "02118"),
    "DENVER": _address("1410 Quarry Road", "", "Denver", "CO", "80211"),
    "SEATTLE": _address("305 Ferry Terrace", "Unit 12", "Seattle", "WA", "98109"),
    "MEMPHIS": _address("88 Magnolia Court", "", "Memphis", "TN", "38104"),
    "CHICAGO": _address("612 Birchwood Avenue", "Apt 31", "Chicago", "IL", "60622"),
    "TAMPA": _address("9 Heron Way", "", "Tampa", "FL", "33606"),
    "RENO": _address("471 Basin Street", "Apt 2", "Reno", "NV", "89502"),
    "PROVIDENCE": _address("53 Weaver Lane", "", "Providence", "RI", "02906"),
}
