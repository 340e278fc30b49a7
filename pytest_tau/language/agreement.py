"""Yes and no: whether a user agrees, and whether an agent asks for it."""

from __future__ import annotations

import re
from typing import Final

from .message import plain_quotes

#: What a user orders.
_ACTS: Final = (
    r"(?:cancel|change|modify|update|return|exchange|book|add|process|make|complete|submit|finali[sz]e|switch|use|remove"
    r"|upgrade|downgrade|enable|disable|refuel|resume|suspend|send|apply|file|open|close|order)"
)
#: Words of agreement; of what the user orders, the verb.
_YES: Final = re.compile(
    r"\b(?:yes|yeah|yep|yup|yea|(?<!make )(?<!making )(?<!for )sure|ok|okay|alright|all right|agreed?|absolutely"
    r"|definitely|certainly|of course"
    r"|correct|(?<!you )confirm(?:ed|ing)?|go ahead|proceed|do (?:it|so|that|this)|please do|go for it"
    r"|sounds (?:good|great|fine|perfect|right)|looks (?:good|great|fine|right)|that works|works for me"
    r"|that(?:'s| is| would be) (?:fine|good|great|right|perfect|okay|ok|acceptable)|i accept|let's do"
    r"|(?:i'll|i will|let's|i'd like to|i want to) (?:go (?:with|for|ahead)|take|choose|pick)"
    r"|affirmative|by all means|no objections?|i'm (?:fine|ok|okay|happy|good) with (?:it|that|this)"
    rf"|perfect|exactly|fine,? (?:then,? )?just (?:do|{_ACTS})|please (?:just )?(?:continue|{_ACTS}))\b(?!,? not\b)"
    r"|^\W*y\W*$"
    rf"|(?:^|[.!?]\s+|\n\W*)(?:just )?{_ACTS} (?:it|them|that|this|the|my|both|all|items?|orders?)\b",
    re.IGNORECASE,
)
#: What turns a word of agreement into its opposite if it is in the same clause before it: "I can't confirm".
_NOT: Final = re.compile(
    r"\b(?:not|never|cannot|unable|refuse|hesitant|reluctant|\w+n't)\b(?! only\b)(?:\W+\w+){0,4}\W*$", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile(r"[.,;:!?\n\N{EM DASH}]|\b(?:but|so|and then)\b", re.IGNORECASE)
_NO: Final = re.compile(
    r"^\W*(?:please )?(?:no(?! (?:problem|worries|changes|issues?|objections?|rush)\b)|nope|nah|not yet|not now|don't"
    r"|do not|wait|hold on|stop|never ?mind|cancel that)\b"
    r"|\b(?:i disagree|rather you (?:didn't|did not))\b|\bnot (?:fine|ok|okay|happy) with (?:it|that|this)\b"
    r"|\b(?:it|that|this) (?:won't|will not|doesn't|does not) work(?: for me)?\W*$"
    r"|\b(?:absolutely|certainly|definitely|of course|sure(?:ly)?|rather|let's|please) (?:not|don't)\W*$"
    r"|\b(?:absolutely|certainly|definitely|of course|let's) not\b"
    # Takes back what was asked for.
    r"|\b(?:cancel|stop|drop|withdraw|forget(?: about)?) (?:the |this |that |my |all )?(?:entire |whole |current )?"
    r"(?:\w+ )?(?:request|change|modification|process|procedure|transaction|operation)\b"
    r"|\b(?:i|we) (?:do not|don't|cannot|can't|won't|will not|would not|wouldn't) "
    r"(?:want to |wish to |like to )?(?:confirm|agree|approve|authori[sz]e|consent|proceed|go ahead)\b"
    r"|\b(?:do not|don't) (?:proceed|go ahead|do (?:it|that|this|so)|make any changes?"
    r"|(?:make|book|cancel|change|submit) (?:it|that|this))\b",
    re.IGNORECASE,
)
#: What the user wishes to have done, said in full.
_WISHES: Final = re.compile(
    r"\b(?:i'd like|i would like|i want|i wish|i need|let's|let us|please) (?:you )?(?:to )?(?:just )?"
    rf"(?:{_ACTS}|get|buy)\b",
    re.IGNORECASE,
)
#: A yes that is taken back at once.
_TAKEN_BACK: Final = re.compile(
    r"\b(?:yes|yeah|yep|ok|okay|actually|wait|sorry),? (?:no|never ?mind)\b"
    r"(?! (?:problem|worries|changes|issues?|objections?|rush|need|more|further|other|additional|one|that's|it's)\b)",
    re.IGNORECASE,
)
#: What a yes leaves out: "yes, but not the second one", "sure, except the lamp", "go ahead, but keep the bed".
_LEAVES_OUT: Final = re.compile(
    r"\b(?:but|just|only|though),? (?:please )?(?:definitely |certainly )?not (?!(?:sure|certain|aware|only|just"
    r"|because|that (?:i|it)|(?:a|any|in|so|too|very|worried|happy|quite))\b)"
    r"|(?:[,;\N{EM DASH}] ?|\band )(?:please )?not (?:for |on |to |with |in )?"
    r"(?:the|that|this|those|these|my|today|tomorrow|now|yet|all|both|everything)\b"
    r"|\b(?:except(?:ing)?(?: for)?|excluding|save for|all but|everything but"
    r"|(?:other than|apart from|aside from)(?! (?:that|this)\b))\s"
    r"|\bbut (?:please |i(?:'d| would|'ll| will)? (?:really |still |also )*(?:want to |like to |prefer to |need to )?)?"
    r"(?:(?:do not|don't|never)(?! (?:have|know|remember|recall|see|think|mind|worry|forget|need|understand|care|like"
    r"|use|get)\b)|leave|keep|skip|hold)\b",
    re.IGNORECASE,
)
#: What a yes depends on, or is confined to.
_DEPENDS: Final = re.compile(
    r"\b(?:as long as|so long as|provided (?:that|it|there|they|this|we)|on (?:the |one )?condition"
    r"|only if|unless|but (?:please )?(?:first|before|only|wait)|but i need to know)\b",
    re.IGNORECASE,
)
#: The same right after the yes: "yes, if it is free", "yes, only the first one", "yes, without insurance".
_CONFINED: Final = re.compile(
    r"(?:(?<=yes)|(?<=sure)|(?<=fine)|(?=[,;\N{EM DASH}]))\W*(?:but )?if (?!you|that|possible|necessary|needed)"
    r"|\W*(?:(?:but|and|please),? )*(?:(?:only|just) (?:for |with )?"
    r"(?:the|that|this|those|these|my|one|item|order|#)\b|without (?!any (?:doubt|problem)|problem|doubt|delay|it\b))",
    re.IGNORECASE,
)
_GO_AHEAD: Final = re.compile(r"\b(?:yes|yeah|go ahead|proceed|confirm(?:ed)?)\b", re.IGNORECASE)
_ORDERS: Final = re.compile(
    r"\b(?:go ahead|proceed|please continue|i confirm|fine,? (?:then,? )?just do)\b", re.IGNORECASE
)
_PROCEED: Final = re.compile(r"\bconfirm|\bproceed|\bgo ahead", re.IGNORECASE)
_PAYMENT: Final = re.compile(r"\b(?:payment|refund) method|\bgift cards?\b|\bcredit cards?\b|\bpay\b", re.IGNORECASE)
_ASKS: Final = re.compile(
    r"\(yes/no\)|\bconfirm|\bproceed|\bgo ahead|\b(?:shall|should|may|can|could) (?:i|we)\b|\bwould you like\b"
    r"|\bdo you (?:want|wish|agree|approve|accept|consent)\b|\bare you (?:sure|ready|happy|okay|ok)\b"
    r"|\b(?:is|does|would|are) (?:that|this|it|these|everything|all)[^.?!]*\?|\bagree\b|\bapprove|\bauthori[sz]e"
    r"|['\"\u201c]yes['\"\u201d]|\breply\b|\blet me know\b|\bok(?:ay)?\?|\bcorrect\?|\bright\?",
    re.IGNORECASE,
)
#: A question for agreement that a no agrees to.
_ASKS_FOR_OBJECTION: Final = re.compile(r"\b(?:any|have|an) objections?\b|\bmind if (?:i|we)\b", re.IGNORECASE)

#: A text that is nothing but a yes to the question before, or orders it.
_AT_ONCE: Final = re.compile(
    r"^\W*(yes|yeah|yep|sure|correct|absolutely|of course|i confirm|confirmed|go ahead)\b"
    r"|\b(please|you can|you may) (go ahead|proceed|confirm|continue|do (so|that|it)|complete|process)\b|\bgo ahead\b",
    re.IGNORECASE,
)
#: A text that is nothing but a yes, or nothing but a no.
_ONLY_YES: Final = re.compile(
    r"(?:yes|yeah|yep|sure|ok|okay|correct|go ahead|please do|that works|confirmed?|i agree|right)\b"
    r"(?:[ ,]+[a-z']+){0,2}[.!]*",
    re.IGNORECASE,
)
_ONLY_NO: Final = re.compile(
    r"(?:no|nope|no,? thank(?:s| you)|i'd rather not|not (?:now|really|today))[.!]*", re.IGNORECASE
)
_HESITATES: Final = re.compile(
    r"\b(?:no|not|don't|never|cancel|stop|instead|rather|wait|later|changed? my mind|think about|hold off|however|but"
    r"|leave it|forget|nevermind|never mind|can't|cannot|won't|wouldn't|without|unless)\b",
    re.IGNORECASE,
)

#: A yes at the beginning of a text that goes on.
_AGREES_FIRST: Final = re.compile(
    r"\A(?:oh\W+)?(?:(?:ok|okay|sure|yeah|yep|yes)\b[\s,.;:!-]+)+(?:please[\s,.;:!-]+)?", re.IGNORECASE
)


def is_yes(text: str) -> bool:
    """Return whether a text of the user agrees to something, if only to a part of it: see ``has_limit``."""
    plain = plain_quotes(text)
    if _TAKEN_BACK.search(plain):
        return False
    return _affirms(_YES, plain) and (not _NO.search(plain) or _affirms(_GO_AHEAD, plain))


def is_no(text: str) -> bool:
    """Return whether a text of the user begins with a refusal or takes a request back, and agrees to nothing."""
    plain = plain_quotes(text)
    return bool(_TAKEN_BACK.search(plain)) or (bool(_NO.search(plain)) and not _affirms(_GO_AHEAD, plain))


def has_limit(text: str) -> bool:
    """Return whether a yes of the user leaves something out, depends on something, or is for a part only."""
    plain = plain_quotes(text)
    start = _end_of_yes(plain)
    return start is not None and bool(
        _LEAVES_OUT.search(plain, start) or _DEPENDS.search(plain, start) or _CONFINED.match(plain, start)
    )


def wishes(text: str) -> bool:
    """Return whether a text of the user says what it wants done: "I'd like to refuel 2 GB"."""
    return _affirms(_WISHES, plain_quotes(text))


def is_order(text: str) -> bool:
    """Return whether a text of the user orders what was proposed, however the proposal was worded."""
    return is_yes(text) and _affirms(_ORDERS, plain_quotes(text))


def agrees_at_once(text: str) -> bool:
    """Return whether a text of the user begins with a yes, or orders the agent to go ahead."""
    return bool(_AT_ONCE.search(plain_quotes(text)))


def without_agreement(text: str) -> str:
    """Return a text without the yes that it begins with: "Yes, I moved." says why, and agrees to nothing elsewhere."""
    rest = _AGREES_FIRST.sub("", text)
    return f"{rest[:1].upper()}{rest[1:]}" if rest and rest != text else text


def is_plain_yes(text: str) -> bool:
    """Return whether a text of the user is a yes and hardly anything else."""
    return _ONLY_YES.fullmatch(plain_quotes(text)) is not None


def is_plain_no(text: str) -> bool:
    """Return whether a text of the user is a no and nothing else."""
    return _ONLY_NO.fullmatch(plain_quotes(text)) is not None


def hesitates(text: str) -> bool:
    """Return whether a text of the user has words of a no, a doubt or a condition."""
    return bool(_HESITATES.search(plain_quotes(text))) or has_limit(text)


def asks_to_proceed(text: str) -> bool:
    """Return whether a text of the agent asks for agreement to a change, and not only a question."""
    return bool(_PROCEED.search(text))


def is_about_payment(text: str) -> bool:
    """Return whether a text of the agent is about the method of a payment."""
    return bool(_PAYMENT.search(text))


def asks_for_yes(text: str) -> bool:
    """Return whether a text of the agent asks for agreement."""
    return bool(_ASKS.search(text))


def asks_for_objection(text: str) -> bool:
    """Return whether a text of the agent asks what speaks against something, so that a no agrees: "Any objections?"."""
    return bool(_ASKS_FOR_OBJECTION.search(text))


def _affirms(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a text has words of agreement that nothing before them in their clause negates."""
    return _affirming(pattern, text) is not None


def _affirming(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    words = pattern.finditer(text)
    return next((word for word in words if not _NOT.search(_clause_before(text, word.start()))), None)


def _end_of_yes(text: str) -> int | None:
    """Return where the first words of agreement end in a text; None without any."""
    word = _affirming(_YES, text)
    return word and word.end()


def _clause_before(text: str, end: int) -> str:
    """Return the words of a clause before a place in it, at most a line of them."""
    before = text[max(0, end - 80) : end]
    return _CLAUSE_END.split(before)[-1]
