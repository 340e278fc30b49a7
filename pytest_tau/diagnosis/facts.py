"""Facts about a failed simulation, as the rules of attribution see it, and the form of their answers."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

from ..language import sentences, spoken
from ..language.dates import dates_in
from ..language.ids import ids_in
from ..language.mentions import mentions, mentions_any
from ..language.message import plain_quotes, without_tokens
from ..models import AssistantMessage, ToolMessage, UserMessage, call_as_text, strings_in
from ..policy import check_policy, load_rules
from ..policy.check import counting_rules
from ..references import open_choices
from ..references.rules import breaches_in, carried_out
from ..text import error_line, shorten
from .deviations import deviations, mutating_tools
from .evidence import Evidence
from .heading import is_heading_for
from .turning_point import same_call_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..environment import Domain
    from ..models import Action, Call, Divergence, Message, Simulation, Task
    from ..policy import RecordedBreach
    from ..references import OpenChoice
    from .deviations import Deviation

#: Characters of a text that are quoted.
_WIDTH = 160
#: Words of the names of tools that say what they are about have more letters.
_SHORT_WORD = 3


class Facts:
    """A failed simulation, as the rules see it."""

    def __init__(
        self,
        simulation: Simulation,
        divergence: Divergence | None,
        task: Task | None = None,
        domain: Domain | None = None,
    ) -> None:
        self.simulation, self.divergence = simulation, divergence
        verdict = simulation.reward_info
        self.task = task.of_outcome(verdict.compared_outcome if verdict else None) if task is not None else None
        self.domain = domain
        self.error = (simulation.error or "").strip()

    @functools.cached_property
    def evidence(self) -> Evidence:
        """What the conversation shows about values."""
        return Evidence(self.task, self.simulation.messages, self.simulation.calls)

    @functools.cached_property
    def deviations(self) -> list[Deviation]:
        """The writes that are not as in the reference, that of the divergence first."""
        if self.task is None or self.domain is None:
            return []
        found = deviations(self.task, self.simulation.calls, self.divergence, self.domain)
        if self.divergence is None or self.divergence.kind == "missing":  # what is missing can be done
            return found
        return [each for each in found if each.made is not None or not self.is_impossible(each)]

    @functools.cached_property
    def _reference_run(self) -> list[Message]:
        """The conversation in which the reference is carried out."""
        return carried_out(self.task, self.domain) if self.task is not None and self.domain is not None else []

    @functools.cached_property
    def unmade_reads(self) -> list[tuple[str, str]]:
        """The reads of the reference that the agent has not made, as text, with their results."""
        made = [(call.call.name, call.call.arguments) for call in self.calls]
        return [
            (call_as_text(action.name, action.arguments), result.content or "")
            for action, result in self._reference_results
            if action.name not in self.mutating and not result.error and (action.name, action.arguments) not in made
        ]

    def is_impossible(self, deviation: Deviation) -> bool:
        """Return whether a call of the reference is one that its tool refuses."""
        return any(deviation.wanted is action for action in self._impossible)

    @functools.cached_property
    def _impossible(self) -> list[Action]:
        """The actions of the reference that their tools refuse."""
        return [action for action, result in self._reference_results if result.error]

    @functools.cached_property
    def _reference_results(self) -> list[tuple[Action, ToolMessage]]:
        """The actions of the reference with their results."""
        actions = (self.task and self.task.criteria.actions) or []
        results = self._reference_run[-2 * len(actions) :][1::2] if actions else []
        pairs = zip(actions, results, strict=False)
        return [(action, result) for action, result in pairs if isinstance(result, ToolMessage)]

    @functools.cached_property
    def mutating(self) -> frozenset[str]:
        """The names of the tools that change something."""
        return mutating_tools(self.domain) if self.domain is not None else frozenset()

    @functools.cached_property
    def reference(self) -> list[Action]:
        """The writes of the reference."""
        return [action for action in (self.task and self.task.criteria.actions) or () if action.name in self.mutating]

    @functools.cached_property
    def policy(self) -> str:
        """The text that the agent must follow."""
        return self.domain.environment(self.task).policy if self.domain is not None and self.task is not None else ""

    @functools.cached_property
    def breaches(self) -> list[RecordedBreach]:
        """The breaches of rules of calls and of talk, and of rules that count, in the conversation."""
        if self.task is None or self.domain is None:
            return []
        counting = self.counting_rules
        rules = load_rules(self.domain.spec)
        about = [rule for rule in rules if rule.absolute or rule.needs_dialog or rule.name in counting]
        found = check_policy(self.simulation.messages, self.task, self.domain, rules=about)
        return list(found.breaches) if found else []

    @functools.cached_property
    def counting_rules(self) -> frozenset[str]:
        """The names of the rules that are a factor of the reward."""
        return frozenset(rule.name for rule in counting_rules(self.domain.spec)) if self.domain else frozenset()

    @functools.cached_property
    def reference_breaches(self) -> list[RecordedBreach]:
        """The breaches of rules in the reference."""
        if self.task is None or self.domain is None or not self.deviations:
            return []
        return breaches_in(self._reference_run, self.task, self.domain)

    def phrases(self, tool: str) -> Sequence[str]:
        """Return by which words people ask for a tool of the user's."""
        spoken_words = self.domain.spec.spoken if self.domain is not None else {}
        return spoken_words[tool].phrases if tool in spoken_words else ()

    def failed_before(self, deviation: Deviation) -> Call | None:
        """Return the agent's first write on the same record that its tool had refused before a call."""
        made, name = deviation.made, deviation.record
        if made is None:
            return None
        own = {name: made.call.arguments[name]} if name in made.call.arguments else made.call.arguments
        records = {value for value in _texts_of(own) if value in self.evidence.records}
        for call in self.calls:
            refused = call.message_idx < made.message_idx and call.result is not None and call.result.error
            if refused and call.call.name in self.mutating and records & set(_texts_of(call.call.arguments)):
                return call if call.call.name != made.call.name else None
        return None

    def repeated(self, deviation: Deviation) -> Call | None:
        """Return the earlier call that a call which is too much makes again; None if there is none."""
        made = deviation.made
        if made is None or deviation.wanted is not None:
            return None
        call = (made.call.name, made.call.arguments, made.call.requestor)
        return same_call_before(self.calls, call, made.message_idx)

    def forbids(self, made: Call) -> bool:
        """Return whether an absolute rule forbids a call."""
        return any(
            breach.message_idx == made.message_idx and breach.rule in self._absolute
            for breach in self.breaches
            if breach.call and breach.call["arguments"] == made.call.arguments
        )

    @functools.cached_property
    def _absolute(self) -> set[str]:
        return (
            {rule.name for rule in load_rules(self.domain.spec) if rule.absolute} if self.domain is not None else set()
        )

    def is_after_divergence(self, call: Call) -> bool:
        """Return whether a call comes after the one that has put the right final state out of reach."""
        at = self.divergence.message_idx if self.divergence is not None else None
        return at is not None and call.message_idx > at

    @staticmethod
    def has_failed(call: Call) -> bool:
        """Return whether a tool refused a call, or gave no result."""
        return call.result is None or call.result.error

    def refused_after(self, made: Call) -> Call | None:
        """Return the call of the reference that its tool refused after a call of the agent's."""
        wanted = [(action.name, action.arguments) for action in self.reference]
        for call in self.calls:
            refused = call.message_idx >= made.message_idx and call.result is not None and call.result.error
            if refused and (call.call.name, call.call.arguments) in wanted:
                return call
        return None

    def names(self, text: str, deviation: Deviation) -> bool:
        """Return whether a text names the record and the other values of a missing call."""
        values = [value for slot in deviation.slots for value in slot.wanted if not isinstance(value, bool)]
        known = [value for value in values if len(str(value)) > 1]
        named = sum(mentions_any(text, self.evidence.forms(value)) for value in known if self.evidence.forms(value))
        return bool(known) and named * 2 > len(known)

    def names_others(self, text: str, deviation: Deviation) -> bool:
        """Return whether a text names ids or days that neither a missing call nor a record of it has."""
        wanted = [value for slot in deviation.slots for value in slot.wanted]
        if any(not any(mentions(name, value) for value in wanted) for name in ids_in(text)):
            return True
        fields = [self.evidence.records[value] for value in strings_in(wanted) if value in self.evidence.records]
        known = [*strings_in(wanted), *(text for record in fields for texts in record.values() for text in texts)]
        days = {(date.month, date.day) for value in known for date in dates_in(value)}
        return any((date.month, date.day) not in days for date in dates_in(text))

    def is_about(self, text: str, deviation: Deviation) -> bool:
        """Return whether a sentence is about what a tool does to, or about one of its values."""
        nouns = [
            word for word in deviation.tool.lower().split("_")[1:] if len(word) > _SHORT_WORD and self._tells(word)
        ]
        values = [value for slot in deviation.slots for value in slot.wanted if str(value) in self.evidence.records]
        heard = text.lower()
        return (bool(nouns) and nouns[-1].rstrip("s") in heard) or any(mentions(text, value) for value in values)

    def _tells(self, word: str) -> bool:
        """Return whether few of the tools that change something have a word in their names."""
        return sum(word in name for name in self.mutating) * 3 <= len(self.mutating)

    def names_record(self, text: str, deviation: Deviation) -> bool:
        """Return whether a text names a record of a missing call."""
        values = {str(value) for slot in deviation.slots for value in slot.wanted}
        return mentions_any(text, values & self.evidence.records.keys())

    def names_other_record(self, text: str, deviation: Deviation) -> bool:
        """Return whether a text names records, and none of a missing call."""
        return mentions_any(text, self.evidence.records) and not self.names_record(text, deviation)

    @functools.cached_property
    def open_choices(self) -> list[OpenChoice]:
        """The values of the reference that the task leaves open."""
        if self.task is None or self.domain is None or not self.deviations:
            return []
        return list(open_choices(self.task, self.domain))

    def agreed(self, number: int | None) -> bool:
        """Return whether the user's last words before a message agree to what the agent had asked."""
        return number is not None and self.evidence.agreement(number) is not None

    def forgotten_at(self) -> int | None:
        """Return the agent's last text before the end, in which nothing that is missing was left to do."""
        texts = self.evidence.texts("assistant")
        return texts[-1][0] if texts else None

    @functools.cached_property
    def stopped(self) -> Said | None:
        """The user's last message, if it ended the conversation while the agent was heading for the right state."""
        simulation = self.simulation
        undone = self.divergence is None or self.divergence.kind == "missing"
        if simulation.termination_reason != "user_stop" or not undone:
            return None
        by_agent = [call for call in self.missing if call["requestor"] == "assistant"]
        heading = is_heading_for(by_agent, simulation.messages)
        return Said.last(simulation.messages, UserMessage) if heading else None

    @property
    def missing(self) -> tuple[dict[str, Any], ...]:
        """The calls that the final state lacks, if it is still within reach."""
        return () if self.divergence is None else self.divergence.missing

    @property
    def token(self) -> str | None:
        """The token by which the user ended it."""
        last = self.simulation.messages[-1:]
        return self.simulation.stop_token or (last[0].stop_token if last and isinstance(last[0], UserMessage) else None)

    @property
    def is_diverged_by_agent(self) -> bool:
        """Whether a call of the agent has put the right final state out of reach."""
        divergence = self.divergence
        return divergence is not None and divergence.kind == "diverged" and divergence.call["requestor"] == "assistant"

    @functools.cached_property
    def said(self) -> Said:
        """The agent's last text."""
        return Said.last(self.simulation.messages, AssistantMessage) or Said(None, "")

    @functools.cached_property
    def calls(self) -> list[Call]:
        """The agent's calls."""
        return [made for made in self.simulation.calls if made.call.requestor == "assistant"]

    @property
    def domain_calls(self) -> list[Call]:
        """The agent's calls of tools of the domain."""
        tools = self.domain.spec.agent_tools.tool_infos if self.domain is not None else {}
        return [made for made in self.calls if made.call.name in tools]

    @functools.cached_property
    def transfer(self) -> Call | None:
        """The agent's last call of a tool that hands the user over."""
        return next((made for made in reversed(self.calls) if "transfer" in made.call.name), None)

    def made_instead(self) -> Call | None:
        """Return the agent's last successful call that is nearer to a missing one than to other reference actions."""
        info = self.simulation.reward_info
        wanted = [check.action for check in (info and info.action_checks) or []]
        for made in reversed(self.calls):
            same = [each.arguments for each in wanted if each.name == made.call.name]
            if not same or made.call.arguments in same or (made.result and made.result.error):
                continue
            nearest = min(same, key=functools.partial(_differing, made.call.arguments))
            if any(call["name"] == made.call.name and call["arguments"] == nearest for call in self.missing):
                return made
        return None

    def refused_by_tool(self) -> Call | None:
        """Return the last missing call that the agent has made, and that its tool refused."""
        tried = [(call["name"], call["arguments"]) for call in self.missing]
        refused = [each for each in self.calls if each.result is not None and each.result.error]
        return next((each for each in reversed(refused) if (each.call.name, each.call.arguments) in tried), None)

    @property
    def everything_met(self) -> bool:
        """Return whether every check that counts was met."""
        info = self.simulation.reward_info
        return info is not None and all(value == 1 for value in (info.reward_breakdown or {}).values())


