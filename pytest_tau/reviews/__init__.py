"""Reviews of conversations: the errors of agent and user that a model or a function finds, and who is at fault."""

from .answer import check_answer
from .case import ReviewCase, review_case
from .loading import load_reviewer
from .reviewer import LazyReviewer, LLMReviewer, Reviewer, judge_of
from .run import add_review, review_trial

__all__ = [
    "LLMReviewer",
    "LazyReviewer",
    "ReviewCase",
    "Reviewer",
    "add_review",
    "check_answer",
    "judge_of",
    "load_reviewer",
    "review_case",
    "review_trial",
]
