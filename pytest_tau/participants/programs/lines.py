"""The lines that pytest-tau and a program that stays exchange: one JSON object each, ``tau schema program``."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, model_validator

from ...documents import DocumentError, parse_json
from ...models.problems import first_problem


class Message(BaseModel):
    """To the program: a text that it is to answer. An id that it has not seen begins a conversation.

    Attributes:
        conversation: The id of the conversation.
        text: The user's message; in solo mode the ticket.
        policy: The domain's policy.
        mcp_url: The tools of the conversation over MCP.
        base_url: The model endpoint of the conversation for clients of OpenAI.
        anthropic_base_url: The same for clients of Anthropic.
        api_key: The key for both.
        headers: What the program sends with its own requests, such as ``traceparent``.
    """

    model_config = ConfigDict(frozen=True)

    conversation: str
    text: str
    policy: str
    mcp_url: str
    base_url: str
    anthropic_base_url: str
    api_key: str
    headers: dict[str, str] = Field(default_factory=dict)


class End(BaseModel):
    """To the program: a conversation has ended, and no answer is expected any more.

    Attributes:
        conversation: Its id.
        end: Always true.
    """

    model_config = ConfigDict(frozen=True)

    conversation: str
    end: Literal[True]


class Answer(BaseModel):
    """From the program: the answer to the last message of a conversation, or why there is none.

    Attributes:
        conversation: The id of the conversation.
        text: The answer.
        error: Why there is none: the trial fails as by an exception of the agent.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["error"]}]},
    )

    conversation: str
    text: str | None = None
    error: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Answer:
        if (self.text is None) == (self.error is None):
            raise ValueError("expected either text or error")
        return self


def parse_answer(line: bytes) -> Answer:
    """Return the answer in a line.

    Raises:
        ValueError: It is not one; says why.
    """
    try:
        return Answer.model_validate(parse_json(line, is_line=True))
    except DocumentError as error:
        raise ValueError(str(error)) from None
    except ValidationError as error:
        raise ValueError(first_problem(error, "the line")) from None


class Line(RootModel[Message | End | Answer]):
    """A line that pytest-tau and a program that stays exchange: a message or an end to it, an answer from it."""
