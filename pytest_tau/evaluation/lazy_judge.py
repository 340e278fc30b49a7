"""The judge that a run is configured with, and that each trial gives a model. What calls models is imported then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ConfigurationError, JudgeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..chat import TrialModel
    from ..models import Message
    from ..protocol import JudgeTexts
    from .judge import Verdict
    from .llm_judge import LLMJudge
    from .official_judge import OfficialJudge


class LazyJudge:
    """A model judge before there is a trial, as a run is configured with. Each trial binds it to its own model.

    Args:
        name: The judge's name in reports.
        texts: The official prompt of the judge; None for the built-in one.
    """

    def __init__(self, name: str, texts: JudgeTexts | None = None) -> None:
        self.name, self._texts = name, texts

    def bind(self, model: TrialModel | None) -> LLMJudge | OfficialJudge:
        """Return the judge of one trial.

        Args:
            model: The trial's model for the judge; None if it has none.

        Raises:
            ConfigurationError: There is no model.
        """
        if model is None:
            raise ConfigurationError(f"judge {self.name!r} needs a model: add --tau-judge-llm MODEL")
        if self._texts is None:
            from .llm_judge import LLMJudge

            return LLMJudge(model, self.name)
        from .official_judge import OfficialJudge

        return OfficialJudge(model, self.name, self._texts)

    def judge(self, statements: Sequence[str], messages: Sequence[Message]) -> list[Verdict]:
        """Judge nothing: only what ``bind`` returns can ask a model.

        Raises:
            JudgeError: Always.
        """
        raise JudgeError(f"judge {self.name!r} calls a model and can only be used within a trial")
