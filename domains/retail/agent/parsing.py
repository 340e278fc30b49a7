"""Reading of a customer's words: who they are, which things they mean, what they agree to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..._kit.parsing import sentences
from ..models import Address, CreditCard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..models import CancelReason, Order, OrderItem, PaymentMethod, Product, User, Variant

_ORDER_ID = re.compile(r"#?\b(W\d{7})\b")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ZIP = re.compile(r"\b\d{5}\b")
_NAME = re.compile(r"(?:[Nn]ame(?: is|:)?|I am|I'm|[Tt]his is) ([A-Z][\w'-]*) ([A-Z][\w'-]*)")
_TWO_WORDS = re.compile(r"^\W*([A-Z][\w'-]*) ([A-Z][\w'-]*)\W*$")
_ADDRESS = re.compile(
    r"(?P<address1>\d+ [A-Z][^,.;:]*), (?:(?P<address2>[^,.;:]*\d[^,.;:]*), )?(?P<city>[A-Z][\w .'-]*), "
    r"(?P<state>[A-Z]{2}),? (?P<zip>\d{5})(?:, (?P<country>[A-Z][A-Za-z]+))?"
)
_FLAT = re.compile(r"\b(?:flat|suite|unit|apartment)\b[^']*'([^']+)'", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;:.?!]\s+|[.?!]$")
_LAST_FOUR = re.compile(r"ending (?:in|with) (\d{4})")
_KEEPING = re.compile(r"\b(?:keep|keeps|stays?|not)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all of (?:them|it)|all that|everything|all (?:the )?(?:other )?items|the whole)\b")
_INSTEAD = r"\b(?:instead of|rather than)"
_NO = re.compile(r"^\W*(?:no|nope|do not|don't|wait)\b", re.IGNORECASE)
_PAID_BEFORE = re.compile(
    r"(?:method|card|one) that (?:paid|also)|where it (?:came|was paid) from|original|same (?:payment )?method"
)


class Identity(NamedTuple):
    """The identity of a customer, as far as a text gives it."""

    email: str | None
    name: tuple[str, str] | None
    zip_code: str | None


def identity(text: str) -> Identity:
    """Return the email address, the name and the zip code in a text, each of them if it is there."""
    name = _NAME.search(text) or _TWO_WORDS.search(text)
    email, zip_code = _EMAIL.search(text), _ZIP.search(text)
    return Identity(
        email=email[0] if email else None,
        name=(name[1], name[2]) if name else None,
        zip_code=zip_code[0] if zip_code else None,
    )


def clauses(text: str) -> list[str]:
    """Return a text's parts between commas and the like."""
    return [part for part in _CLAUSES.split(text) if part and part.strip()]


def is_no(text: str) -> bool:
    """Return whether a text turns a proposal down."""
    return bool(_NO.search(text))


def order_ids(text: str) -> list[str]:
    """Return the ids of the orders that are named, each once."""
    return list(dict.fromkeys(f"#{number}" for number in _ORDER_ID.findall(text)))


def cancel_reason(text: str) -> CancelReason | None:
    """Return the reason for a cancellation, if it is one of the two that may count."""
    for clause in re.split(r"[,;:.]| and ", text.lower()):
        if re.search(r"\bno longer need|\bnot need\w* any ?more|\bdo(?:es)? not need\b|\bdon't need\b", clause):
            return "no longer needed"
        if "by mistake" in clause and not re.search(r"\bnot\b|n't\b", clause):
            return "ordered by mistake"
    return None


def address(text: str, now: Address) -> Address | None:
    """Return the address that is written out, or the present one with another flat."""
    if match := _ADDRESS.search(text):
        parts = {name: part or "" for name, part in match.groupdict().items()}
        return Address(**{**parts, "country": parts["country"] or now.country})
    flat = _FLAT.search(text)
    return now.model_copy(update={"address2": flat[1]}) if flat else None


# Items


def mentions(text: str, name: str) -> bool:
    """Return whether a product is named."""
    return bool(re.search(rf"\b{re.escape(name)}(?:s|es)?\b", text, re.IGNORECASE))


def items(text: str, order: Order) -> list[OrderItem]:
    """Return the items of an order that are meant; one that is there twice is meant once unless both are."""
    low = text.lower()
    if re.search(r"\b(?:most expensive|dearest) item", low):
        return [max(order.items, key=lambda item: item.price)]
    if _ALL.search(low):
        keeping = [sentence for sentence in sentences(text) if _KEEPING.search(sentence)]
        return [item for item in order.items if not any(mentions(sentence, item.name) for sentence in keeping)]
    wish = " , ".join(clause for clause in clauses(text) if not _KEEPING.search(clause))
    candidates = [item for item in order.items if mentions(wish, item.name)] or [
        item for item in order.items if mentions(text, item.name)
    ]
    return [
        item for name in dict.fromkeys(item.name for item in candidates) for item in _of_product(text, name, candidates)
    ]


