"""Checks of model names, keys and arguments before anything runs."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ...chat.call_arguments import refuse_arguments, refuse_name, thinks
from ...chat.prices import Price, refuse_unpriced
from ...errors import ConfigurationError, suggestion, unknown_name
from ...masking import is_secret, mask_secrets
from .client import load
from .prices import will_be_priced

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Sent to a server that needs no key, because the client library requires one.
NO_KEY = "no-key-needed"
#: Providers with OpenAI's own client and variables.
_OPENAI = frozenset({"openai", "custom_openai", "text-completion-openai"})
#: Providers with OpenAI's chat format that litellm does not list as compatible.
_OPENAI_FORMAT = frozenset({"azure", "azure_ai", "openrouter", "mistral"})
#: Providers all of whose models litellm lists. With others a name may be a deployment, a file or an endpoint.
_LISTED = frozenset({"openai", "anthropic", "gemini", "mistral", "deepseek", "xai", "cohere", "cohere_chat"})


class _Route(NamedTuple):
    """The server that litellm would send a call to.

    Attributes:
        name: The model's name without its provider.
        provider: litellm's name of the provider.
        key: A key that litellm has found, or makes up if none is needed.
        base: The address, if the user gives one.
    """

    name: str
    provider: str
    key: str | None
    base: str | None


def check(
    name: str, args: Mapping[str, Any], *, priced: bool = False, prices: Mapping[str, Price] = MappingProxyType({})
) -> None:
    """Check a model's name, arguments and key before it is called.

    Args:
        name: The model's name, with its provider as litellm spells it.
        args: The arguments of its calls.
        priced: Also check that its price is known.
        prices: The user's price list.

    Raises:
        ConfigurationError: An unknown provider, a misspelt name, an argument that cannot be one, a missing key, or
            an unknown price.
    """
    refuse_arguments(name, args)
    if thinks(name, args) and args.get("temperature") not in (None, 1):
        problem = f"'temperature' is {args['temperature']!r}, but with thinking Anthropic accepts 1 only: remove it"
        raise ConfigurationError(f"model {name!r}: {problem}")
    route = _route(name, args)
    if route.base is None:
        _check_name(name, route)
    missing = _missing_keys(name, args, route)
    if missing:
        problem = f"model {name!r} needs a key: set {' or '.join(missing)}, or add 'api_key' to its arguments"
        raise ConfigurationError(problem)
    if priced and not will_be_priced(name, route.provider, args, prices):
        refuse_unpriced(name)


def provider_of(name: str, args: Mapping[str, Any]) -> str | None:
    """Return litellm's name of the provider of a model; None for a name without a known provider."""
    try:
        return _route(name, args).provider
    except ConfigurationError:
        return None


def speaks_openai(name: str, args: Mapping[str, Any]) -> bool:
    """Return whether the messages of a model's server are those of OpenAI's chat format, as litellm receives them."""
    provider = provider_of(name, args)
    return provider in _OPENAI | _OPENAI_FORMAT or provider in load().openai_compatible_providers


