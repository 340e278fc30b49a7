"""The initial state of a recorded conversation: the smallest one in which its calls have the recorded results."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from ....documents import json_or_none
from ....environment import is_error, same_result
from ....errors import TauError
from ....models import FunctionCall, InitializationData, InitialState, Task, UserScenario, call_as_text, calls_in
from ....plain import json
from ....text import shorten_both

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ....environment import Domain, Environment
    from ....models import Call, Message

#: Explanations that are followed up at a time, and the functions that one may have.
_WIDTH, _MOST_FUNCTIONS = 4, 12
#: The functions that are added at a time where no single one explains more.
_LONGEST_GROUP = 4
#: The share of a record's fields that an object in a result must have to be taken for such a record.
_ALIKE = 0.6


class Difference(NamedTuple):
    """A call whose result on the domain is not the recorded one.

    Attributes:
        number: The number of the call, from 0.
        message_idx: The number of the calling message, from 0.
        text: The call, and both results where they begin to differ.
        alike: The share of words that both results have, from 0 to 1.
    """

    number: int
    message_idx: int
    text: str
    alike: float


class Inferred(NamedTuple):
    """An initial state, and the calls that it does not explain."""

    state: InitialState | None
    differences: list[Difference]


def playable(messages: Sequence[Message]) -> list[Call]:
    """Return the calls of a conversation that can be made again, in order: those with a result of the tool itself."""
    return [
        call
        for call in calls_in(messages)
        if call.result is not None and call.result.executed and call.call.malformed is None
    ]


def infer_state(domain: Domain, calls: Sequence[Call]) -> Inferred:
    """Return the smallest initial state that explains the results of calls.

    Three sources are tried one after the other, each only for what the earlier ones leave unexplained: the state of the
    domain as it is, after the functions by which all of its tasks begin; the functions by which some begin, with the
    arguments that occur in the conversation; and the records that were read before they were written, with the
    functions once more. All are checked by making the calls.

    Args:
        domain: The domain.
        calls: The calls with their results, oldest first.
    """
    best = _with_functions(domain, calls, _Candidate((), {}, play(calls, domain.environment())))
    if best.differences:
        best = _with_records(domain, calls, best)
    if best.differences and best.records:
        # What only functions explain may come after a record that is another one.
        further = _with_functions(domain, calls, best)
        best = further if _explained(further, best) else best
    return Inferred(_state(best.functions, best.records), best.differences)


def play(calls: Sequence[Call], environment: Environment, *, first_only: bool = False) -> list[Difference]:
    """Make calls on an environment; return those with other results than the recorded ones.

    Args:
        calls: The calls, oldest first.
        environment: A fresh environment; changed by this.
        first_only: Stop at the first difference.
    """
    differences = []
    for number, made_call in enumerate(calls):
        call, recorded = made_call.call, (made_call.result.content if made_call.result else "") or ""
        if not environment.has_tool(call.name, call.requestor) or (made_call.result and made_call.result.fault):
            continue
        now = environment.call(call.name, call.arguments, call.requestor).content or ""
        if not same_result(recorded, now):
            then, current = shorten_both(" ".join(recorded.split()), " ".join(now.split()), 80)
            text = f"{call_as_text(call.name, call.arguments)}: recorded {then!r}, on the domain {current!r}"
            mine, other = set(recorded.split()), set(now.split())
            alike = len(mine & other) / len(mine | other) if mine | other else 0.0
            differences.append(Difference(number, made_call.message_idx, text, alike))
            if first_only:
                break
    return differences


def replayed(domain: Domain, state: InitialState, calls: Sequence[Call]) -> list[Difference]:
    """Return the calls that have other results in an initial state than the recorded ones."""
    return play(calls, environment_in(domain, state))


def environment_in(domain: Domain, state: InitialState | None) -> Environment:
    """Return a fresh environment in an initial state.

    Raises:
        TauError: The state does not fit the domain.
        Exception: A function of the state fails.
    """
    return domain.environment(Task(id="inferred", user_scenario=UserScenario(instructions=""), initial_state=state))


class _Candidate(NamedTuple):
    functions: tuple[FunctionCall, ...]
    records: dict[str, Any]
    differences: list[Difference]

    @property
    def reached(self) -> tuple[float, float]:
        """Return how far it explains the calls: the number of the first other result, and how alike that is."""
        first = self.differences[0] if self.differences else None
        return (float("inf"), 1.0) if first is None else (first.number, first.alike)


def _state(functions: Sequence[FunctionCall], records: dict[str, Any]) -> InitialState | None:
    if not functions and not records:
        return None
    return InitialState(
        initialization_actions=list(functions) or None,
        initialization_data=InitializationData(agent_data=records) if records else None,
    )


def _tried(
    domain: Domain,
    calls: Sequence[Call],
    functions: Sequence[FunctionCall],
    records: dict[str, Any],
    *,
    first_only: bool = False,
) -> _Candidate | None:
    """Return a candidate with its differences; None if the state cannot be made."""
    try:
        environment = environment_in(domain, _state(functions, records))
    except Exception:  # noqa: BLE001 - functions of the domain, tried with arguments that may not fit
        return None
    return _Candidate(tuple(functions), records, play(calls, environment, first_only=first_only))


# Functions by which tasks of the domain begin


def _with_functions(domain: Domain, calls: Sequence[Call], start: _Candidate) -> _Candidate:
    """Return the best explanation by functions, found one function after the other, or a group where none helps."""
    known = _Functions.of(domain, " ".join(text_of(call) for call in calls))

    def tried(chosen: frozenset[int]) -> _Candidate | None:
        functions = [known.functions[number] for number in sorted(chosen)]
        return _tried(domain, calls, functions, start.records, first_only=True)

    begun = {chosen: explanation for chosen in known.common if (explanation := tried(chosen)) is not None}
    beam: dict[frozenset[int], _Candidate] = begun or {frozenset(): start}
    best = max(beam.items(), key=lambda pair: pair[1].reached)
    for _ in range(_MOST_FUNCTIONS):
        further: dict[frozenset[int], _Candidate] = {}
        for steps in (known.single, known.groups):
            for chosen, candidate in beam.items():
                for key in {chosen | step for step in steps} - further.keys():
                    explanation = tried(key)
                    if explanation is not None and explanation.reached > candidate.reached:
                        further[key] = explanation
            if further:
                break
        ranked = sorted(further.items(), key=lambda pair: (*(-part for part in pair[1].reached), len(pair[0])))
        if not ranked:
            break
        beam = dict(ranked[:_WIDTH])
        best = max(best, ranked[0], key=lambda pair: pair[1].reached)
        if not best[1].differences:
            break
    chosen = best[0] if best[1].differences else _without_idle_writes(domain, calls, known, best[0], start.records)
    complete = _tried(domain, calls, [known.functions[number] for number in sorted(chosen)], start.records)
    return start if complete is None else complete


def _without_idle_writes(
    domain: Domain, calls: Sequence[Call], known: _Functions, chosen: frozenset[int], records: dict[str, Any]
) -> frozenset[int]:
    """Return an explanation with further functions because of which more of the writes had an effect that was seen.

    What a person said and no tool has shown, such as being abroad, leaves a write without any effect otherwise.
    """

    def idle(key: frozenset[int]) -> int:
        """Return the number of writes without which all other results are the same; many if any is not explained."""
        state = _state([known.functions[number] for number in sorted(key)], records)
        try:
            environment = environment_in(domain, state)
        except Exception:  # noqa: BLE001 - as in _tried
            return len(calls)
        writes = [n for n, call in enumerate(calls) if environment.mutates(call.call.name, call.call.requestor)]
        if play(calls, environment, first_only=True):
            return len(calls)
        rest = ([call for n, call in enumerate(calls) if n != write] for write in writes)
        return sum(not play(others, environment_in(domain, state), first_only=True) for others in rest)

    least = idle(chosen)
    for steps in (known.single, known.groups) if least else ():
        better = [(idle(key), len(key), sorted(key)) for key in {chosen | step for step in steps} - {chosen}]
        if better and min(better)[0] < least:
            least, _, numbers = min(better)
            chosen = frozenset(numbers)
    return chosen


class _Functions(NamedTuple):
    """The functions by which tasks of a domain begin.

    Attributes:
        functions: All, in their usual order.
        common: Those by which every task begins: the first of each entry, with different arguments.
        single: Each of them.
        groups: Those that follow each other.
    """

    functions: list[FunctionCall]
    common: list[frozenset[int]]
    single: list[frozenset[int]]
    groups: list[frozenset[int]]

    @classmethod
    def of(cls, domain: Domain, text: str) -> _Functions:
        """Return the functions whose ids and numbers occur in a text."""
        places: dict[str, list[float]] = {}
        calls_by_key: dict[str, FunctionCall] = {}
        sequences: list[list[str]] = []
        everywhere: set[str] | None = None
        for task in domain.tasks(None):
            calls = (task.initial_state.initialization_actions if task.initial_state else None) or []
            names = {call.func_name for call in calls}
            everywhere = names if everywhere is None else everywhere & names
            keys = [call.model_dump_json() for call in calls]
            for place, (key, call) in enumerate(zip(keys, calls, strict=True)):
                if all(value in text for value in call.arguments.values() if is_key(value)):
                    calls_by_key[key] = call
                    places.setdefault(key, []).append(place / len(calls))
            sequences.append([key for key in keys if key in calls_by_key])
        order = sorted(calls_by_key, key=lambda key: sum(places[key]) / len(places[key]))
        numbers = {key: number for number, key in enumerate(order)}
        runs = {
            frozenset(numbers[key] for key in keys[start : start + size])
            for keys in sequences
            for size in range(2, _LONGEST_GROUP + 1)
            for start in range(len(keys) - size + 1)
        }
        groups = sorted(runs, key=lambda run: (len(run), sorted(run)))
        functions = [calls_by_key[key] for key in order]
        same = [
            [n for n, function in enumerate(functions) if function.func_name == name]
            for name in sorted(everywhere or ())
        ]
        common = [frozenset(chosen) for chosen in product(*(alternatives for alternatives in same if alternatives))]
        return cls(functions, common, [frozenset((number,)) for number in range(len(order))], groups)


def is_key(value: Any) -> bool:
    """Return whether an argument is an id or a number of something, which a conversation about it has."""
    return isinstance(value, str) and sum(map(str.isdigit, value)) > 2


def text_of(call: Call) -> str:
    """Return the arguments and the result of a call as one text."""
    return f"{json.dumps(call.call.arguments, ensure_ascii=False)} {call.result.content if call.result else ''}"


# Records that were read


def _with_records(domain: Domain, calls: Sequence[Call], start: _Candidate) -> _Candidate:
    """Return the explanation with records as they were read, without those that explain nothing."""
    tables = _tables(environment_in(domain, _state(start.functions, {})).dump()["agent"])
    environment, proposals = environment_in(domain, None), dict[tuple[str, str], dict[str, Any]]()
    differing, written = {difference.number for difference in start.differences}, set[str]()
    for number, call in enumerate(calls):
        if environment.mutates(call.call.name, call.call.requestor):
            written.add(text_of(call))
        elif number in differing and call.result is not None and not is_error(call.result):
            for table, key, record in _records_in(json_or_none(call.result.content or ""), tables):
                if not any(key in text for text in written):
                    proposals.setdefault((table, key), record)
    best = start
    for (table, key), record in proposals.items():
        records = _with_record(best.records, tables, table, key, record)
        candidate = _tried(domain, calls, start.functions, records) if records is not None else None
        if candidate is not None and _explained(candidate, best):
            best = candidate
    return best


def _explained(candidate: _Candidate, best: _Candidate) -> bool:
    """Return whether a candidate has no new difference, and has fewer or gets at least further into one of them."""
    before = {difference.number: difference.text for difference in best.differences}
    after = {difference.number: difference.text for difference in candidate.differences}
    return after.keys() <= before.keys() and after != before


class _TableOf(NamedTuple):
    """A table of a database: its records by key, the field with the key, and the fields of one."""

    records: Mapping[str, Any]
    key_field: str
    fields: frozenset[str]
    is_list: bool


def _tables(database: Any) -> dict[str, _TableOf]:
    tables = {}
    for name, content in database.items() if isinstance(database, dict) else ():
        rows = list(content.values()) if isinstance(content, dict) else content if isinstance(content, list) else []
        if not rows or not all(isinstance(row, dict) for row in rows):
            continue
        keys = list(content) if isinstance(content, dict) else None
        field = next((f for f in rows[0] if _is_key_field(f, rows, keys)), None)
        if field is not None:
            records = {str(row[field]): row for row in rows}
            tables[name] = _TableOf(records, field, frozenset(rows[0]), isinstance(content, list))
    return tables


def _is_key_field(field: str, rows: list[dict[str, Any]], keys: list[str] | None) -> bool:
    values = [row.get(field) for row in rows]
    if keys is not None:
        return values == keys
    return field.endswith("id") and all(isinstance(value, str) for value in values) and len({*values}) == len(values)


def _records_in(value: Any, tables: Mapping[str, _TableOf]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the records in a result: table, key and record."""
    if isinstance(value, list):
        for element in value:
            yield from _records_in(element, tables)
    if not isinstance(value, dict):
        return
    alike = [
        (len(table.fields & value.keys()), name)
        for name, table in tables.items()
        if isinstance(value.get(table.key_field), str)
        and len(table.fields & value.keys()) >= _ALIKE * len(table.fields)
    ]
    if alike:
        _, name = max(alike)
        table = tables[name]
        yield name, value[table.key_field], {field: part for field, part in value.items() if field in table.fields}
        return
    for member in value.values():
        yield from _records_in(member, tables)


def _with_record(
    records: dict[str, Any], tables: Mapping[str, _TableOf], name: str, key: str, record: dict[str, Any]
) -> dict[str, Any] | None:
    """Return initialization data with a record as it was seen; None if the record has nothing new."""
    table = tables[name]
    known = table.records.get(key, {})
    changed = {field: value for field, value in record.items() if field not in known or known[field] != value}
    if not changed:
        return None
    if not table.is_list:
        # Objects merge: what the base has and the recorded object lacks could not be taken away.
        return {**records, name: {**records.get(name, {}), key: changed}}
    rows = {str(row[table.key_field]): row for row in records.get(name, table.records.values())}
    return {**records, name: list({**rows, key: {**known, **record}}.values())}


def problem_of(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join((str(error) if isinstance(error, TauError) else f"{type(error).__name__}: {error}").split())
