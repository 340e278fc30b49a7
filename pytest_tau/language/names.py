"""What the names of tools, arguments and fields say."""

from __future__ import annotations

import re
from typing import Final

_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Between the name of a server or a module and that of the tool.
_PREFIXES: Final = re.compile(r"__|[./:]")
_NO_WORD: Final = re.compile(r"\W+")
_HANDS_OVER: Final = re.compile(r"escalat|hand_?off|hand_?over", re.IGNORECASE)
#: Numbers that are computed, and no counts.
_COMPUTED: Final = re.compile(r"amount|price|cost|fee|balance|points", re.IGNORECASE)
_COST: Final = re.compile(r"^(?:total_|paid_)?amount$|cost|fee|charge|total_price", re.IGNORECASE)
#: Contacts, names, and ids of what belongs to one.
_PERSONAL: Final = re.compile(
    r"mail|phone|address|street|birth|dob|(?:full|customer)_name|^name$|^id$"
    r"|(?:user|customer|member|account|payment|card|order|reservation|booking|tracking|bill|line)\w*_id",
    re.IGNORECASE,
)
#: How people call what these words end the name of without them: a phone number is a phone.
_OMITTED: Final = ("number", "address")


def name_words(name: str) -> list[str]:
    """Return the words of a name, in lower case: ``order`` and ``id`` of ``orderId``, ``order-id`` and ``order_id``."""
    return [word.lower() for word in _WORDS.findall(_HUMPS.sub("_", name))]


def base_name(name: str) -> str:
    """Return the name of a tool without that of its server or module: ``find`` of ``orders__find``, ``orders.find``."""
    return _PREFIXES.split(name)[-1]


def plain_name(text: str) -> str:
    """Return a text with only letters, digits and single underscores between them."""
    return _NO_WORD.sub("_", text).strip("_")


def is_name_of_handover(name: str) -> bool:
    """Return whether the name of a tool says that it hands the conversation over."""
    return _HANDS_OVER.search(name) is not None


def is_name_of_amount(name: str) -> bool:
    """Return whether a name is that of an amount, which is computed, and of no count."""
    return _COMPUTED.search(name) is not None


def is_name_of_cost(name: str) -> bool:
    """Return whether a name is that of a field which holds what something costs."""
    return _COST.search(name) is not None


def is_name_of_personal_data(name: str) -> bool:
    """Return whether a field of this name identifies a customer, if any does."""
    return _PERSONAL.search(name) is not None


def labels_of(name: str) -> list[str]:
    """Return what people call a field: ``date_of_birth`` is the date of birth, or the dob."""
    words = name.lower().split("_")
    labels = [" ".join(words), name.lower()]
    labels += ["".join(word[0] for word in words if word)] if len(words) > 1 else []
    labels += [" ".join(words[:-1])] if len(words) > 1 and words[-1] in _OMITTED else []
    return list(dict.fromkeys(labels))
