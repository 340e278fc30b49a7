"""Data for users without a model: a task's script, and the words by which people ask for a domain's tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

if TYPE_CHECKING:
    from collections.abc import Mapping


class _ScriptPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(_ScriptPart):
    """An answer to a question that is not about a plain fact.

    Attributes:
        asks: Questions; one is asked if all of its words occur in the agent's text, in any case.
        say: The answer.
    """

    asks: list[str]
    say: str

    @field_validator("asks")
    @classmethod
    def _some(cls, asks: list[str]) -> list[str]:
        if not asks or not all(phrase.strip() for phrase in asks):
            raise ValueError("expected at least one entry, each with words")
        return asks


class Request(_ScriptPart):
    """One request of the user.

    Attributes:
        say: The sentence; it may name details, such as an order.
        facts: Facts that the user gives when asked during this request; by name, such as ``order_id``.
        answers: Answers to other questions about it.
        insist: The number of repetitions after refusals.
        fallback: Another request, made when this one stays refused.
    """

    say: str
    facts: dict[str, str] = Field(default_factory=dict)
    answers: list[Answer] = Field(default_factory=list)
    insist: int = Field(default=0, ge=0, strict=True)
    fallback: str | None = None


class Goal(_ScriptPart):
    """A check by which the user sees that its problem is solved.

    Attributes:
        tool: A tool of the user's.
        arguments: The arguments of the call.
        expects: Texts that its result contains, all of them, once the problem is solved; in any case.
    """

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    expects: list[str]


class UserScript(_ScriptPart):
    """The requests, the facts and the decisions of a user without a model.

    Attributes:
        requests: The requests, made one after the other; the first opens the conversation.
        facts: Facts that it gives only when asked, by name, such as ``user_id`` or ``zip``.
        answers: Answers to other questions.
        accepts: Offers that it accepts, each by words that all occur in the offer.
        declines: Offers that it declines, likewise; they override those that it accepts.
        goals: Checks that it makes before it is content; all of them.
        patience: Turns in a row without progress after which it gives up.
    """

    requests: list[Request] = Field(min_length=1)
    facts: dict[str, str] = Field(default_factory=dict)
    answers: list[Answer] = Field(default_factory=list)
    accepts: list[str] = Field(default_factory=list)
    declines: list[str] = Field(default_factory=list)
    goals: list[Goal] = Field(default_factory=list)
    patience: int = Field(default=6, ge=1, strict=True)


class Spoken(NamedTuple):
    """The words by which people ask for a tool without naming it; a model does not see them.

    A phrase is words in order, alternatives joined by ``/``, such as ``turn/switch airplane/flight mode``. It begins
    with the word that makes it a request, and other words may stand between.

    Attributes:
        phrases: Phrases that ask for the tool.
        values: Phrases that mean a value, by parameter and value: the value itself, such as ``True``.
        shows: Results that a user may wait for: a phrase, and the text that the tool's result then contains.
    """

    phrases: tuple[str, ...] = ()
    values: Mapping[str, Mapping[Any, tuple[str, ...]]] = {}
    shows: Mapping[str, str] = {}
