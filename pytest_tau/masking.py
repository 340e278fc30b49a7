"""Masking of keys, and of what identifies an account, in texts and settings that are shown or stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from .variables import environment_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MASK: Final = "***"
__all__ = [
    "KEY_LIKE",
    "MASK",
    "is_secret",
    "mask_secrets",
    "masked",
]

#: A key in a text, also if a provider has masked a part of it.
KEY_LIKE: Final = re.compile(
    r"\b(?:sk|rk|pk)-[\w*.…-]{4,}|\b(?:sk|rk|pk|whsec)_(?:(?:live|test)_)?\w{16,}|\bAIza[\w-]{8,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\b(?:hf|gsk|r8|npm|dop_v1|gh[pousr])_\w{8,}|\bgithub_pat_\w{8,}"
    r"|\b(?:xai|glpat|gldt|glrt|pypi|lsv2|pplx|tvly|nvapi)-[\w-]{12,}|\bxox[abeprs]-[\w-]{8,}"
    r"|\bSG\.[\w-]{16,}\.[\w-]{16,}|\bya29\.[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*"
    r"|\b(?i:bearer)\s+[^\s,;'\"\\]+|\b(?i:basic)\s+(?=[A-Za-z+/]*[\d=])[\w+/=]{8,}|(?<=//)[^/@\s'\"]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-'\"]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    # Organizations and projects as OpenAI names them in its errors.
    r"|\borg-\w{8,}|\bproj_\w{8,}"
)
#: A secret behind its name: in a header, an assignment, JSON, the repr of a dict or of pairs. Of a cookie, all of it.
_NAMED: Final = re.compile(
    r"(?P<name>(?<![^\W_])(?:(?:api|access|secret|private|subscription|account|auth|client|master|shared|signing|"
    r"license|service)[-_ ]?key|(?:access|auth|refresh|session|id|bearer|api|security|sas)[-_ ]?token|(?:client[-_ ]?)?"
    r"secret|password|passwd|pwd(?=\s?=\s?[^/\s])|passphrase|(?:proxy-)?authorization|sig|signature|"
    r"x-[\w-]{0,40}(?:key|token|auth|signature)|(?P<cookie>(?:set-)?cookie))[\"']?\s{0,3}(?:[:=]|=>|,(?=\s?b?[\"']))\s{0,3}b?)"
    r"(?:\"(?P<double>[^\"\n\\]{4,})|'(?P<single>[^'\n\\]{4,})|(?(cookie)[^\s\"'][^\n\"']{3,}|"
    r"(?:(?:bearer|basic|token|digest|apikey)\s+)?[^\s\"',;&)}\]\\]{6,}))",
    re.IGNORECASE,
)
#: Names of arguments, settings and variables of the environment that are secrets, in words.
_PRIVATE: Final = re.compile(
    r"(^|_)(key|apikey|(?<!per_)token|secret|passwd|password|passphrase|cookies?|credentials?|headers?|auth|"
    r"authorization|sig|signature|sas|jwt|bearer)($|_)|^(extra|default)_query$"
)
_LOGIN: Final = re.compile(r"://[^/@\s]+@")
#: Parameters of a URL that are credentials.
_CREDENTIAL: Final = re.compile(
    r"([?&](?:code|sig|[^=&#\s]*(?:key|token|secret|password|signature|credential))=)[^&#\s'\"]+", re.IGNORECASE
)
#: Arguments by which providers know who calls: an account, a project, a person.
_ACCOUNT: Final = re.compile(
    r"(^|_)(organi[sz]ation|org|project|tenant|subscription|account|username|email|arn)($|_)"
    r"|^(end_)?user(_id)?$|^(safety|customer)_identifier$|^(client|space|workspace)_id$"
    r"|^aws_(role|session|profile)_name$|^aws_external_id$"
)
#: Variables of the environment that identify an account.
_ACCOUNT_VARIABLES: Final = (
    *("OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "OPENAI_PROJECT", "OPENAI_PROJECT_ID"),
    *("VERTEXAI_PROJECT", "GOOGLE_CLOUD_PROJECT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AWS_ROLE_ARN", "AWS_PROFILE"),
)
#: The query of an address.
_QUERY: Final = re.compile(r"(?<=\S)\?\S*")
#: Shorter values are switches and names; masking them would mask ordinary words.
_SHORTEST: Final = 8


def mask_secrets(text: str, args: Mapping[Any, Any] | None = None) -> str:
    """Mask everything in a text that is, or looks like, a key, or identifies an account.

    Args:
        text: The text.
        args: Arguments of model calls, whose secrets are masked, too, as are those of the environment.
    """
    return _masked_text(text, _known_secrets(args))


def masked(value: Any, args: Mapping[Any, Any] | None = None) -> Any:
    """Return a JSON value whose texts are masked."""
    return _masked(value, _known_secrets(args)) if value else value


def _masked(value: Any, secrets: Sequence[str]) -> Any:
    if isinstance(value, str):
        return _masked_text(value, secrets)
    if isinstance(value, dict):
        return {name: _masked(part, secrets) for name, part in value.items()}
    return [_masked(part, secrets) for part in value] if isinstance(value, list | tuple) else value


def _masked_text(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, MASK)
    return _without_login(KEY_LIKE.sub(MASK, _NAMED.sub(_without_value, text)))


def _known_secrets(args: Mapping[Any, Any] | None) -> list[str]:
    """Return the secrets among arguments and in the environment, the longest first."""
    variables = environment_variables()
    account = {name: variables[name] for name in _ACCOUNT_VARIABLES if name in variables}
    secrets = {
        *_secrets(args or {}, _is_private),
        *_secrets(variables, is_secret),
        *_secrets(account, _is_private, within=True),
    }
    return sorted((secret for secret in secrets if len(secret) >= _SHORTEST), key=len, reverse=True)


def shown_setting(value: str) -> str:
    """Return a setting as it is shown: without keys, and an address without its query."""
    return mask_secrets(_QUERY.sub("", value))


def _without_login(text: str) -> str:
    """Return a text without the credentials of URLs in it."""
    return _CREDENTIAL.sub(rf"\1{MASK}", _LOGIN.sub(f"://{MASK}@", text))


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Return whether a value of this name is a secret, such as ``api_key``, ``apiKey`` and ``X-Api-Key``."""
    return _PRIVATE.search(_in_words(name)) is not None


@lru_cache(maxsize=4096)
def identifies_account(argument: str) -> bool:
    """Return whether a model argument of this name identifies an account, a project or a person."""
    return _ACCOUNT.search(_in_words(argument)) is not None


def _is_private(name: str) -> bool:
    return is_secret(name) or identifies_account(name)


def _in_words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def _without_value(found: re.Match[str]) -> str:
    quote = '"' if found["double"] else "'" if found["single"] else ""
    return f"{found['name']}{quote}{MASK}"


def _secrets(value: Any, is_private: Callable[[str], bool], *, within: bool = False) -> Iterator[str]:
    """Yield every text under a private name, at any depth; and its words, as of ``Bearer …``."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _secrets(part, is_private, within=within or is_private(str(name)))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _secrets(part, is_private, within=within)
    elif isinstance(value, str) and within:
        yield value
        yield from value.split()
