"""Scenarios about paying for a booking: what may be combined, and what may not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...formatting import full_name
from ...wallet import Wallet
from ..builder import Order
from ..personas import BRISK, CHATTY, STUBBORN
from ..requests import INSURED
from ..routes import NO_EXTRAS, endpoints, from_to, has_one_card, pick_offer
from ..trips import describe_method
from ..world import as_passenger, format_date

if TYPE_CHECKING:
    from pytest_tau.models.tasks import Task

    from ...models import User
    from ..builder import NewTask
    from ..world import Offer, World

_PAYMENT = "Booking: payment"


def book_split_payment(world: World, new_task: NewTask) -> Task:
    """A certificate, a gift card and a credit card share the price."""

    def fits(u: User) -> bool:
        return len(Wallet(u).certificates) == len(Wallet(u).gift_cards) == 1 and bool(u.saved_passengers)

    user = world.user(where=fits)
    wallet = Wallet(user)
    gift, certificate, card = wallet.gift_cards[0], wallet.certificates[0], wallet.card
    least = (certificate.amount + gift.amount + 20) / 2

    def dear(a: str, b: str, d: str) -> Offer | None:
        offer = world.cheapest(a, b, d, "business", 2)
        return offer if offer and offer.price > least else None

    offer, companion = pick_offer(world, dear, skip=3), user.saved_passengers[0]
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    order = Order([offer], "business", [as_passenger(user), companion], [certificate.id, gift.id, card.id])
    task.book(origin, destination, order)
    task.ask_to_book(
        payment_method="First your certificate, then the whole balance of your gift card, and the rest on "
        f"{describe_method(card)}.",
        cabin="Business class.",
        passengers=f"Me and {full_name(companion)}, born on {companion.dob}.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"You want to fly {from_to(origin, destination)} in business class on {format_date(offer.dates[0])}, "
        f"together with {full_name(companion)}, one way.",
        known=f"{full_name(companion)} was born on {companion.dob}. Your profile has a certificate, a gift card and "
        f"{describe_method(card)}.",
        unknown="You do not know what the certificate and the gift card are worth.",
        do="You want the cheapest direct flight in business class, for both of you. "
        + NO_EXTRAS
        + "For payment the certificate is to be used up first, then the whole balance of the gift card, and what "
        "is left goes on the credit card. You agree to the price.",
    )


def book_two_certificates_refused(world: World, new_task: NewTask) -> Task:
    """One certificate a reservation: the second has to stay in the profile."""
    user = world.user(where=lambda u: len(Wallet(u).certificates) == 2)
    wallet = Wallet(user)
    large, card = wallet.certificates[0], wallet.card

    def dear(a: str, b: str, d: str) -> Offer | None:
        offer = world.cheapest(a, b, d, "business")
        return offer if offer and offer.price > sum(c.amount for c in wallet.certificates) else None

    offer = pick_offer(world, dear, skip=14)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.book(origin, destination, Order([offer], "business", [as_passenger(user)], [large.id, card.id]))
    task.ask_to_book(
        payment_method=f"Both travel certificates, and the rest on {describe_method(card)}.",
        cabin="Business class.",
        insist=1,
        fallback=f"Then the one certificate that is worth more, and the rest on {describe_method(card)}.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])} in business class, "
        "one way, and to use both travel certificates in your profile.",
        known=f"You also have {describe_method(card)}.",
        do="You want the cheapest direct flight in business class, for yourself alone. "
        + NO_EXTRAS
        + "If only one certificate can be used, take the one that is worth more; the rest goes on the credit card. You "
        "do not want to split the journey into several reservations.",
        persona=STUBBORN,
    )


def book_gift_cards_refused(world: World, new_task: NewTask) -> Task:
    """Three gift cards a reservation: the fourth has to wait."""
    user = world.user(where=lambda u: len(Wallet(u).gift_cards) == 4 and u.saved_passengers)
    wallet = Wallet(user)
    cards, card = wallet.gift_cards, wallet.card

    def dear(a: str, b: str, d: str) -> Offer | None:
        offer = world.cheapest(a, b, d, "business", 2)
        return offer if offer and 2 * offer.price > sum(c.amount for c in cards) else None

    offer, other = pick_offer(world, dear, skip=8), user.saved_passengers[0]
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    pay = [*(c.id for c in cards[:3]), card.id]
    task.book(origin, destination, Order([offer], "business", [as_passenger(user), other], pay))
    task.ask_to_book(
        f"You want two seats in business class to fly {from_to(origin, destination)} on "
        f"{format_date(offer.dates[0])}, one way.",
        payment_method=f"All four of your gift cards, and the rest on {describe_method(card)}.",
        cabin="Business class.",
        passengers=f"Me and {full_name(other)}, who is saved in your profile.",
        fallback="Then the three gift cards with the highest balances, the highest first, and the rest on "
        f"{describe_method(card)}.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"You want two seats in business class {from_to(origin, destination)} on "
        f"{format_date(offer.dates[0])}, one way, and to empty all four of your gift cards for them.",
        known=f"{full_name(other)} flies with you and is saved in your profile. You also have {describe_method(card)}.",
        do="You want the cheapest direct flight in business class. "
        + NO_EXTRAS
        + "If four gift cards are too many, use up the three with the highest balances, the highest first and the "
        "lowest of the three last, and put the rest on the credit card. You agree to the price.",
    )


def book_new_card_refused(world: World, new_task: NewTask) -> Task:
    """A card that is not in the profile cannot pay."""
    user = world.user(where=lambda u: has_one_card(u) and Wallet(u).card.brand == "visa")
    card = Wallet(user).card
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy"), skip=26, choices=1)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    order = Order([offer], "economy", [as_passenger(user)], [card.id], insured=True)
    task.book(origin, destination, order)
    task.ask_to_book(
        f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way.",
        payment_method="Your employer's new credit card, a mastercard that ends in 0042.",
        insurance=INSURED,
        fallback="Then the visa in your profile.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way, and to "
        "pay with your employer's new credit card.",
        known=f"You were born on {user.dob}. The new card is a mastercard that ends in 0042; it is not in your "
        "profile. There is a visa in your profile.",
        do="You want the cheapest direct flight in economy, for yourself, with insurance and without checked bags. You "
        "are willing to read out the number of the new card. If it cannot be used, pay with the visa. You agree to the "
        "price.",
    )


def book_two_cards_refused(world: World, new_task: NewTask) -> Task:
    """One credit card a reservation: the price cannot be split between two."""
    user = world.user(where=lambda u: len(Wallet(u).cards) == 2 and u.saved_passengers)
    (card, other), companion = Wallet(user).cards, user.saved_passengers[0]
    offer = pick_offer(world, lambda a, b, d: world.cheapest(a, b, d, "economy", 2), skip=34, choices=1)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.communicate(
        task.book(origin, destination, Order([offer], "economy", [as_passenger(user), companion], [other.id], bags=2))
    )
    task.ask_to_book(
        f"You and {full_name(companion)} want to fly {from_to(origin, destination)} on "
        f"{format_date(offer.dates[0])}, one way.",
        payment_method=f"Half of it on your {card.brand}, and half of it on your {other.brand}.",
        passengers=f"Me and {full_name(companion)}, born on {companion.dob}.",
        baggage="Two checked bags.",
        fallback=f"Then everything on the {other.brand}.",
    )
    return task.build(
        rule=_PAYMENT,
        reason=f"You and {full_name(companion)} want to fly {from_to(origin, destination)} on "
        f"{format_date(offer.dates[0])}, one way, and to share the price: half of it on each of the two credit cards "
        "in your profile.",
        known=f"{full_name(companion)} was born on {companion.dob}. Your cards are a {card.brand} and a {other.brand}.",
        do="You want the cheapest direct flight in economy, with two checked bags and without insurance. If two cards "
        f"are not possible, everything goes on the {other.brand}, in one reservation. You want to know the total and "
        "agree to it.",
        persona=CHATTY,
    )


def book_with_certificate_only(world: World, new_task: NewTask) -> Task:
    """A certificate pays all; what it is worth beyond the price is lost."""
    user = world.user(where=lambda u: Wallet(u).certificates and Wallet(u).certificates[0].amount >= 200)
    certificate = Wallet(user).certificates[0]

    def fits(origin: str, destination: str, date: str) -> Offer | None:
        offer = world.cheapest(origin, destination, date, "economy")
        return offer if offer and offer.price <= certificate.amount - 20 else None

    offer = pick_offer(world, fits, skip=41, choices=1)
    origin, destination = endpoints(offer)
    task = new_task(user)
    task.read_profile()
    task.search_direct(origin, destination, offer.dates[0])
    task.book(origin, destination, Order([offer], "economy", [as_passenger(user)], [certificate.id]))
    task.ask_to_book(payment_method=describe_method(certificate))
    return task.build(
        rule=_PAYMENT,
        reason=f"You want to fly {from_to(origin, destination)} on {format_date(offer.dates[0])}, one way, and to "
        f"pay with {describe_method(certificate)} alone.",
        known=f"You were born on {user.dob}.",
        do="You want the cheapest direct flight in economy, for yourself. "
        + NO_EXTRAS
        + "If the certificate is worth more than the price, you know that the rest is lost, and agree.",
        persona=BRISK,
    )


PAYING = (
    book_split_payment,
    book_two_certificates_refused,
    book_gift_cards_refused,
    book_new_card_refused,
    book_two_cards_refused,
    book_with_certificate_only,
)
