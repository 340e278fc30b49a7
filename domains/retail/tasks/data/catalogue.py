"""The shop's products: what each comes in, and which versions of it exist."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from ...models import Product, Variant

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

_VARIANTS = (7, 10)
_IN_STOCK = 0.66


class ProductKind(NamedTuple):
    """A type of product.

    Attributes:
        name: What it is called.
        price: Of the plainest version, in USD.
        axes: What versions differ in; each value with what it adds to the price.
    """

    name: str
    price: int
    axes: dict[str, dict[str, int]]


PRODUCT_KINDS = (
    ProductKind(
        "Rain Jacket", 79, {"color": {"navy": 0, "olive": 0, "red": 3}, "size": {"S": 0, "M": 2, "L": 4, "XL": 6}}
    ),
    ProductKind(
        "Wool Sweater", 64, {"color": {"cream": 0, "charcoal": 2, "forest green": 2}, "size": {"S": 0, "M": 3, "L": 5}}
    ),
    ProductKind("Linen Shirt", 42, {"color": {"white": 0, "sand": 1, "sky blue": 1}, "size": {"S": 0, "M": 2, "L": 4}}),
    ProductKind(
        "Duffel Bag", 55, {"color": {"black": 0, "rust": 2, "slate": 2}, "volume": {"30 L": 0, "45 L": 12, "60 L": 21}}
    ),
    ProductKind(
        "Camping Tent",
        149,
        {"capacity": {"2 people": 0, "3 people": 38, "4 people": 71}, "color": {"green": 0, "orange": 3, "gray": 3}},
    ),
    ProductKind(
        "Sleeping Bag",
        88,
        {
            "comfort": {"10 C": 0, "0 C": 27, "-10 C": 66},
            "length": {"regular": 0, "long": 14},
            "zipper": {"left": 0, "right": 1},
        },
    ),
    ProductKind(
        "Hammock",
        37,
        {
            "color": {"teal": 0, "maroon": 1, "stone": 1},
            "width": {"single": 0, "double": 16},
            "straps": {"none": 0, "tree straps": 11},
        },
    ),
    ProductKind(
        "Cast Iron Skillet",
        29,
        {"diameter": {"8 in": 0, "10 in": 9, "12 in": 18}, "lid": {"none": 0, "glass": 12, "iron": 17}},
    ),
    ProductKind(
        "Stand Mixer",
        219,
        {
            "color": {"cream": 0, "copper": 18, "graphite": 9},
            "bowl": {"4.5 qt": 0, "6 qt": 46},
            "attachments": {"basic": 0, "full": 58},
        },
    ),
    ProductKind(
        "Kitchen Knife",
        46,
        {"blade": {"5 in": 0, "7 in": 13, "9 in": 24}, "handle": {"beech": 0, "walnut": 8, "resin": 5}},
    ),
    ProductKind(
        "Rice Cooker",
        58,
        {"capacity": {"3 cups": 0, "6 cups": 19, "10 cups": 44}, "color": {"white": 0, "silver": 4, "red": 4}},
    ),
    ProductKind(
        "Bath Towel Set", 34, {"color": {"white": 0, "sage": 2, "plum": 2}, "pieces": {"2": 0, "4": 21, "6": 39}}
    ),
    ProductKind(
        "Duvet",
        96,
        {
            "size": {"twin": 0, "queen": 34, "king": 57},
            "filling": {"cotton": 0, "down": 62},
            "warmth": {"summer": 0, "winter": 23},
        },
    ),
    ProductKind(
        "Floor Lamp",
        84,
        {"finish": {"brass": 11, "black": 0, "nickel": 7}, "height": {"48 in": 0, "60 in": 15, "72 in": 28}},
    ),
    ProductKind(
        "Bedside Table", 112, {"wood": {"pine": 0, "oak": 41, "walnut": 73}, "drawers": {"1": 0, "2": 26, "3": 49}}
    ),
    ProductKind(
        "Area Rug",
        131,
        {"size": {"3x5 ft": 0, "5x8 ft": 88, "8x10 ft": 187}, "pattern": {"plain": 0, "striped": 9, "kilim": 22}},
    ),
    ProductKind(
        "Space Heater",
        49,
        {"power": {"800 W": 0, "1200 W": 14, "1500 W": 25}, "color": {"white": 0, "black": 2, "mint": 3}},
    ),
    ProductKind(
        "Picture Frame",
        18,
        {"size": {"5x7 in": 0, "8x10 in": 6, "11x14 in": 13}, "material": {"pine": 0, "steel": 7, "walnut": 11}},
    ),
    ProductKind(
        "Chess Set",
        53,
        {"pieces": {"plastic": 0, "boxwood": 29, "rosewood": 68}, "board": {"roll-up": 0, "folding": 17, "solid": 38}},
    ),
    ProductKind(
        "Acoustic Guitar",
        179,
        {
            "body": {"parlor": 0, "concert": 24, "dreadnought": 31},
            "top": {"spruce": 0, "cedar": 37},
            "strings": {"steel": 0, "nylon": 6},
        },
    ),
    ProductKind(
        "Digital Piano",
        389,
        {
            "keys": {"61": 0, "76": 94, "88": 171},
            "color": {"black": 0, "white": 16},
            "stand": {"none": 0, "folding": 47, "wooden": 119},
        },
    ),
    ProductKind(
        "Webcam",
        52,
        {"resolution": {"720p": 0, "1080p": 22, "4K": 81}, "mount": {"clip": 0, "tripod": 13, "magnet": 17}},
    ),
    ProductKind(
        "USB Hub",
        24,
        {"ports": {"4": 0, "7": 11, "10": 23}, "plug": {"USB-A": 0, "USB-C": 5}, "power supply": {"no": 0, "yes": 12}},
    ),
    ProductKind(
        "External Drive",
        67,
        {"capacity": {"1 TB": 0, "2 TB": 39, "4 TB": 103}, "color": {"black": 0, "blue": 3, "silver": 3}},
    ),
    ProductKind(
        "Bike Lock",
        32,
        {"length": {"2 ft": 0, "3 ft": 7, "4 ft": 13}, "closing": {"key": 0, "number code": 4, "fingerprint": 36}},
    ),
    ProductKind(
        "Flower Pot",
        16,
        {"diameter": {"6 in": 0, "9 in": 8, "12 in": 19}, "color": {"terracotta": 0, "white": 2, "cobalt": 4}},
    ),
)


def make_products(rng: random.Random) -> list[Product]:
    """Make every kind of product with some of its possible versions, some of them sold out."""
    ids = map(str, rng.sample(range(1_000_000_000, 10_000_000_000), 20 * len(PRODUCT_KINDS)))
    return [_product(rng, kind, ids) for kind in PRODUCT_KINDS]


def _product(rng: random.Random, kind: ProductKind, ids: Iterator[str]) -> Product:
    possible = [dict(zip(kind.axes, values, strict=True)) for values in itertools.product(*kind.axes.values())]
    chosen = sorted(rng.sample(range(len(possible)), min(rng.randint(*_VARIANTS), len(possible))))
    rng.shuffle(chosen)
    prices: set[float] = set()
    variants = [_variant(rng, kind, possible[number], next(ids), prices) for number in chosen]
    return Product(name=kind.name, product_id=next(ids), variants={variant.item_id: variant for variant in variants})


def _variant(
    rng: random.Random, kind: ProductKind, options: dict[str, str], item_id: str, prices: set[float]
) -> Variant:
    """Make a version at a price of its own, so that a cheapest and a most expensive one exist."""
    plain = kind.price + sum(kind.axes[axis][value] for axis, value in options.items())
    price = _price(rng, plain)
    while price in prices:
        price = _price(rng, plain)
    prices.add(price)
    return Variant(item_id=item_id, options=options, available=rng.random() < _IN_STOCK, price=price)


def _price(rng: random.Random, plain: int) -> float:
    """Draw a price near the plain one. The last digit is never 0: 4.50 might be written 4.5, and text is compared."""
    return round(plain + rng.randint(-2, 2) + rng.randint(0, 9) / 10 + rng.randint(1, 9) / 100, 2)
