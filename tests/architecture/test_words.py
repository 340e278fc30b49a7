"""Plain technical English: words that texts, docstrings, comments and the documentation do not use."""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

from for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
#: By pattern, what to write instead. Patterns are not case-sensitive and match whole words.
INSTEAD = {
    "told|tells?|telling": "reports, shows, states, distinguishes",
    "beside": "next to, compared with, for",
    "mend|mends|mended|mending": "fix, repair",
    "held|hold a trial": "a trial is run; a file contains; a condition is met",
    r"left out|leav(?:e|es|ing)(?: \w+){0,3} out": "exclude, skip, omit, drop",
    "as ever": "as usual, or nothing",
    "(?<!instead )of those": "of them, or name them",
    "in place of": "instead of",
    "purse": "budget",
    "flavours?|flavors?": "variant",
    "nobody(?:'s)?|no one|anybody(?:'s)?": "no user, no other test: name who",
    "is none of|that is none|if it is none|(?:there )?is none to": "is not a ..., there is no ...",
    "this is no": "this is not a ...",
    r"(?<!there )(?:is|are) no(?= )(?! longer| more| faster| less| better)": "is not a ..., is not valid ...",
    "what came of": "the result of",
    "what (?:it|they) c[ao]mes? to": "the results, the sum",
    "at hand": "available",
    "takes itself for": "name what it assumes",
    "in no rate": "excluded from rates",
    "hangs on": "depends on",
    "with a chance of": "with a probability of; power",
    "is there (?:already|twice)": "already exists, occurs twice",
    r"then and (?:[^ ]+|\{[^{}]*\}) now": "before and after",
    "kept in(?! memory| ``)": "stored in",
    "nothing was spent": "at no cost",
}
WORDS = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): advice for word, advice in INSTEAD.items()}
#: All of them: most files have none, which is found out sooner than where their strings and comments are.
ANY_WORD = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
#: The beginnings of paths with texts that simulated people and models say or read, and regexes of what they say.
SPEECH = (
    "pytest_tau/chat/text_tools.md",
    "pytest_tau/cli/templates/",
    "pytest_tau/evaluation/judge_prompt.md",
    "pytest_tau/language/",
    "pytest_tau/participants/agents/",
    "pytest_tau/participants/prompts/",
    "pytest_tau/participants/scripted/",
)
_STRINGS = {"STRING", "COMMENT", "FSTRING_MIDDLE"}


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the string literals and comments of Python code with their lines."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] in _STRINGS:
            # Before Python 3.12 an f-string is one token, with code in its braces.
            text = re.sub(r"\{[^{}]*\}", "{}", token.string) if token.type == tokenize.STRING else token.string
            yield token.start[0], text


def found_in(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Yield a problem for each word that is not to be used."""
    for number, text in lines:
        for offset, line in enumerate(text.split("\n")):
            for word, advice in WORDS.items():
                if match := word.search(line):
                    yield f"{number + offset}: {match[0]!r}: write {advice}: {line.strip()[:100]}"


def tracked(*patterns: str) -> list[str]:
    """Return the files of the repository that match."""
    names = subprocess.check_output(["git", "ls-files", "-z", *patterns], cwd=ROOT, text=True).split("\0")
    return [name for name in names if name and not name.startswith(SPEECH)]


@for_each(tracked("pytest_tau/*.py"))
def test_the_package_is_in_plain_words(name: str) -> None:
    source = (ROOT / name).read_text(encoding="utf-8")
    assert not ANY_WORD.search(source) or list(found_in(texts_of(source))) == []


@for_each(tracked("docs/*.md", "README.md", "pytest_tau/*.md", "pytest_tau/*.js"))
def test_the_documentation_and_the_report_are_in_plain_words(name: str) -> None:
    # In code the name of a class or a value may have any words.
    text = re.sub(r"class: \"[^\"]*\"", "", (ROOT / name).read_text(encoding="utf-8"))
    # The policies of the bundled domains are quoted word for word.
    text = re.sub(r"(?s)<!-- rules -->.*<!-- /rules -->", "", text)
    assert list(found_in(iter([(1, text)]))) == []


def test_words_are_found_in_strings_docstrings_and_comments_but_not_in_code() -> None:
    source = '"""What is told."""\nnobody = f"{held} is left out"  # beside it\n'
    assert ANY_WORD.search(source)
    assert [problem.split(": write")[0] for problem in found_in(texts_of(source))] == [
        "1: 'told'",
        "2: 'left out'",
        "2: 'beside'",
    ]
