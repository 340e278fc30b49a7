"""A builder of tasks: reference actions, carried out as they are noted down, and the texts around them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from pytest_tau.errors import TaskFormatError
from pytest_tau.models import Request, UserScript
from pytest_tau.models.tasks import Action, Description, EvaluationCriteria, Instructions, Task, UserScenario

from ..._kit.transfer import TRANSFER
from ..._kit.user_script import ask, open_with, patience
from ..formatting import full_name
from ..models import CreditCard
from ..pricing import BAG_PRICE, INSURANCE_PRICE, free_bags
from .personas import PATIENCE
from .requests import BOOKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_tau.environment import Environment
    from pytest_tau.models import Answer
    from pytest_tau.models.messages import ToolMessage

    from ..models import AirlineDB, Cabin, Passenger, Payment, User
    from .trips import FlightList, Trip
    from .world import Offer

#: Begins to build the task of a user.
NewTask: TypeAlias = "Callable[[User], TaskBuilder]"


class Order(NamedTuple):
    """A booking to be made.

    Attributes:
        pay: Ids of payment methods; each pays what it can of what is left.
        bags: Checked bags in all.
    """

    offers: Sequence[Offer]
    cabin: Cabin
    people: Sequence[Passenger]
    pay: Sequence[str]
    bags: int = 0
    insured: bool = False


class TaskBuilder:
    """Collects a task's reference actions; each is carried out at once, and must succeed."""

    def __init__(self, task_id: str, purpose: str, environment: Environment, user: User) -> None:
        self._id, self._purpose, self._user = task_id, purpose, user
        self._environment = environment
        self._actions: list[Action] = []
        self._phrases: list[str] = []
        self._requests: list[Request] = []

    def call(self, tool: str, *, any_arguments: bool = False, **arguments: Any) -> Any:
        """Note down a call and return its result.

        Raises:
            TaskFormatError: The tool refuses.
        """
        reply = self._environment.call(tool, arguments)
        if reply.error:
            raise TaskFormatError(f"{tool}: {reply.content}", task_id=self._id)
        compared: list[str] | None = [] if any_arguments else None
        action_id = f"{len(self._actions)}-{tool.replace('_', '-')}"
        self._actions.append(Action(action_id=action_id, name=tool, arguments=arguments, compare_args=compared))
        return reply.content if tool in ("get_flight_status", "send_certificate", TRANSFER) else _result(reply)

    # Reading

    def read_profile(self) -> None:
        """Read the user's profile."""
        self.call("get_user_details", user_id=self._user.user_id)

    def read_reservations(self, *trips: Trip) -> None:
        """Read reservations."""
        for trip in trips:
            self.call("get_reservation_details", reservation_id=trip.id)

    def read(self, *trips: Trip) -> None:
        """Read the user's profile and reservations."""
        self.read_profile()
        self.read_reservations(*trips)

    def search_direct(self, origin: str, destination: str, *dates: str) -> None:
        """Search direct flights, on each of the days."""
        for date in dates:
            self.call("search_direct_flight", origin=origin, destination=destination, date=date)

    def search_onestop(self, origin: str, destination: str, date: str) -> None:
        """Search flights with one stop."""
        self.call("search_onestop_flight", origin=origin, destination=destination, date=date)

    def read_statuses(self, trip: Trip, *positions: int) -> None:
        """Read the status of flights of a reservation: those at the positions, or all of them."""
        for position in positions or range(len(trip.legs)):
            leg = trip.legs[position]
            self.call("get_flight_status", flight_number=leg.flight_number, date=leg.date)

    def search_fares(self, trip: Trip) -> None:
        """Search the current fares of the flights of a reservation."""
        for leg in trip.legs:
            self.search_direct(leg.origin, leg.destination, leg.date)

    # Writing

    def cancel(self, trip: Trip) -> None:
        """Cancel a reservation."""
        self.call("cancel_reservation", reservation_id=trip.id)

    def change_flights(self, trip: Trip, flights: FlightList, pay: str, cabin: Cabin | None = None) -> int:
        """Change flights or cabin, and return what that costs, negative where it gives money back."""
        before = len(self._history(trip))
        self.call(
            "update_reservation_flights",
            reservation_id=trip.id,
            cabin=cabin or trip.cabin,
            flights=flights,
            payment_id=pay,
        )
        return sum(payment.amount for payment in self._history(trip)[before:])

    def add_bags(self, trip: Trip, more: int, pay: str, cabin: Cabin | None = None) -> int:
        """Add bags, and return what that costs.

        Args:
            trip: To which reservation.
            more: How many.
            pay: Id of the payment method.
            cabin: The reservation's cabin by now, where that has been changed.
        """
        booked = trip.reservation
        free = free_bags(trip.user.membership, cabin or trip.cabin) * trip.people
        total = booked.total_baggages + more
        nonfree = max(booked.nonfree_baggages, total - free)
        self.call(
            "update_reservation_baggages",
            reservation_id=trip.id,
            total_baggages=total,
            nonfree_baggages=nonfree,
            payment_id=pay,
        )
        return BAG_PRICE * (nonfree - booked.nonfree_baggages)

    def change_passengers(self, trip: Trip, people: Sequence[Passenger]) -> None:
        """Replace the passengers."""
        listed = [one.model_dump() for one in people]
        self.call("update_reservation_passengers", reservation_id=trip.id, passengers=listed)

    def book(self, origin: str, destination: str, order: Order) -> int:
        """Book flights, and return the total price."""
        people = len(order.people)
        nonfree = max(0, order.bags - free_bags(self._user.membership, order.cabin) * people)
        total = people * (sum(offer.price for offer in order.offers) + INSURANCE_PRICE * order.insured)
        total += BAG_PRICE * nonfree
        first, last = order.offers[0].flights[0], order.offers[-1].flights[-1]
        self.call(
            "book_reservation",
            user_id=self._user.user_id,
            origin=origin,
            destination=destination,
            flight_type="round_trip" if first.origin == last.destination else "one_way",
            cabin=order.cabin,
            flights=[flight for offer in order.offers for flight in offer.flight_list],
            passengers=[one.model_dump() for one in order.people],
            payment_methods=self._split(total, order.pay),
            total_baggages=order.bags,
            nonfree_baggages=nonfree,
            insurance="yes" if order.insured else "no",
        )
        return total

    def _split(self, total: int, pay: Sequence[str]) -> list[dict[str, Any]]:
        payments: list[dict[str, Any]] = []
        for payment_id in pay:
            method = cast("AirlineDB", self._environment.agent_db).user(self._user.user_id).payment_methods[payment_id]
            amount = total if isinstance(method, CreditCard) else min(total, int(method.amount))
            total -= amount
            payments.append({"payment_id": payment_id, "amount": amount})
        if total or not all(payment["amount"] for payment in payments):
            raise TaskFormatError("the payment methods do not fit the price", task_id=self._id)
        return payments

    def send_certificate(self, amount: int) -> None:
        """Send a certificate."""
        self.call("send_certificate", user_id=self._user.user_id, amount=amount)

    def hand_over(self, summary: str) -> None:
        """Hand over to a person; the words of the summary do not matter."""
        self.call(TRANSFER, any_arguments=True, summary=summary)

    def _history(self, trip: Trip) -> list[Payment]:
        return cast("AirlineDB", self._environment.agent_db).reservation(trip.id).payment_history

    # The rest

    def ask(
        self,
        say: str = "",
        *,
        insist: int = 0,
        fallback: str | None = None,
        answers: Sequence[Answer] = (),
        **facts: str,
    ) -> None:
        """Add the user's next request to the script of the user without a model.

        Args:
            say: How it is put; empty for the task's reason, in the first person.
            insist: How often it is repeated when it is refused.
            fallback: The request that follows if this one stays refused.
            answers: Answers to other questions about it.
            facts: Answers to questions about a fact, by its name.
        """
        self._requests.append(ask(say, insist=insist, fallback=fallback, answers=answers, **facts))

    def ask_to_book(
        self, say: str = "", *, insist: int = 0, fallback: str | None = None, payment_method: str, **facts: str
    ) -> None:
        """Add a booking as the user's next request; like :meth:`ask`, with usual facts unless others are given."""
        given = {**BOOKING, **facts, "payment_method": payment_method}
        self.ask(say, insist=insist, fallback=fallback, answers=(), **given)

    def communicate(self, *facts: float | str) -> None:
        """Note down phrases that the agent must say."""
        self._phrases += [str(fact) for fact in facts]

    def build(self, *, rule: str, reason: str, do: str, known: str = "", unknown: str = "", persona: str = "") -> Task:
        """Return the task.

        Args:
            rule: The rule of the policy that it is about.
            reason: The user's reason for the call.
            do: How the user is to act.
            known: What the user knows, apart from name and user id.
            unknown: What the user does not know.
            persona: What the user is like.
        """
        who = f"You are {full_name(self._user.name)}. Your user id is {self._user.user_id}."
        instructions = Instructions(
            domain="airline",
            reason_for_call=reason,
            known_info=f"{who} {known}".strip(),
            unknown_info=unknown or None,
            task_instructions=do,
        )
        gated = ["ACTION"] if any(action.name == TRANSFER for action in self._actions) else []
        return Task(
            id=self._id,
            description=Description(purpose=self._purpose, relevant_policies=rule),
            user_scenario=UserScenario(
                persona=persona or None, instructions=instructions, script=self._script(reason, persona)
            ),
            evaluation_criteria=EvaluationCriteria(
                actions=self._actions, communicate_info=self._phrases, reward_basis=["DB", "COMMUNICATE", *gated]
            ),
        )

    def _script(self, reason: str, persona: str) -> UserScript:
        """Return the user without a model; the first request opens with the reason unless it says something else."""
        facts = {"name": full_name(self._user.name), "user_id": self._user.user_id}
        requests = open_with(reason, self._requests)
        return UserScript(requests=requests, facts=facts, patience=patience(persona, PATIENCE))


def _result(reply: ToolMessage) -> Any:
    return json.loads(reply.content or "null")
