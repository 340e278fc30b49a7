"""Counts breaches of policies in stored runs: ``python -m benchmarks.policy_breaches FILE|FOLDER … [--data DIR]``.

Each conversation is checked by the rules of its domain. The table has for each rule the number of conversations with a
breach, and of those that have reward 1. ``--sample N`` shows N breaches to be read by hand: they are drawn rule by rule
in turn, so that a rare rule is part of the sample, too, and from conversations with reward 1 as far as there are any.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_tau.domains import domain_names, load_domain
from pytest_tau.policy import load_rules
from pytest_tau.regrade.regrade import RegradeSettings, regrade_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_tau.environment import Domain
    from pytest_tau.policy import RecordedBreach

#: Any of the conversations' rules, as a row of the table.
ANY = "any rule"


class Place(NamedTuple):
    """A breach and where it is: the domain, the file's name, and the number of the conversation in it, from 0."""

    domain: str
    file: str
    number: int
    reward: float
    breach: RecordedBreach

    def __str__(self) -> str:
        """Return the place and the breach in one line."""
        return f"{self.file} {self.number} (reward {self.reward:g}) {self.breach.rule}: {self.breach.line(240)}"


@dataclass
class Count:
    """The conversations of one domain.

    Attributes:
        conversations: How many were checked.
        passed: How many of them have reward 1.
        checked: In how many a rule was checked, by its name.
        breached: In how many a rule was breached.
        breached_passed: In how many of those with reward 1.
        places: Every breach.
        problems: Rules that could not be checked, with the reason.
    """

    conversations: int = 0
    passed: int = 0
    checked: Counter[str] = field(default_factory=Counter)
    breached: Counter[str] = field(default_factory=Counter)
    breached_passed: Counter[str] = field(default_factory=Counter)
    places: list[Place] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class _Domains:
    """The bundled domains, with the given data."""

    def __init__(self, data: Path | None) -> None:
        self._data = data

    def names(self) -> list[str]:
        return domain_names()

    def load(self, name: str, run: object = None) -> Domain:
        return load_domain(name, self._data) if self._data else load_domain(name)


def count_breaches(files: Iterable[Path], data: Path | None = None) -> dict[str, Count]:
    """Check the conversations of result files, and return what was found by the name of the domain.

    Args:
        files: Result files of any format that ``tau regrade`` reads.
        data: Official data; None for the bundled data.
    """
    counts: dict[str, Count] = {}
    for file in files:
        report = asyncio.run(regrade_file(file, RegradeSettings(check_policy=True), _Domains(data)))
        count = counts.setdefault(report.domain or "none", Count())
        for number, result in enumerate(report.results):
            reward = result.stored.reward if result.stored else result.fresh.reward
            count.conversations += 1
            count.passed += reward == 1
            if result.policy is None:
                continue
            count.problems += [f"{file.name} {number}: {name}: {why}" for name, why in result.policy.problems.items()]
            breached = {each.rule for each in result.policy.breaches}
            breached |= {ANY} if breached else set()
            count.checked.update([*result.policy.checked, ANY])
            count.breached.update(breached)
            count.breached_passed.update(breached if reward == 1 else ())
            count.places += [
                Place(report.domain or "", file.name, number, reward, each) for each in result.policy.breaches
            ]
    return counts


def sample(counts: dict[str, Count], size: int, seed: int = 0) -> list[Place]:
    """Return breaches drawn rule by rule in turn, at most one of a rule from each conversation, reward 1 first."""
    places: dict[tuple[str, str], dict[tuple[str, int], Place]] = defaultdict(dict)
    for place in (place for count in counts.values() for place in count.places):
        places[place.domain, place.breach.rule].setdefault((place.file, place.number), place)
    # Drawn from the end. The order of two breaches does not depend on which others there are.
    waiting = [sorted(each.values(), key=lambda place: (place.reward, _lot(place, seed))) for each in places.values()]
    found: list[Place] = []
    while len(found) < size and any(waiting):
        for each in waiting:
            if each and len(found) < size:
                found.append(each.pop())
    return sorted(found, key=lambda place: (place.domain, place.breach.rule, place.file, place.number))


def _lot(place: Place, seed: int) -> str:
    return hashlib.sha256(f"{seed} {place.file} {place.number} {place.breach.rule}".encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> None:
    """Count, and print the table."""
    options = _parser().parse_args(arguments)
    counts = count_breaches(_files(options.paths), options.data)
    for name, count in sorted(counts.items()):
        print(f"\n{name}: {count.conversations} conversations, {count.passed} with reward 1\n")
        print(f"  {'rule':<22}{'checked':>9}{'breached':>10}{'reward 1':>10}{'breaches':>10}")
        for rule in _rules(name, count, options.data):
            numbers = (count.checked[rule], count.breached[rule], count.breached_passed[rule])
            total = sum(rule in (ANY, place.breach.rule) for place in count.places)
            print(f"  {rule:<22}{numbers[0]:>9}{numbers[1]:>10}{numbers[2]:>10}{total:>10}")
        for problem in count.problems:
            print(f"  {problem}")
    drawn = sample(counts, options.sample, options.seed)
    shown = [place for count in counts.values() for place in count.places if place.breach.rule in options.rule]
    for place in [*drawn, *shown]:
        print(f"\n{place}")
    if options.json:
        found = {name: _as_json(count) for name, count in counts.items()}
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.policy_breaches", description="Counts breaches of policies in stored runs."
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|FOLDER", help="result files, or folders of them")
    parser.add_argument("--data", type=Path, metavar="DIR", help="official data (default: bundled)")
    parser.add_argument("--rule", action="append", default=[], metavar="NAME", help="show the breaches of a rule")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="show N breaches, to be read by hand")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the sample (default: 0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts and every breach")
    return parser


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted([*path.glob("*.json"), *path.glob("*.json.gz")]) if path.is_dir() else [path]
    return found


def _rules(domain: str, count: Count, data: Path | None) -> list[str]:
    """Return the rules of a domain in their order, also those without a breach."""
    names = [rule.name for rule in load_rules(_Domains(data).load(domain).spec)] if domain in domain_names() else []
    return [*names, *(name for name in count.breached if name not in (*names, ANY)), ANY]


def _as_json(count: Count) -> dict[str, object]:
    rules = {
        rule: {
            "checked": count.checked[rule],
            "breached": count.breached[rule],
            "breached_passed": count.breached_passed[rule],
        }
        for rule in count.checked
    }
    breaches = [
        {"file": each.file, "number": each.number, "reward": each.reward} | each.breach.as_dict()
        for each in count.places
    ]
    return {"conversations": count.conversations, "passed": count.passed, "rules": rules, "breaches": breaches}


if __name__ == "__main__":
    main()
