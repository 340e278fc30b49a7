"""Rules of a policy that can be decided from a conversation alone, without a model.

A domain declares its rules in ``DomainSpec(rules=...)``. Each is a :class:`Rule`: its name, the sentence of the policy
that it stands for, and a function that looks at the :class:`Trajectory` of a finished conversation and yields breaches.
"""

from ..language import sentences, spoken
from ..language.agreement import has_limit, is_no, is_yes, wishes
from ..language.mentions import mentions, mentions_any, short_names
from .approvals import (
    REQUEST,
    Approval,
    acts_in,
    approvals_of,
    check_approval,
    parse_approval,
    requested_arguments,
    requests_in,
    with_approvals,
)
from .check import check_policy, counting_rules, load_rules, report_of
from .claims import done_claims
from .editions import fingerprint, stated_as, states
from .makers import (
    asked_writes,
    confirmation,
    identification,
    no_text_with_calls,
    nothing_unasked,
    one_call_at_a_time,
    only_actors,
    own_records,
    read_before_write,
    stated_details,
    transfer_notice,
)
from .parts import Breach, MadeCall, Turn
from .report import POLICY, PolicyReport, RecordedBreach
from .rule import Rule, bounded
from .sections import policy_sections
from .ties import Sentence, Tie, policy_sentences, sentences_of_domain
from .trajectory import Trajectory
from .ways_round import WayRound

__all__ = [
    "POLICY",
    "REQUEST",
    "Approval",
    "Breach",
    "MadeCall",
    "PolicyReport",
    "RecordedBreach",
    "Rule",
    "Sentence",
    "Tie",
    "Trajectory",
    "Turn",
    "WayRound",
    "acts_in",
    "approvals_of",
    "asked_writes",
    "bounded",
    "check_approval",
    "check_policy",
    "confirmation",
    "counting_rules",
    "done_claims",
    "fingerprint",
    "has_limit",
    "identification",
    "is_no",
    "is_yes",
    "load_rules",
    "mentions",
    "mentions_any",
    "no_text_with_calls",
    "nothing_unasked",
    "one_call_at_a_time",
    "only_actors",
    "own_records",
    "parse_approval",
    "policy_sections",
    "policy_sentences",
    "read_before_write",
    "report_of",
    "requested_arguments",
    "requests_in",
    "sentences",
    "sentences_of_domain",
    "short_names",
    "spoken",
    "stated_as",
    "stated_details",
    "states",
    "transfer_notice",
    "wishes",
    "with_approvals",
]
