"""The kinds of an agent's sentences: a table of patterns."""

from __future__ import annotations

import functools
import re

_YES_NO = r"\(?\byes ?(?:/|or) ?no\b\)?"
_ACT = r"(?:proceed|go ahead|continue|move forward|do (?:so|that|this|it))"
_FINE = r"(?:correct|right|ok|okay|fine|accurate|good|acceptable|alright|all right)"
_VERBS = (
    r"(?:provide|tell|share|give|send|enter|state|specify|confirm|verify|name|describe|choose|say|read|check|supply"
    r"|submit|list|include|type|indicate|select|pick|clarify|identify|advise|remind|reply with|respond with"
    r"|let me know)"
)
#: Verbs that ask for something at the beginning of a sentence.
_ORDERS = (
    r"(?:provide|tell me|share|give me|send (?:me|over)|specify|state|confirm|verify|let me know|reply with|choose"
    r"|select|pick|indicate|clarify|describe)"
)
_LITTLE = (
    r"(?:(?:also|still|just|only|first|then|now|please|kindly|quickly|briefly|simply|either|at least|go ahead and) )*"
)
_WANTS = r"(?:still )?(?:like|want|wish|prefer|are (?:ok|okay|happy|fine|ready|comfortable))"
#: What an agent does after a yes.
_DOES = (
    r"(?:proceed|go ahead|continue|move|book|cancel|make|apply|send|do|process|submit|take|complete|finali[sz]e|issue"
    r"|return|exchange|update|change|try|look|check|search|pull|transfer|start)"
)
#: What a summary is called in the question whether it is right.
_ALL_THIS = (
    r"(?:that|this|it|these|those|everything|all(?: of)?(?: this| that| these| the above| the details)?"
    r"|(?:the|these|those)(?: above)?(?: details| information| summary| following| changes?| plan)?)"
)
_AGREED = (
    r"(?:you(?:'d| would| do)? (?:still )?(?:like|want|wish|prefer|agree|accept|approve|consent|understand|confirm)"
    r"|you(?:'re| are) (?:ok|okay|happy|fine|ready|good|comfortable)"
    r"|this|that|it|these|those|i|we|everything|all|the|your)"
)
#: After "I will" or "let me": verbs that announce nothing which is then done, or something that takes no action.
_NO_ACT = (
    r"(?:not|never|only|be|have|need|require|want|like|love|wait|hope|stay|remain|leave|keep|remember|note|respect"
    r"|understand|assist|help|support|guide|walk|let|ensure|make (?:sure|certain)|monitor|know|hear|speak|talk|say"
    r"|tell|ask|explain|clarify|summari[sz]e|rephrase|repeat|recap|assure|remind|apologi[sz]e|inform|notify|contact"
    r"|call|e-?mail|message|update you|look forward|get back|follow up|reach out|start|begin|transfer|connect|escalate"
    r"|send (?:you )?(?:\w+ ){0,2}(?:e-?mail|confirmation|message|text|link|receipt|copy|details))\b"
)
#: How a question begins that leaves out "do you", "would you", "are you" or "shall I".
_SHORT = r"^\W*(?:(?:so|and|or|then|also|now|ok|okay|great|perfect)\b[, ]+)*"
_AT_ONCE = r"(?:now|right away|straight away|right now|immediately|at once|for you)"

