"""The judge that the options of a command name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..documents import DocumentError, parse_json
from ..errors import ConfigurationError

if TYPE_CHECKING:
    import argparse

    from ..chat import LLM
    from ..evaluation import Judge


def judge_of(args: argparse.Namespace) -> Judge | None:
    """Return the judge that the options name; None if they name none.

    Raises:
        ConfigurationError: It cannot be loaded, or its model cannot be called.
    """
    if args.judge_llm is not None:
        from ..chat import TrialModels
        from ..evaluation import LazyJudge

        if args.judge not in (None, "llm"):
            raise ConfigurationError(f"--judge-llm is the model of --judge llm; remove it, or --judge {args.judge}")
        models = TrialModels({"judge": judge_llm(args)})
        return LazyJudge(args.judge_llm).bind(models.get("judge"))
    if args.judge == "llm":
        raise ConfigurationError("judge 'llm' needs a model: add --judge-llm MODEL")
    if args.judge is None:
        return None
    from ..runner import load_judge

    return load_judge(args.judge, Path.cwd())


def judge_llm(args: argparse.Namespace, *, priced: bool = False) -> LLM:
    """Return the model of the options ``--judge-llm`` and ``--judge-llm-args``.

    Args:
        args: The options.
        priced: Whether the prices of its calls have to be known.

    Raises:
        ConfigurationError: It cannot be called.
    """
    try:
        arguments = parse_json(args.judge_llm_args or "{}")
    except DocumentError as error:
        # The value is not quoted: it may contain a key.
        raise ConfigurationError(f"--judge-llm-args: expected a JSON object, got text that is {error}") from None
    if not isinstance(arguments, dict):
        raise ConfigurationError(f"--judge-llm-args: expected a JSON object, got a {type(arguments).__name__}")
    return llm_named(args.judge_llm, arguments, priced=priced)


def llm_named(name: str, arguments: dict[str, Any] | None = None, *, priced: bool = False) -> LLM:
    """Return a model that the default client calls.

    Args:
        name: Its litellm name.
        arguments: Arguments of its calls.
        priced: Whether the prices of its calls have to be known.

    Raises:
        ConfigurationError: It cannot be called.
    """
    from ..chat import LLM
    from ..chat.call_arguments import with_defaults
    from ..integrations.default_model import check_model, default_model

    check_model(name, arguments or {}, priced=priced)
    return LLM(name, default_model(), with_defaults(name, arguments or {}))
