"""What a user without a model goes by: the structured block beside a scenario's prose."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class _ScriptPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(_ScriptPart):
    """Something that is said when the agent asks for it, and is no plain fact.

    Attributes:
        asks: When it is meant: for one of these, all of its words occur in the agent's text, whatever their case.
        say: What is answered.
    """

    asks: list[str]
    say: str

    @field_validator("asks")
    @classmethod
    def _some(cls, asks: list[str]) -> list[str]:
        if not asks or not all(each.strip() for each in asks):
            raise ValueError("expected at least one entry, each with words")
        return asks


class Request(_ScriptPart):
    """One thing that the user wants.

    Attributes:
        say: How it is put; it may name what belongs to it, such as an order.
        facts: What is told when it is asked for, while this request is dealt with; by name, such as ``order_id``.
        answers: Other questions about it.
        insist: How often it is repeated when it is refused.
        fallback: What is asked for in its place once it stays refused.
    """

    say: str
    facts: dict[str, str] = Field(default_factory=dict)
    answers: list[Answer] = Field(default_factory=list)
    insist: int = Field(default=0, ge=0)
    fallback: str | None = None


class Goal(_ScriptPart):
    """How the user sees for itself that its problem is solved.

    Attributes:
        tool: A tool of the user's.
        arguments: What it is called with.
        expects: Texts that its result holds, all of them, once the problem is solved; whatever their case.
    """

    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    expects: list[str]


class UserScript(_ScriptPart):
    """What a user without a model says, knows and accepts.

    Attributes:
        requests: What it wants, put one after the other; the first opens the conversation.
        facts: What it tells when it is asked for it and not before, by name, such as ``user_id`` or ``zip``.
        answers: Other questions that it can answer.
        accepts: Offers that it takes, each by words that all occur in the offer.
        declines: Offers that it turns down, likewise; they win over those that it takes.
        goals: What it checks itself before it is content; all of them.
        patience: Turns in a row without progress after which it gives up.
    """

    requests: list[Request] = Field(min_length=1)
    facts: dict[str, str] = Field(default_factory=dict)
    answers: list[Answer] = Field(default_factory=list)
    accepts: list[str] = Field(default_factory=list)
    declines: list[str] = Field(default_factory=list)
    goals: list[Goal] = Field(default_factory=list)
    patience: int = Field(default=6, ge=1)
