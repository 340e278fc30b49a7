"""The price of a model call: reported by the provider, given by the user, or unknown."""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ..documents import DocumentError, read_toml
from ..errors import BudgetError, ConfigurationError, UnknownPriceError, install_extra
from ..plain import json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from .requests import ChatRequest, Usage

#: Arguments with a run's own prices: USD for a token sent, and for one received. They are not sent.
OWN_PRICES = ("input_cost_per_token", "output_cost_per_token")
#: How to give a price otherwise, and how to have one where litellm is missing.
_LIST = "list the model in a file of prices (--tau-prices FILE)"
_LINE = (
    "to a file of prices (--tau-prices FILE) the line {} = {{ input = 2.0, output = 8.0 }}, in USD per million tokens"
)
PRICES_OF_LITELLM = f", or install litellm, which has a list of prices: {install_extra('llm')}"
_MILLION = 1_000_000
_EXPECTED = 'expected a table for each model, such as ["azure/my-deployment"] with input = 2.0 and output = 8.0'


class Price(NamedTuple):
    """The price of a model, in USD per million tokens.

    Attributes:
        input: For tokens that are sent.
        output: For tokens that are received.
        cached: For tokens that are sent and read from the provider's cache; None for the same as ``input``.
    """

    input: float
    output: float
    cached: float | None = None

    def cost(self, usage: Usage) -> float:
        """Return the cost of a call in USD."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        of_cached = self.input if self.cached is None else self.cached
        sent = (usage.prompt_tokens - cached) * self.input + cached * of_cached
        return (sent + usage.completion_tokens * self.output) / _MILLION


#: The prices that the user gives, by the names of the models.
PriceList = dict[str, Price]


def read_prices(path: Path) -> PriceList:
    """Read a price list: a TOML file with a table for each model, in USD per million tokens.

    The keys of a table are ``input``, ``output`` and, if the provider has another price for it, ``cached``.

    Raises:
        ConfigurationError: The file cannot be read, or is not a price list; names the table and the key.
    """
    try:
        tables = read_toml(path)
    except DocumentError as error:
        raise ConfigurationError(f"{path}: is {error}") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror}") from None
    return {name: _price(f"{path}: [{name!r}]", table) for name, table in tables.items()}


def _price(where: str, table: Any) -> Price:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{where}: {_EXPECTED}")
    for key in table:
        if key not in Price._fields and isinstance(table[key], dict):
            raise ConfigurationError(f"{where}: a name with a point must be in quotes: {_quoted(where, table)}")
        if key not in Price._fields:
            raise ConfigurationError(f"{where}: unknown key {key!r}; expected {', '.join(Price._fields)}")
    for key in ("input", "output"):
        if key not in table:
            raise ConfigurationError(f"{where}: {key!r} is missing: USD per million tokens")
    for key, value in table.items():
        if reported_cost(value) is None:
            raise ConfigurationError(f"{where}: {key}: expected USD per million tokens, at least 0, got {value!r}")
    return Price(**{key: float(value) for key, value in table.items()})


def _quoted(where: str, table: dict[str, Any]) -> str:
    """Return the head of the table whose name was read as several, such as ``["gpt-4.1"]``."""
    names = [where.rpartition(": [")[2].removesuffix("]").strip("'")]
    while (inside := next((name for name in table if isinstance(table[name], dict)), None)) is not None:
        names.append(inside)
        table = table[inside]
    return json.dumps([".".join(names)], ensure_ascii=False)


def cost_of_call(
    args: Mapping[str, Any],
    usage: Usage,
    reported: Any,
    price: Price | None,
    listed: Callable[[], float | None],
) -> float | None:
    """Return the cost of a call in USD; None if it is unknown.

    Prices among the arguments of the call come first, then what the provider reports, then the user's price list, then
    that of a library.

    Args:
        args: The arguments of the call.
        usage: Its tokens.
        reported: The cost in the usage that the provider reports; anything but a number is none.
        price: The price in the user's list.
        listed: Returns the cost by the list of a library.
    """
    if any(name in args for name in OWN_PRICES):
        sent, received = (args.get(name) for name in OWN_PRICES)
        if sent is None or received is None:
            return None
        return usage.prompt_tokens * float(sent) + usage.completion_tokens * float(received)
    cost = reported_cost(reported)
    if cost is not None:
        return cost
    return price.cost(usage) if price else listed()


def first_listed(prices: Mapping[str, Price], *names: str | None) -> Price | None:
    """Return the price of the first name that a list has."""
    return next((prices[name] for name in names if name and name in prices), None)


def price_of(prices: Mapping[str, Price], *names: str | None) -> Callable[[Usage], float | None] | None:
    """Return what computes the cost of a call of the first model whose price is known; None for an unknown price.

    Args:
        prices: The prices that the user gives. Others are those of litellm, if it is installed.
        names: Names of the model.
    """
    price = first_listed(prices, *names)
    if price is not None:
        return price.cost
    try:
        # By name: integrations are imported when they are used, and may use what stands above this package.
        listed = importlib.import_module("pytest_tau.integrations.litellm.prices")
        found = next((name for name in names if name and listed.has_price(name)), None)
    except ConfigurationError:  # litellm is not installed
        return None
    return functools.partial(listed.listed_cost, found) if found else None


def reported_cost(value: Any) -> float | None:
    """Return a cost that a provider reports; None if it is not a number of at least 0."""
    # A float cannot have the value of an integer with hundreds of digits.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= sys.float_info.max:
        return None
    return float(value)


def refuse_unpriced(name: str, hint: str = "", *, takes_arguments: bool = True) -> None:
    """Refuse a model without a known price, which a budget needs.

    Args:
        name: The model's name.
        hint: A further way to give a price.
        takes_arguments: Whether the model's arguments may have its price.

    Raises:
        UnknownPriceError: Always; says how to give a price.
    """
    given = f"{' and '.join(map(repr, OWN_PRICES))}, in USD, to its arguments, or " if takes_arguments else ""
    line = _LINE.format(json.dumps(name, ensure_ascii=False))
    raise UnknownPriceError(f"model {name!r} has no known price: add {given}{line}{hint}")


def check_price(check: Callable[..., None], request: ChatRequest, prices: Mapping[str, Price]) -> None:
    """Refuse a request to a model without a known price; what else the check of a client finds, its call reports.

    Raises:
        UnknownPriceError: The price is not known, and the provider does not report it.
    """
    try:
        check(request.model, request.args, priced=True, prices=prices)
    except UnknownPriceError:
        raise
    except ConfigurationError:
        return


class PriceCheck:
    """Refuses model calls of unknown price in a run with a budget, which would not count them."""

    def __init__(self) -> None:
        self._priced: set[str] = set()
        self._unpriced: set[str] = set()

    async def before(self, chat: object, request: ChatRequest) -> None:
        """Refuse a call of unknown price.

        A chat model may have a method ``refuse_unpriced``, which raises an ``UnknownPriceError``. The answers of any
        other one have their price.

        Raises:
            BudgetError: The price is not known; says how to give it.
        """
        if request.model in self._priced:
            return
        try:
            if request.model in self._unpriced:
                refuse_unpriced(request.model, takes_arguments=False)
            if (refuse := getattr(chat, "refuse_unpriced", None)) is not None:
                await asyncio.to_thread(refuse, request)
        except UnknownPriceError as error:
            raise BudgetError(f"the budget cannot be kept: {error}", of_run=True, is_priced=False) from None

    def after(self, request: ChatRequest, *, is_priced: bool) -> None:
        """Note whether the price of a model is known, by its answer or by a list."""
        (self._priced if is_priced else self._unpriced).add(request.model)


def price_hint() -> str:
    """Return how to give a price, for a run with calls of unknown cost."""
    return f"for a cost, {_LIST}{'' if importlib.util.find_spec('litellm') else PRICES_OF_LITELLM}"