def connection_arguments(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Return further arguments of a call: a placeholder key for a server that needs none."""
    if args.get("api_key"):
        return {}
    route = _route(name, args)
    has_no_key = not (_has_own_key(route) or os.environ.get("OPENAI_API_KEY"))
    return {"api_key": NO_KEY} if has_no_key and _is_openai_compatible(route) and _is_own_server(route) else {}


def describe_key(name: str, args: Mapping[str, Any]) -> str:
    """Return a description of the key that a call was made with."""
    if args.get("api_key"):
        return "the key in the model's arguments"
    try:
        route = _route(name, args)
    except ConfigurationError:
        return "the key"
    missing = load().validate_environment(name)["missing_keys"]
    if missing:
        return f"a call without a key ({' or '.join(missing)} not set)"
    usual = f"{route.provider.upper()}_API_KEY"
    return f"the key in {usual}" if usual in os.environ else "the key"


def _route(name: str, args: Mapping[str, Any]) -> _Route:
    litellm = load()
    base = args.get("api_base") or args.get("base_url") or litellm.api_base
    refuse_name(name)  # without a name litellm takes the prefix for one
    try:
        model, provider, key, _ = litellm.get_llm_provider(
            name, custom_llm_provider=args.get("custom_llm_provider"), api_base=base
        )
    except litellm.BadRequestError as error:
        # Not chained: its text may contain a key.
        raise ConfigurationError(_unknown_provider(litellm, name, mask_secrets(str(error), args))) from None
    addresses = ("OPENAI_BASE_URL", "OPENAI_API_BASE") if provider in _OPENAI else (f"{provider.upper()}_API_BASE",)
    bases = [os.environ[variable] for variable in addresses if os.environ.get(variable)]
    return _Route(model, provider, key, base or next(iter(bases), None))


def _unknown_provider(litellm: Any, name: str, problem: str) -> str:
    provider, slash, _ = name.partition("/")
    providers = [str(getattr(known, "value", known)) for known in litellm.provider_list]
    if provider in providers:
        return (
            f"model {name!r}: {problem}" if slash else f"{name!r} is a provider without a model: expected {name}/MODEL"
        )
    if slash:
        return f"model {name!r}: {unknown_name('provider', provider, providers)}"
    hint = suggestion(name, litellm.model_list, cutoff=0.8)
    return f"model {name!r} has no known provider{hint} (for an OpenAI-compatible server, write openai/{name})"


def _is_own_server(route: _Route) -> bool:
    hosted = {_host(endpoint) for endpoint in ("api.openai.com", *load().openai_compatible_endpoints)}
    return route.base is not None and _host(route.base) not in hosted


def _host(address: str) -> str | None:
    return urlsplit(address if "//" in address else f"//{address}").hostname


def _is_openai_compatible(route: _Route) -> bool:
    return route.provider in _OPENAI or route.provider in load().openai_compatible_providers


def _has_own_key(route: _Route) -> bool:
    """Return whether litellm has a key of its own settings, or by another of its variables."""
    litellm = load()
    return bool(route.key or litellm.api_key or getattr(litellm, f"{route.provider}_key", None))


def _missing_keys(name: str, args: Mapping[str, Any], route: _Route) -> list[str]:
    """Return the variables of which one has to be set."""
    if args.get("api_key") or _has_own_key(route) or (_is_openai_compatible(route) and _is_own_server(route)):
        return []
    if any(is_secret(argument) and not isinstance(args[argument], (int, float)) for argument in args):
        return []  # another credential is given: azure_ad_token, extra_headers …; a price has a number
    missing = load().validate_environment(name)["missing_keys"]
    # Projects, regions, addresses and the keys of clouds have other sources, and defaults, that litellm does not list.
    return [variable for variable in missing if variable.endswith(("_API_KEY", "_API_TOKEN"))]


def _check_name(name: str, route: _Route) -> None:
    """Refuse a misspelt name; an unknown one may be a new model that litellm does not list yet."""
    if route.provider not in _LISTED or ":" in route.name:
        return
    known = {model.removeprefix(f"{route.provider}/") for model in load().models_by_provider.get(route.provider, ())}
    if not known or route.name in known:
        return
    hint = suggestion(route.name.lower(), known, 0.83, shown=lambda close: name.removesuffix(route.name) + close)
    if hint and _is_misspelt(route.name, known):
        raise ConfigurationError(
            f"unknown model {name!r}{hint} (if litellm does not list the model, add its 'api_base')"
        )


#: Letters that look like digits.
_LOOKALIKES = str.maketrans("olis", "0115")


def _is_misspelt(name: str, known: set[str]) -> bool:
    """Return whether a name has the separators of a known one in other places, or a word that is nearly one of theirs.

    Another number is not a typo, but the next version.
    """
    if _letters_and_digits(name) in map(_letters_and_digits, known):
        return True
    if name.translate(_LOOKALIKES) in {model.translate(_LOOKALIKES) for model in known}:
        return True
    name = name.lower()
    words = {word for model in known for word in _words(model)}
    return any(word not in words and get_close_matches(word, words, n=1, cutoff=0.66) for word in _words(name))


def _letters_and_digits(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z]{2,}", name)
