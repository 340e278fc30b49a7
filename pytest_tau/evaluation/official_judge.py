"""The judge of NL assertions as τ²-bench asks it: its prompt, its transcript, its form of an answer, asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..errors import UnusableReplyError
from ..models import writable
from ..plain import json
from ..protocol import fill, placeholders
from ..text import shorten
from .judge import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chat import TrialModel
    from ..models import Message
    from ..protocol import JudgeTexts


class OfficialJudge:
    """A judge that asks a model once, by the official prompt.

    It may give any number of verdicts, none included.

    Args:
        model: The trial's model for the judge.
        name: The judge's name in reports.
        texts: The prompt, and the keys of the answer.
    """

    #: Source: τ²-bench v1.0.1, whose evaluator does not count the results.
    gives_any_number = True

    def __init__(self, model: TrialModel, name: str, texts: JudgeTexts) -> None:
        self._model, self.name, self._texts = model, name, texts

    async def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        """Return the verdicts in the model's answer, in order.

        Raises:
            UnusableReplyError: The answer is not the expected JSON.
            ModelError: The model or its provider failed.
            ReplayError: A replayed trial asks what was not recorded.
        """
        values = {
            "transcript": "\n".join(f"{message.role}: {message.content}" for message in messages),
            "statements": str(list(statements)),
            "statements_json": json.dumps(list(statements)),
            "statements_lines": "\n".join(statements),
        }
        used = {name: values[name] for name in placeholders(self._texts.user)}
        content = fill(self._texts.user, used, "the judge's prompt")
        request = [{"role": "system", "content": self._texts.system}, {"role": "user", "content": content}]
        return self._verdicts((await self._model.complete(request)).text)

    def _verdicts(self, text: str) -> list[Verdict]:
        keys = self._texts
        try:
            answer: Any = parse_json(text)
            entries = answer[keys.results]
            verdicts = [Verdict(entry[keys.met], writable(str(entry.get(keys.reason, "")))) for entry in entries]
        except (DocumentError, KeyError, TypeError, AttributeError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise UnusableReplyError(f"judge {self.name!r}: {problem}; it begins {shorten(text)!r}") from None
        if not all(isinstance(verdict.met, bool) for verdict in verdicts):
            raise UnusableReplyError(f"judge {self.name!r}: expected verdicts of true or false, got {shorten(text)!r}")
        return verdicts
