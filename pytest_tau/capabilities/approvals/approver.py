"""Approvers: by a function, by a model, and a person at the terminal."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

from ...chat import AnswerError, NoAnswerError, Question, last_object, usable_answer
from ...errors import CapabilityError, ConfigurationError, TauError, unknown_name
from ...models import call_as_text
from ...participants import BlockingCaller, load_object
from ...plain import json
from ...text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...capability import TrialView
    from ...chat import TrialModel

Answer: TypeAlias = Literal["approved", "rejected", "question"]
BUILT_IN = ("script", "human")


class Decision(NamedTuple):
    """What an approver answers.

    Attributes:
        decision: ``approved``, ``rejected`` or ``question``.
        text: The reason, or the question.
    """

    decision: Answer
    text: str = ""


class ApprovalRequest(NamedTuple):
    """What an approver is asked.

    Attributes:
        tool: The tool that the agent wants to call.
        arguments: The arguments of the call, a copy.
        note: What the agent adds.
        sentence: The sentence of the policy that demands the approval.
        instructions: What the approver knows from the task.
        earlier: The earlier requests of the conversation with their answers, as text.
        task_id: The id of the task.
    """

    tool: str
    arguments: Mapping[str, Any]
    note: str
    sentence: str
    instructions: str
    earlier: Sequence[str]
    task_id: str

    @property
    def text(self) -> str:
        """Return the call as text."""
        return call_as_text(self.tool, dict(self.arguments))


class Approver(Protocol):
    """An approver of one trial."""

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the decision about a request."""
        ...


class FunctionApprover:
    """An approver by rule: a function of a request, or an object that can be called, sync or async.

    Args:
        function: It returns a ``Decision``, or true to approve and false to reject.
        caller: Calls it.
    """

    def __init__(self, function: Callable[[ApprovalRequest], Any], caller: BlockingCaller) -> None:
        self._function, self._caller = function, caller

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the decision about a request.

        Raises:
            TypeError: The function returned something else.
        """
        return _decision(await self._caller.call(self._function, request))


def _decision(value: Any) -> Decision:
    if isinstance(value, bool):
        return Decision("approved" if value else "rejected")
    if isinstance(value, tuple) and 1 <= len(value) <= 2 and value[0] in get_args(Answer):
        return Decision(value[0], str(Decision(*value).text))
    kinds = ", ".join(map(repr, get_args(Answer)))
    raise TypeError(f"expected a Decision, with one of {kinds}, or a bool; got {value!r:.80}")


_PROMPT = """\
You decide whether an agent may make a call that its policy allows only with your approval. The policy says:
{sentence}
{instructions}
Answer with nothing but a JSON object: "decision" is "approved", "rejected" or "question", and "text" is the reason of a
rejection or your question, else empty."""
_FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "decision",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {
                "decision": {"type": "string", "enum": list(get_args(Answer))},
                "text": {"type": "string"},
            },
            "required": ["decision", "text"],
            "additionalProperties": False,
        },
    },
}


class ModelApprover:
    """An approver that asks a model, and asks it again twice after an answer that cannot be used."""

    def __init__(self, model: TrialModel) -> None:
        self._model = model

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Return the decision of the model.

        Raises:
            NoAnswerError: None of its answers could be used.
            ModelError: The model or its provider failed.
        """
        document = {"call": request.text, "note": request.note, "earlier": list(request.earlier)}
        material = json.dumps(document)
        prompt = _PROMPT.format(sentence=request.sentence, instructions=request.instructions).replace("\n\n", "\n")
        messages = [{"role": "system", "content": prompt}, {"role": "user", "content": material}]
        reminder = 'Answer again with nothing but the JSON object, with "decision" and "text".'
        return await usable_answer(self._model, Question(messages, _FORM, reminder), lambda text: _read(text, material))


def _read(text: str, material: str) -> Decision:
    answer = last_object(text, "decision", material)
    if answer is None:
        raise AnswerError('there is no JSON object with "decision"')
    try:
        return _decision((answer["decision"], str(answer.get("text") or "")))
    except TypeError as error:
        raise AnswerError(str(error)) from None


class HumanApprover:
    """A person at the terminal.

    Args:
        caller: Waits for the answers.
    """

    def __init__(self, caller: BlockingCaller) -> None:
        self._caller = caller

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Show a request, and return what the person answers."""
        decision: Decision = await self._caller.call(self._ask, request)
        return decision

    def _ask(self, request: ApprovalRequest) -> Decision:
        head = f"\napproval needed, task {request.task_id}: {request.text}"
        lines = (request.sentence, request.instructions, request.note and f"note: {request.note}", *request.earlier)
        printed = [head, *(f"  {line}" for line in lines if line)]
        sys.stdout.write("".join(f"{printable(line)}\n" for line in printed))
        while True:
            answer, _, text = input("approver (y, n REASON, ? QUESTION)> ").strip().partition(" ")
            if answer in ("y", "n", "?"):
                return Decision({"y": "approved", "n": "rejected", "?": "question"}[answer], text.strip())  # type: ignore[arg-type]


def load_function(spec: str) -> Callable[[ApprovalRequest], Any]:
    """Return the approver of one's own that is named; a class is to be built for each trial.

    Raises:
        ConfigurationError: There is no approver of this name, or it cannot be called.
    """
    if ":" not in spec:
        raise ConfigurationError(unknown_name("approver", spec, [*BUILT_IN, "module:attribute", "file.py:attribute"]))
    loaded = load_object(spec, "approver", Path.cwd())
    if not callable(loaded):
        raise ConfigurationError(f"approver {spec!r}: expected a function of a request, got {loaded!r:.80}")
    function: Callable[[ApprovalRequest], Any] = loaded
    return function


def make_approver(view: TrialView) -> Approver:
    """Return the approver of a trial that is not by a script.

    Raises:
        ConfigurationError: There is no such approver, no terminal, or no model.
    """
    spec: str = view.settings.approver
    if view.settings.approver_llm is not None:
        model = view.models.get("approver") if view.models else None
        if model is None:
            raise ConfigurationError("the approver is a model, and simulate() has none: add llms={'approver': LLM(…)}")
        return ModelApprover(model)
    if spec == "human":
        if not sys.stdin.isatty():
            raise ConfigurationError("approver 'human' needs a terminal; with pytest add -s")
        return HumanApprover(BlockingCaller())
    function, caller = load_function(spec), BlockingCaller(view.models, "approver")
    try:
        return FunctionApprover(function() if isinstance(function, type) else function, caller)
    except Exception as error:
        raise ConfigurationError(f"approver {spec!r} cannot be created: {type(error).__name__}: {error}") from error


async def decision_of(approver: Approver, spec: str, request: ApprovalRequest) -> Decision:
    """Return the decision of an approver about a request.

    Raises:
        CapabilityError: The approver has failed, which is a fault of neither side.
    """
    try:
        return await approver.decide(request)
    except (asyncio.CancelledError, CapabilityError):
        raise
    except (TauError, NoAnswerError) as error:
        raise CapabilityError(f"approver {spec!r}: {error}") from error
    except EOFError:
        raise CapabilityError(f"approver {spec!r}: the person has left") from None
    except Exception as error:
        # Code of a project may raise anything.
        raise CapabilityError(f"approver {spec!r}: {type(error).__name__}: {error}") from error