def _of_product(text: str, name: str, named: list[OrderItem]) -> list[OrderItem]:
    """Return the described one of several items of a product; both if the text says so, none if it is not clear."""
    alike = [item for item in named if item.name == name]
    if len(alike) > 1 and re.search(r"\b(?:both|the two of them|all)\b", text.lower()):
        return alike
    described = [item for item in alike if all(_has(text, f"{axis} {value}") for axis, value in item.options.items())]
    if len({item.item_id for item in alike}) > 1:
        return described[:1]
    return alike[:1]


def part_about(text: str, name: str, others: Iterable[str]) -> str:
    """Return the part of a text from a product's name to the next product's; all of it where only one is named."""
    starts = {
        match.start(): other
        for other in {name, *others}
        for match in re.finditer(rf"\b{re.escape(other)}", text, re.IGNORECASE)
    }
    if len(set(starts.values())) < 2:
        return text
    ends = [*sorted(starts)[1:], len(text)]
    return " ".join(text[start:end] for start, end in zip(sorted(starts), ends, strict=True) if starts[start] == name)


def options(text: str, product: Product) -> dict[str, str]:
    """Return the options that a version of a product should have, as far as they are given."""
    axes = _axes(product)
    for values in axes.values():
        for value in values:
            text = re.sub(rf"{_INSTEAD} (?:an? )?{re.escape(value)}(?![\w-])", "", text)
    with_axis = {axis: value for axis, values in axes.items() for value in values if _has(text, f"{axis} {value}")}
    if with_axis:
        return with_axis
    return {axis: value for axis, values in axes.items() for value in values if _has(text, value)}


def _axes(product: Product) -> dict[str, list[str]]:
    """Return what versions differ in, each with its values, short ones last so that they win."""
    axes: dict[str, list[str]] = {}
    for variant in product.variants.values():
        for axis, value in variant.options.items():
            axes.setdefault(axis, []).append(value)
    return {axis: sorted(set(values), key=lambda value: (len(value), value)) for axis, values in axes.items()}


def _has(text: str, words: str) -> bool:
    # Case counts for sizes: an S is no s. A colour at the beginning of a sentence is rare.
    return bool(re.search(rf"(?<![\w.-]){re.escape(words)}(?![\w-])", text))


def wanted_variant(text: str, item: OrderItem, product: Product) -> Variant | None:
    """Return the version that is wanted in an item's place; None where it does not exist or is not in stock."""
    stock = in_stock(product)
    extreme = re.search(r"\b(cheapest|most expensive|dearest)\b", text.lower())
    if extreme and stock:
        return stock[0] if extreme[1] == "cheapest" else stock[-1]
    chosen_options = {**item.options, **options(text, product)}
    return next((variant for variant in stock if variant.options == chosen_options), None)


def in_stock(product: Product) -> list[Variant]:
    """Return the versions that are in stock, the cheapest first."""
    return sorted((v for v in product.variants.values() if v.available), key=lambda variant: variant.price)


# Payment methods


class MethodFound(NamedTuple):
    """A payment method that a text names, or why it cannot be taken."""

    method: PaymentMethod | None
    problem: str = ""


def payment_method(text: str, user: User, paid_by: PaymentMethod) -> MethodFound | None:
    """Return the payment method that is meant; None where none is named.

    Args:
        text: What the customer says.
        user: Whose methods there are.
        paid_by: The one that paid for the order.
    """
    stated = " ".join(sentence for sentence in sentences(text) if not sentence.endswith("?")) or text
    parts = re.split(r"[,;:.]", re.sub(rf"{_INSTEAD} [^,.;]*", "", stated))
    low = " , ".join(part for part in parts if not re.search(r"\b(?:keep|not be)\b", part)).lower()
    if re.search(r"\bas much as|\bthe rest (?:should|from|by)|\bin two parts\b", low):
        return MethodFound(None, "an order is paid by one single method, it cannot be split")
    if "new gift card" in low or "get a gift card" in low:
        return MethodFound(None, "a refund cannot go to a gift card that is not in your profile yet")
    if _PAID_BEFORE.search(low):
        return MethodFound(paid_by)
    kinds = list(_named_kinds(low))
    if not kinds:
        return None
    methods = [method for method in user.payment_methods.values() if _is_meant(method, kinds, low)]
    return MethodFound(methods[0]) if methods else MethodFound(None, "that payment method is not in your profile")


def _named_kinds(text: str) -> Iterator[str]:
    if "gift card" in text or "gift_card" in text:
        yield "gift_card"
    if "paypal" in text:
        yield "paypal"
    if _LAST_FOUR.search(text) or re.search(r"credit[ _]card|\b(?:visa|mastercard|american express|discover)\b", text):
        yield "credit_card"


def _is_meant(method: PaymentMethod, kinds: list[str], text: str) -> bool:
    if method.id in text:
        return True
    if isinstance(method, CreditCard):
        four = _LAST_FOUR.search(text)
        return "credit_card" in kinds and (four is None or four[1] == method.last_four)
    return method.source in kinds
