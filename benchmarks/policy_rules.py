"""The cost of checking the rules of a policy in a conversation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pytest_tau import asimulate, load_domain
from pytest_tau.policy import check_policy, load_rules

from .figures import Figure
from .measuring import in_unit, timings
from .simulations import DOMAINS, SETTINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .figures import Options


def policy(options: Options) -> Iterator[Figure]:
    """Measure checking all rules of a domain in the conversations of its rule-based agent, on bundled data.

    The agent keeps every rule, so each rule looks at the whole conversation. Domains without rules are not listed.
    """
    loop = asyncio.new_event_loop()
    for name in DOMAINS:
        domain, found = load_domain(name), []
        if not load_rules(domain.spec):
            continue
        tasks = domain.tasks()
        for task in tasks[: options.count(len(tasks), 3)]:
            talk = loop.run_until_complete(
                asimulate(task, domain=domain, agent="rules", user="scripted", settings=SETTINGS)
            )
            check = lambda task=task, talk=talk, domain=domain: check_policy(talk.messages, task, domain)  # noqa: E731
            found += timings(check, options.count(5, 1))
        yield Figure(domain.name, "ms", *in_unit(found, 1e3))
    loop.close()