def _texts_of(arguments: dict[str, Any]) -> list[str]:
    return list(strings_in(arguments))


def _differing(one: dict[str, Any], other: dict[str, Any]) -> int:
    """Return how many arguments of two calls differ."""
    return sum(one.get(name, ...) != other.get(name, ...) for name in {*one, *other})


class Said(NamedTuple):
    """The last text of a side, and the number of its message."""

    message_idx: int | None
    text: str

    @classmethod
    def last(cls, messages: list[Message], side: type[AssistantMessage | UserMessage]) -> Said | None:
        """Return the last text of a side; None if it has said nothing."""
        for number in range(len(messages) - 1, -1, -1):
            message = messages[number]
            if isinstance(message, side) and message.has_text_content():
                return cls(number, spoken(message.text))
        return None

    @property
    def words(self) -> str:
        """The text without tokens."""
        return plain_quotes(without_tokens(self.text))

    @property
    def end(self) -> str:
        """The last two sentences: those that the other side reacts to."""
        return "\n".join(sentences(self.words, ".!?:")[-2:])


def first_line(error: str) -> str:
    """Return the line of an error that names it: the first, or the last of a traceback."""
    return clipped(error_line(error)) or "no error message"


def clipped(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return shorten(" ".join(text.split()), _WIDTH)


def quoted(text: str) -> str:
    """Return the end of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"…{line[1 - _WIDTH :]}"
