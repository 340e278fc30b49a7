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


#: A line for each kind: its name, the price of the plainest version in USD, and what versions differ in; after a value,
#: what it adds to the price.
_KINDS = """
Rain Jacket | 79 | color: navy, olive, red +3 | size: S, M +2, L +4, XL +6
Wool Sweater | 64 | color: cream, charcoal +2, forest green +2 | size: S, M +3, L +5
Linen Shirt | 42 | color: white, sand +1, sky blue +1 | size: S, M +2, L +4
Duffel Bag | 55 | color: black, rust +2, slate +2 | volume: 30 L, 45 L +12, 60 L +21
Camping Tent | 149 | capacity: 2 people, 3 people +38, 4 people +71 | color: green, orange +3, gray +3
Sleeping Bag | 88 | comfort: 10 C, 0 C +27, -10 C +66 | length: regular, long +14 | zipper: left, right +1
Hammock | 37 | color: teal, maroon +1, stone +1 | width: single, double +16 | straps: none, tree straps +11
Cast Iron Skillet | 29 | diameter: 8 in, 10 in +9, 12 in +18 | lid: none, glass +12, iron +17
Stand Mixer | 219 | color: cream, copper +18, graphite +9 | bowl: 4.5 qt, 6 qt +46 | attachments: basic, full +58
Kitchen Knife | 46 | blade: 5 in, 7 in +13, 9 in +24 | handle: beech, walnut +8, resin +5
Rice Cooker | 58 | capacity: 3 cups, 6 cups +19, 10 cups +44 | color: white, silver +4, red +4
Bath Towel Set | 34 | color: white, sage +2, plum +2 | pieces: 2, 4 +21, 6 +39
Duvet | 96 | size: twin, queen +34, king +57 | filling: cotton, down +62 | warmth: summer, winter +23
Floor Lamp | 84 | finish: brass +11, black, nickel +7 | height: 48 in, 60 in +15, 72 in +28
Bedside Table | 112 | wood: pine, oak +41, walnut +73 | drawers: 1, 2 +26, 3 +49
Area Rug | 131 | size: 3x5 ft, 5x8 ft +88, 8x10 ft +187 | pattern: plain, striped +9, kilim +22
Space Heater | 49 | power: 800 W, 1200 W +14, 1500 W +25 | color: white, black +2, mint +3
Picture Frame | 18 | size: 5x7 in, 8x10 in +6, 11x14 in +13 | material: pine, steel +7, walnut +11
Chess Set | 53 | pieces: plastic, boxwood +29, rosewood +68 | board: roll-up, folding +17, solid +38
Acoustic Guitar | 179 | body: parlor, concert +24, dreadnought +31 | top: spruce, cedar +37 | strings: steel, nylon +6
Digital Piano | 389 | keys: 61, 76 +94, 88 +171 | color: black, white +16 | stand: none, folding +47, wooden +119
Webcam | 52 | resolution: 720p, 1080p +22, 4K +81 | mount: clip, tripod +13, magnet +17
USB Hub | 24 | ports: 4, 7 +11, 10 +23 | plug: USB-A, USB-C +5 | power supply: no, yes +12
External Drive | 67 | capacity: 1 TB, 2 TB +39, 4 TB +103 | color: black, blue +3, silver +3
Bike Lock | 32 | length: 2 ft, 3 ft +7, 4 ft +13 | closing: key, number code +4, fingerprint +36
Flower Pot | 16 | diameter: 6 in, 9 in +8, 12 in +19 | color: terracotta, white +2, cobalt +4
"""


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


def _kind(line: str) -> ProductKind:
    name, price, *axes = line.split(" | ")
    return ProductKind(name, int(price), dict(map(_axis, axes)))


def _axis(text: str) -> tuple[str, dict[str, int]]:
    name, _, values = text.partition(": ")
    surcharges = (value.partition(" +") for value in values.split(", "))
    return name, {value: int(surcharge or 0) for value, _, surcharge in surcharges}


PRODUCT_KINDS = tuple(map(_kind, _KINDS.strip().splitlines()))


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
