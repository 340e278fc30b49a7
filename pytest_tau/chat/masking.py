"""Masking of keys, and of what identifies an account, in texts that are shown or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .requests import identifies_account, without_login, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: A key in a text, also if a provider has masked a part of it.
KEY_LIKE = re.compile(
    r"\b(?:sk|rk|pk)-[\w*.…-]{4,}|\b(?:sk|rk|pk|whsec)_(?:(?:live|test)_)?\w{16,}|\bAIza[\w-]{8,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\b(?:hf|gsk|r8|npm|dop_v1|gh[pousr])_\w{8,}|\bgithub_pat_\w{8,}"
    r"|\b(?:xai|glpat|gldt|glrt|pypi|lsv2|pplx|key|tvly|nvapi)-[\w-]{12,}|\bxox[abeprs]-[\w-]{8,}|\bSG\.[\w-]{16,}\.[\w-]{16,}"
    r"|\bya29\.[\w-]{8,}|\beyJ[\w-]+\.[\w-]+\.[\w-]*|\b(?i:bearer)\s+[^\s,;'\"]+|(?<=//)[^/@\s]+(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
    # Organizations and projects as OpenAI names them in its errors.
    r"|\borg-\w{8,}|\bproj_\w{8,}"
)
#: Variables of the environment that identify an account.
_ACCOUNT_VARIABLES = (
    *("OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "OPENAI_PROJECT", "OPENAI_PROJECT_ID"),
    *("VERTEXAI_PROJECT", "GOOGLE_CLOUD_PROJECT", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AWS_ROLE_ARN", "AWS_PROFILE"),
)


def mask_secrets(text: str, args: Mapping[str, Any]) -> str:
    """Mask everything in a text that is, or looks like, a key, or identifies an account."""
    account = {name: os.environ[name] for name in _ACCOUNT_VARIABLES if name in os.environ}
    secrets = {
        *_secrets(args, _is_private),
        *_secrets(os.environ, is_secret),
        *_secrets(account, _is_private, within=True),
    }
    # Shorter values are switches and names; masking them would mask ordinary words.
    for secret in sorted((one for one in secrets if len(one) >= 8), key=len, reverse=True):
        text = text.replace(secret, "***")
    return without_login(KEY_LIKE.sub("***", text))


def is_secret(name: str) -> bool:
    """Return whether an argument or a variable of this name is a secret."""
    return not without_secrets({name: None})


def _is_private(name: str) -> bool:
    return is_secret(name) or identifies_account(name)


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
