"""Rules that the file of a policy names itself, next to the sentence that states them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..documents import DocumentError, read_text
from ..environment.domain_files import RULE_MARK
from ..errors import ConfigurationError, unknown_name
from .makers import asked_writes, confirmation, no_text_with_calls, one_call_at_a_time, transfer_notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..environment import DomainSpec
    from .rule import Rule

#: The rules that need nothing but the sentence of the policy, by name.
BY_NAME: dict[str, Callable[[str], Rule]] = {
    "asked-writes": asked_writes,
    "confirmation": confirmation,
    "no-text-with-call": no_text_with_calls,
    "one-call": one_call_at_a_time,
    "transfer-notice": transfer_notice,
}
#: Where a sentence begins at the latest: after an empty line, and at an item of a list.
_BEGIN = re.compile(r"^[ \t]*(?:(?:[-*]|\d+\.)[ \t]+|\n)", re.MULTILINE)


def marked_rules(spec: DomainSpec) -> list[Rule]:
    """Return the rules that the default policy of a domain names.

    Raises:
        ConfigurationError: A name is unknown, or there is no sentence before it.
    """
    files = next(iter(spec.policies.values())).normal if spec.policies else ()
    try:
        text = str(spec.policy_text([read_text(Path(spec.folder) / file) for file in files]))
    except (OSError, DocumentError):
        return []  # where the policy is needed, it is an error
    rules = []
    for mark, sentence in marks_in(text, RULE_MARK):
        name = mark[1].strip()
        if name not in BY_NAME:
            problem = unknown_name("rule", name, BY_NAME)
            raise ConfigurationError(f"domain {spec.name!r}: policy: {mark[0].strip()}: {problem}")
        rules.append(BY_NAME[name](sentence))
    return rules


def marks_in(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str]]:
    """Yield the marks of a policy in order, each with the text before it: from the last mark or item of a list on."""
    end = 0
    for mark in pattern.finditer(text):
        before = text[end : mark.start()]
        begin = max((start.end() for start in _BEGIN.finditer(before)), default=0)
        yield mark, " ".join(before[begin:].split())
        end = mark.end()
