"""Ways to write, and places to move to."""

from __future__ import annotations

from .models import Address

CHATTY = (
    "You are cheerful and a little scattered. You tell in passing what is going on around you, a dog that wants out, a "
    "cake in the oven, and come back to the matter when you are asked."
)
TERSE = (
    "You type on a phone with one hand. Your messages are short, in lower case, often without a verb. You answer what "
    "is asked and nothing more."
)
WARY = (
    "You once lost money in an online shop and have been careful since. You want to hear again what exactly will "
    "happen before you agree to it, but once it has been said clearly you do agree."
)
CROSS = (
    "You had a bad day and the shop is one more thing. You are curt, you sigh in writing, and you do not take a "
    "first no for an answer, but you never insult anybody."
)
FORMAL = (
    "You write in full sentences, with a greeting and a thank-you, as you would in a letter. You dislike to be rushed "
    "and never volunteer more than one matter at a time."
)
NOVICE = (
    "It is the first time that you shop online. You use everyday words, do not know what a variant or a fulfillment "
    "is, and ask for the meaning of a word when you meet one."
)


def _address(address1: str, address2: str, city: str, state: str, zip_code: str) -> Address:
    return Address(address1=address1, address2=address2, city=city, country="USA", state=state, zip=zip_code)


#: Where customers move to; of nobody in the database.
BOSTON = _address("27 Larch Street", "Apt 6", "Boston", "MA", "02118")
DENVER = _address("1410 Quarry Road", "", "Denver", "CO", "80211")
SEATTLE = _address("305 Ferry Terrace", "Unit 12", "Seattle", "WA", "98109")
MEMPHIS = _address("88 Magnolia Court", "", "Memphis", "TN", "38104")
CHICAGO = _address("612 Birchwood Avenue", "Apt 31", "Chicago", "IL", "60622")
TAMPA = _address("9 Heron Way", "", "Tampa", "FL", "33606")
RENO = _address("471 Basin Street", "Apt 2", "Reno", "NV", "89502")
PROVIDENCE = _address("53 Weaver Lane", "", "Providence", "RI", "02906")
PLACES = (BOSTON, DENVER, SEATTLE, MEMPHIS, CHICAGO, TAMPA, RENO, PROVIDENCE)
