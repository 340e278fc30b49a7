"""A mutant: one small fault of an agent, in what it is given or in what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ...text import one_line

Kind: TypeAlias = Literal[
    "sentence-dropped",
    "sentence-changed",
    "descriptions-swapped",
    "tool-gone",
    "result-old",
    "result-first",
    "argument-changed",
    "call-twice",
    "call-omitted",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
#: The kinds that change what the agent is given before the conversation, and nothing else.
GIVEN: tuple[Kind, ...] = KINDS[:3]

#: Characters of a sentence.
_SENTENCE = 160
_TEXTS: dict[Kind, str] = {
    "sentence-dropped": 'the policy lacks "{detail}"',
    "sentence-changed": 'the policy says "{new}", not "{detail}"',
    "descriptions-swapped": "the descriptions of {tool} and {detail} are swapped",
    "tool-gone": "{tool} is gone",
    "result-old": "{tool} returns what the same call returned before",
    "result-first": "{tool} returns only the first of several records",
    "argument-changed": "{tool} is called with another {detail}",
    "call-twice": "{tool} is called twice",
    "call-omitted": "{tool} is not called, and the agent takes it for done",
}
_NOTICES: dict[Kind, str] = {
    "sentence-dropped": "a task whose right end depends on this sentence",
    "sentence-changed": "a task whose right end lies on the other side of the value",
    "descriptions-swapped": "a task in which the agent chooses between these tools by their descriptions",
    "tool-gone": "a task that cannot be done without {tool}",
    "result-old": "a task in which {tool} is called again after a change, and the difference decides",
    "result-first": "a task that is about another record of {tool} than the first",
    "argument-changed": "a task whose reference has {detail} of {tool}, and whose end state depends on it",
    "call-twice": "a task whose end state differs if {tool} is called twice, or a rule of the policy",
    "call-omitted": "a task whose end state needs {tool}",
}


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Attributes:
        kind: The kind.
        tool: The tool; empty for the policy.
        detail: The sentence, the other tool, or the argument.
        new: What the sentence becomes.
    """

    kind: Kind
    tool: str = ""
    detail: str = ""
    new: str = ""

    @property
    def text(self) -> str:
        """Return the fault in words."""
        return self._filled(_TEXTS)

    @property
    def notice(self) -> str:
        """Return which task would notice the fault."""
        return self._filled(_NOTICES)

    def _filled(self, texts: dict[Kind, str]) -> str:
        detail, new = (one_line(text, _SENTENCE) for text in (self.detail, self.new))
        return texts[self.kind].format(tool=self.tool, detail=detail, new=new)