#: Patterns of each kind of sentence, lower-case. One with ``?`` is found in questions only, one with ``.`` in others.
KINDS: dict[str, tuple[str, ...]] = {
    # Asks for something, in a question or not.
    "asks": (
        rf"\b(?:please|kindly|(?:could|can|would|will) you|if you (?:could|can|would)|you(?:'ll| will)? need to) "
        rf"(?:\w+ ){{0,2}}?{_VERBS}\b",
        rf"^(?:(?:so|and|then|also|first|next|now|to (?:start|begin|get started))\b[, ]*)*{_LITTLE}{_ORDERS}\b"
        r"(?!\s*:)",
        r"\blet me know\b",
        rf"\b(?:i|we)(?:'ll|'d| will| would| do)? {_LITTLE}(?:need|require)\b(?! to\b)",
        rf"\b(?:i|we)(?:'ll|'d| will| would)? {_LITTLE}(?:need|like|love|have) to {_LITTLE}"
        r"(?:know|verify|have|confirm|ask|collect|get|identify|authenticate)\b",
        rf"\b(?:may|can|could|might) (?:i|we) {_LITTLE}(?:have|get|ask|know|see|grab|trouble you)\b",
        r"\bmind (?:sharing|providing|telling|giving|confirming|sending|letting)\b",
        r"\bonce (?:i have|i get|i receive|you(?:'ve| have)? (?:provide|share|send|give)[dn]?(?: me)?) "
        r"(?:your|the|that)\b",
        r"\b(?:all|what) (?:i|we)(?:'ll)? need\b",
        rf"\bneed you to {_LITTLE}{_VERBS}\b(?! (?:that|whether|if)\b)",
        r"\b(?:following|these|details?|information) (?:\w+ )?(?:is|are) (?:required|needed|necessary)\b",
        r"\blet's (?:start|begin|verify|confirm|check|get)(?: (?:by|with|confirming|verifying|getting))* your\b",
        r"\byour (?:[\w'-]+,? ){1,12}please\W*$",
        r"(?<=[\"'<\[{])(?:\w+[_ ])?your[_ ]\w+|<\w+_\w+>",  # a gap to fill: <user_id>, "your_user_id"
    ),
    # Asks which, what, where or how: yes or no is no answer.
    "which": (
        r"\b(?:which|what|who|whose|whom|where|when|why|how)\b(?:[ ,]+[\w'/#-]+){0,9}?[ ,]+"
        r"(?:would|do|does|did|is|are|was|were|should|shall|can|could|will|have|has|am|must)\b(?=[^?]*\?)",
        r"\b(?:what|which|who|how)(?:'s|'d|'re)\b(?=[^?]*\?)",
        r"\b(?:which|what) (?:of|one|about)\b(?=[^?]*\?)",
        r"\bhow (?:many|much)\b(?=[^?]*\?)",
        rf"\b(?:know|tell me|say|{_VERBS})(?: (?:me|us|to me|exactly|just|again|on|about|in more detail))* "
        r"(?:the \w+ |of |for |from |in |to |with )?(?:which|what|who|whose|where|when|why|how)\b",
        r"\b(?:confirm|choose|select|pick|specify|state|indicate) (?:your|the|an?|one) "
        r"(?:\w+ ){0,2}(?:choice|preference|option|selection|preferred|of)\b",
        r"^(?:which|what) [\w' -]{3,60}\?",
    ),
    # Asks for a yes before something is done.
    "confirms": (
        _YES_NO,
        r"[\"'(\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}]yes"
        r"[\"',.!)\N{RIGHT DOUBLE QUOTATION MARK}]",
        r"\bconfirm\W+(?:\w+\W+){0,3}yes\b",
        r"\b(?:reply|answer|respond|say|type|write|send|give me)(?: back)?(?: with)?:?"
        r"(?: (?:an?|just|simply|the word))*:? "
        r"\W{0,3}(?:yes|ok|okay|confirm|proceed|go ahead|i confirm)\b",
        r"\bsay (?:the word|so|yes)\b",
        r"\b(?:give|need|have|await|awaiting|get|with|upon|after|on|waiting for|receive) (?:me )?(?:your|the|a) "
        r"(?:\w+ )?(?:confirmation|consent|approval|permission|go[- ]ahead|green light|ok|okay|authori[sz]ation)\b"
        r"(?! (?:number|code|id|e-?mail|reference))",
        r"\bdo you (?:\w+ )?(?:confirm|agree|accept|approve|authori[sz]e)\b",
        rf"\b(?:shall|should|may|can|could|do) (?:i|we) {_LITTLE}{_ACT}\b",
        rf"\b(?:ready|ok|okay|good|happy|fine|want|like|wish|prefer) (?:for )?(?:me |us )?to {_LITTLE}{_ACT}\b",
        r"\b(?:shall|should) (?:i|we)\b",
        rf"\b(?:is|are|would) {_ALL_THIS}(?: now)? (?:be )?(?:all )?{_FINE}\b",
        rf"^(?:is it |are we )?{_FINE} (?:for me )?to {_DOES}\b",
        r"\b(?:have|did) i (?:got|understood|understand|read|noted?) (?:that|this|it|you|everything|all|your)\b",
        r"\b(?:need|want|get|waiting for|require) (?:a|an|your) (?:\w+ )?\W?(?:yes|ok|okay)\b",
        rf"\b(?:does|do|did) {_ALL_THIS} (?:all )?(?:look|sound|seem) (?:all )?{_FINE}\b",
        rf"\b(?:does|do) {_ALL_THIS} (?:work|suit|match|reflect)\b",
        r"\b(?:do|did) i (?:have|get|got|understand|hear) (?:that|this|it|you|everything|all)\b",
        rf"\b(?:sounds?|looks?|all|everything) {_FINE}\?",
        rf"(?:^|[,;\N{{EM DASH}}-] ?)(?:is that )?(?:{_FINE}|yes|proceed|agreed)\?",
        r"\b(?:is|was) (?:that|this|it) (?:the|your|what|how) [^?]*\?",
        r"\bwould you like (?:me|us) to\b",
        r"\b(?:want|need) (?:me|us) to\b",
        rf"\b(?:do|would) you (?:still |also )?(?:want|wish|like) (?:me |us )?to (?:\w+ )?{_ACT}\b",
        r"\bdo you (?:want|wish) (?:me|us) to\b",
        r"\bis it (?:ok|okay|fine|all right|alright) (?:if|for|with|to)\b",
        r"\b(?:ok|okay|fine|good|comfortable|happy|satisfied) (?:for|with|if) (?:you|that|this|these|i|the)\b",
        r"\bare you sure\b",
        rf"^(?:so,? )?{_DOES} (?:it|that|this|them|now|anyway|the|your|all|both)\b[^?]{{0,40}}\?",
        rf"(?:\b(?:please|could you|can you|kindly)|^|\band|\balso,?) (?:please )?(?:\w+ )?confirm(?: for me)? "
        rf"(?:that|this|these|those|it|to {_ACT}|before|so|you\b|and i|below|(?:if|whether) {_AGREED})\b",
        r"\bconfirm (?:(?:the|these|those|all|this) )(?:\w+ ){0,3}?"
        r"(?:details?|following|changes?|summary|above|action|plan|terms|booking|exchange|cancellation|return"
        r"|modification)\b",
        r"\bconfirm (?:if|whether) [^,;?]{1,60}\b(?:is|are) (?:the|your|what|correct|right)\b",
        r"\bconfirm\W*$",
        r"^if you(?:'re| are) (?:ok|okay|happy|fine|ready|comfortable)\b[^?]*\b(?:let's|(?:i|we)(?:'ll| will| can))\b",
        r"\b(?:if|once|when|as soon as|after|should) you (?:confirm|agree|approve|give)\b"
        r"(?! (?:which|what|how|me|the|your))",
        rf"\b(?:know|tell me|say) (?:if|whether) (?:you(?:'d| would)? {_WANTS}(?: for)? (?:me|us|this|that)"
        rf"|you(?:'d| would)? {_WANTS} to {_LITTLE}{_DOES}|{_ALL_THIS} (?:looks?|sounds?|works?|is|are)"
        r"|i (?:should|can|may)|you (?:agree|approve|accept))\b",
        r"\b(?:what do you think|how (?:does|do) (?:that|this|it|these|those) (?:sound|look))\b",
        rf"^if {_ALL_THIS}(?:'s| is| looks?| sounds?| all)* {_FINE}[^?]*\b(?:i'll|i will|i can|let me)\b",
        rf"{_SHORT}(?:(?:may|can|could) (?:i|we)|deal|works for you)\?",
        rf"{_SHORT}(?:(?:are )?(?:you|we) )?(?:all )?(?:ready|{_FINE})(?: to go)?\?",
        rf"\b(?:{_FINE}|cool|happy) (?:by|with) (?:you|that|this|it|them)\b[^.]*\?",
        r"\b(?:any|have|an) objections?\b[^.]*\?|\bmind if (?:i|we)\b[^.]*\?",
    ),
    # Offers something that the user may decline.
    "offers?": (
        r"\bwould you (?:also |still |rather )?(?:like|prefer|be (?:willing|happy|interested|ok))\b",
        r"\bdo you (?:also |still )?(?:want|wish)\b",
        r"\bare you (?:willing|interested|ok|okay|happy)\b",
        r"\b(?:can|may|could) i (?:also )?(?:offer|interest|add|include)\b",
        r"\bcare for\b|^interested in\b",
        rf"{_SHORT}(?:you )?(?:want|wish for|need|like|fancy|interested)\b"
        rf"(?! (?:me|us) to\b| what\b| to (?!{_DOES}\b))",
        rf"{_SHORT}(?:add|include|throw in)\b",
        r"\bdo you (?:also )?need (?:an?|any|some|one|another)\b",
        r"\bhow about\b",
        r"\b(?:is|would) (?:that|this) (?:be )?acceptable\b",
        r"\b(?:would|does|will|do) (?:that|this|these|it|either|any of (?:these|those)) (?:work|help|suit|do)\b",
    ),
    # Offers something that the user has not asked for.
    "extra?": (
        r"\bwould you also\b",
        r"\bdo you also want\b",
        r"\b(?:can|may|could) i (?:also )?(?:offer|interest)\b",
        r"\binterested in\b",
        r"\bin addition\b",
    ),
    "refuses.": (
        r"\b(?:i|we)(?: am| are|'m|'re)? (?:\w+ )?(?:cannot|can't|can not|unable to|not able to|not allowed|won't)\b",
        r"\b(?:i|we) will not\b",
        r"\bunfortunately\b",
        r"\bnot (?:be )?(?:possible|permitted|allowed|eligible|offered)\b",
        r"\b(?:cannot|can't|can not|may not|must not) be (?!undone|reversed|changed again|taken back)",
        r"\bpolicy (?:does not|doesn't|forbids|prohibits)\b",
        r"\b(?:i have to|i must) (?:decline|refuse)\b",
        r"\bi(?:'m| am) (?:sorry,? but|afraid)\b",
    ),
    # Says that what the user wants is not to be had.
    "lacks.": (
        r"\b(?:no|not any|none of (?:the|these|those|our)|zero|neither)\b[^.,;:?!]{1,60}?"
        r"\b(?:available|left|in stock|remaining|for sale)\b",
        r"\bnone of (?:the|these|those|our)\b[^.,;:?!]{1,60}?\b(?:is|are|was|were) (?:\w+ )?free\b(?! of)",
        r"\bnone (?:is|are|was|were|left|available)\b",
        r"\b(?:out of stock|sold out|unavailable|not (?:currently |yet )?available|fully booked|booked (?:up|out|solid)"
        r"|no longer (?:available|sold|offered|made|in stock)|not in stock|discontinued|off sale"
        r"|out of service|on back-?order|back-?ordered)\b",
        r"\b(?:we|i) (?:currently |unfortunately )?"
        r"(?:have no|(?:do not|don't|no longer)(?: (?:currently|presently|actually))? "
        r"(?:have|carry|sell|offer|stock|rent))(?: any| an?)? "
        r"(?!(?:your|access|records?|information|enough|permission|that|further|other|more|additional|way)\b)[\w-]+",
        r"\bthere (?:is|are|was|were|isn't|aren't) (?:currently |unfortunately )?(?:no|not any|any) "
        r"(?!(?:\w+ ){0,2}?(?:charges?|fees?|costs?|problems?|issues?|changes?|need|difference|penalt\w+|restrictions?"
        r"|rush|reason|record|way|further|additional|extra|other|more|longer|hidden)\b)",
    ),
    # Asks who the user is, without a fact by which it is known.
    "identifies": (
        r"\b(?:verify|confirm|check|establish|validate|authenticate) (?:\w+ )?(?:identity|who (?:you are|i'm|i am))",
        r"\b(?:identify|authenticate|verify) (?:you|yourself)\b",
        r"\b(?:proof of|prove your) identity\b",
    ),
    "news.": (
        r"\b(?:has|have) (?:now |just |already |successfully )?been\b",
        r"\b(?:is|are) now\b",
        r"\bi(?:'ve| have) (?:now |just |already |successfully |also )*"
        r"(?!located|verified|identified|checked|looked|reviewed|confirmed|received|noted|searched|listed|needed)"
        r"(?:\w+ed|sent|made|put|set|done|taken|given|paid|bought|begun)\b",
        r"\ball set\b",
        r"\b(?:is|are|it's|all) (?:all )?(?:done|complete|completed|finished|resolved|fixed|solved|sorted|settled)\b",
        r"\bsuccessful(?:ly)?\b",
        r"\bshould (?:now |all )?(?:be (?:resolved|fixed|solved|working|fine)|work)\b",
        r"^done\b",
    ),
    # Asks whether the problem is gone.
    "works?": (
        r"\b(?:is|does|did|has) (?:it|that|this|everything|your \w+(?: \w+){0,3}|the \w+(?: \w+){0,3}) "
        r"(?:now |help|fix|solve|resolve|work|been (?:fixed|solved|resolved))",
        r"\b(?:working|solved|resolved|fixed|gone) (?:now|again|yet)\b",
        r"\b(?:still have|still having|still see|still there)\b",
    ),
    "works": (
        r"\blet me know (?:if|whether|how) "
        r"(?:it|this|that|the \w+|your \w+|any\w*|you(?:'re| are)?)\b[^.]*"
        r"\b(?:works?|helps?|helped|resolve[sd]|fixe[sd]|solve[sd]|improves?|persists?|continues?|still|issues?|problems?)\b",
    ),
    "closes": (
        r"\b(?:anything|something|what|how) else\b",
        r"\bdo next\b",
        r"\b(?:further|other|additional|more|any) (?:help|assistance|questions?|concerns?|requests?)\b",
        r"\belse i can\b",
        r"\bmore i can do\b",
    ),
    "parts.": (
        r"\byou(?:'re| are) (?:very |most )?welcome\b",
        r"\bgood ?bye\b",
        r"\bhave a (?:\w+ )?(?:day|one|evening|trip|flight|week)\b",
        r"\btake care\b",
    ),
    "greets?": (
        r"\bhow (?:can|may) i (?:help|assist|be of)\b",
        r"\bwhat can i (?:help|do|assist)\b",
        r"\bwhat (?:would you like|do you (?:want|need)|is (?:it )?(?:you|your (?:request|problem|issue)))\b"
        r"(?! (?:the|your|for your)\b)",
        r"\bhelp you with\b",
    ),
    # The same without a question mark.
    "greets": (
        r"\b(?:describe|explain|tell me (?:a (?:bit|little) )?(?:more )?about) (?:to me )?"
        r"(?:what|(?:your|the) (?:\w+ )?(?:issue|problem|request|needs?|situation|concern|question|inquiry))\b",
    ),
    "waits.": (
        r"\b(?:one|a) moment\b",
        r"\blet me\b(?! know)",
        r"\b(?:please )?(?:hold on|bear with me|wait)\b",
        r"\bi(?:'ll| will) (?:\w+ )?(?:check|look|see|review|find|do|take care)\b",
        r"\bi(?:'m| am) (?:now |currently |just )?(?:processing|working on|looking|checking|searching|preparing)\b",
    ),
    # Says that it does something now.
    "announces.": (
        r"(?<!what )(?<!how )\b(?:i|we)(?:'ll| will|'m going to| am going to|'re going to| are going to) "
        rf"(?:(?:now|just|also|then|gladly|happily|quickly|immediately|go ahead and) )*(?!{_NO_ACT})\w+",
        rf"\blet me (?:(?:now|just|also|quickly|go ahead and) )*(?!{_NO_ACT})\w+",
        rf"\bi(?:'m| am) (?:now |just )?(?!going\b|waiting\b|looking forward\b)\w+ing\b.*\b{_AT_ONCE}\b",
    ),
    "transfers.": (
        r"\b(?:transferring|handing) (?:you|this|the)\b",
        r"\bconnect(?:ed|ing)? (?:you )?(?:to|with) (?:an?|the|our|one of our) (?:\w+ )?(?:agent|colleague|specialist)",
        r"\b(?:are|is|have been|has been|will be) (?:now |being )*(?:transferred|handed over)\b",
        r"\bi(?:'ll| will| am going to| have)(?: now)? (?:transfer|hand)(?:red|ed)? you\b",
        r"\b(?:human|live) (?:agent|representative|specialist) (?:takes|will take|is taking) over\b",
    ),
    # Has not understood the user.
    "repeats": (
        r"\b(?:re-?phrase|re-?word|repeat (?:that|it|yourself|your)|say (?:that|it) (?:again|once more)|come again)\b",
        r"\b(?:did not|didn't|do not|don't) (?:quite |fully |really )?(?:catch|understand|get|follow) "
        r"(?:that|what you|your|you)\b",
        r"\b(?:not|n't) (?:quite |entirely )?sure (?:that )?i (?:understood|understand|follow|caught)\b",
    ),
    # Says that it can look up what the user does not know.
    "helps": (
        r"\bif you(?:'re| are)? (?:not sure|unsure|don't|do not|can't|cannot)\b.*\bi(?:'ll| can| could| will|'d)\b",
        r"\bi can (?:also |help )*(?:look|pull|check|find|list|locate|search|identify|go through|see)\b[^.?]*"
        r"\b(?:up|for you|each|them|it|all|your|which)\b",
    ),
}


@functools.cache
def patterns_of(kind: str) -> list[re.Pattern[str]]:
    """Return the patterns of a kind, which take too long to compile for runs without this user."""
    return [re.compile(pattern) for pattern in KINDS[kind]]


def kinds_in(text: str, *, question: bool) -> set[str]:
    """Return the kinds of a sentence, lower-case, by their names without a mark."""
    fitting = (kind for kind in KINDS if not kind.endswith("." if question else "?"))
    return {kind.rstrip("?.") for kind in fitting if any(pattern.search(text) for pattern in patterns_of(kind))}
