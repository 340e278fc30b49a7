"""The protocol of a run: the texts that models read, and the form in which they are sent."""

from .checkout import data_folder, not_data, read_checkout, read_prompt, user_prompts
from .domain_texts import with_texts
from .texts import (
    TAU,
    DomainTools,
    JudgeTexts,
    PromptName,
    Protocol,
    Texts,
    ToolText,
    check_template,
    fill,
    literal,
    load_texts,
    placeholders,
    write_texts,
)

__all__ = [
    "TAU",
    "DomainTools",
    "JudgeTexts",
    "PromptName",
    "Protocol",
    "Texts",
    "ToolText",
    "check_template",
    "data_folder",
    "fill",
    "literal",
    "load_texts",
    "not_data",
    "placeholders",
    "read_checkout",
    "read_prompt",
    "user_prompts",
    "with_texts",
    "write_texts",
]
