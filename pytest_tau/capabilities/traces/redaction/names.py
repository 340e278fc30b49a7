"""Names of persons in texts, by what is said around them. Other names need a model of a language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from .fields import Personal
from .labels import NO_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator

_CAPITAL: Final = r"[^\W\d_a-zß-öø-ÿ][^\W\d_]*(?:['’-][^\W\d_]+){0,3}"
_PARTICLE: Final = r"(?:de|da|do|dos|del|della|di|van|von|vom|zu|zum|der|den|la|le|el|al|bin|ibn|ben|y|e|ter|ten|af|av)"
_MORE: Final = rf"(?:\.?[ \u00a0](?:{_PARTICLE} ){{0,2}}{_CAPITAL})"
#: A name in an alphabet with capital letters: words, initials and particles.
_NAME: Final = rf"(?:{_PARTICLE} ){{0,2}}{_CAPITAL}{_MORE}{{0,4}}"
_TWO: Final = rf"{_CAPITAL}{_MORE}{{1,4}}"
_SAYS: Final = (
    r"my (?:full |first |last |maiden |legal |new |sur)?name(?:'s|’s| is|:)|the name(?:'s|’s| is|:)|(?<![^\W_] )name:|"
    r"name on (?:the|my) (?:account|order|card|booking|reservation|file)(?: is|:)|mein name ist|ich hei(?:ß|"
    r"ss)e|name lautet|"
    r"mi nombre es|me llamo|mi chiamo|il mio nome è|je m['’]appelle|mon nom est|meu nome é|me chamo|chamo-me|ik heet|"
    r"mijn naam is|jag heter|mitt namn är|jeg heter|jeg hedder|mit navn er|mitt navn er|nimeni on|mam na imię|"
    r"nazywam się|"
    r"jmenuji se|volám sa|a nevem|numele meu este|mă numesc|benim adım|adım|ismim|меня зовут|мо[её] имя|"
    r"мене звати|με λένε|"
    r"το όνομά μου είναι|tôi tên là|nama saya|pangalan ko ay|under the name(?: of)?|in the name of|"
    r"(?:cardholder|recipient|passenger|addressee)(?: name)?(?: is|:)|(?:is )?registered to|issued to|care of|"
    r"c/o|attn:?"
)
_GREETING: Final = (
    r"(?:hi|hello|hey|hallo|hola|bonjour|ciao|good (?:morning|day|afternoon|evening))[,.!]? (?:there[,.!]? )?"
)
_AM: Final = r"(?:this is|it['’]?s|it is|i am|i['’]m|ich bin|soy|je suis|hier ist|hier spricht|sono|sou)"
_TITLES: Final = (
    r"Mr|Mrs|Ms|Mx|Miss|Dr|Prof|Herrn?|Frau|Señora?|Sra?|Srta|Mme|Mlle|Monsieur|Madame|Sig|Signora?|Doña|Sir|"
    r"Lady|Dhr|Mevr|"
    r"Dear|Estimad[oa]|Cher|Chère|Liebe|Lieber|Sehr geehrter Herr|Sehr geehrte Frau"
)
_RELATIVES: Final = (
    r"(?:my|our|his|her|meine?[nrm]?|mi|mon|ma) (?:wife|husband|spouse|partner|fianc[ée]e?|son|daughter|mother|"
    r"father|mom|mum|"
    r"dad|brother|sister|friend|boss|colleague|roommate|neighbou?r|girlfriend|boyfriend|aunt|uncle|grandmother|"
    r"grandfather|"
    r"grandson|granddaughter|cousin|niece|nephew|assistant|doctor|frau|mann|sohn|tochter|mutter|vater|freund|"
    r"freundin|esposa|"
    r"esposo|marido|hij[oa]|madre|padre|herman[oa]|femme|mari|fils|fille|mère|père|frère|sœur)"
    r"(?:['’]s name is|,? named|,? called|,)?"
)
_CASED: Final = (
    re.compile(rf"(?<![^\W_])(?i:{_SAYS})\s{{0,2}}({_NAME})", re.MULTILINE),
    re.compile(rf"(?<![^\W_])(?:{_TITLES})\.? ({_NAME})"),
    re.compile(rf"\b(?i:{_RELATIVES}) ({_NAME})"),
    re.compile(
        rf"(?i:regards|sincerely|cheers|signed|yours|greetings|grüßen?|saludos|cordialement),?\s{{1,3}}({_NAME})\s*$"
    ),
    re.compile(rf"(?<![^\W_])({_TWO})(?= ?<[\w.+%-]{{1,64}}@)"),
)
#: "This is Really Urgent": after these, capital letters alone do not make a name.
_CASED_IF_SAID: Final = (
    re.compile(rf"(?<![^\W_])(?i:{_GREETING}{_AM}) ({_NAME})"),
    re.compile(rf"(?<![^\W_])(?i:{_AM}) ({_NAME})(?=,? (?:here|speaking|calling|from|am Apparat)\b)"),
    re.compile(rf"(?:^|[.!?]\s{{1,2}})(?i:i am|i['’]m|ich bin|soy|je suis) ({_TWO})(?=\s*(?:[.,;!\n]|$)| and | with )"),
)
_SMALL: Final = re.compile(
    r"\bmy (?:full |first |last )?name(?:'s|’s| is|"
    r":) ([a-z][a-z'’-]+(?: [a-z][a-z'’-]+){0,2})(?=\s*(?:[.,;!?\n]|$)| and )"
)
_HAN: Final = "\u3400-\u9fff"
_LETTERS: Final = r"[^\W\d_\u0000-\u024f]"
_WITHOUT_CASE: Final = (
    re.compile(
        rf"(?:我叫|我的名字[叫是]|我姓名|姓名[是:：为]|名叫|收件人[是:：]?|"
        rf"联系人[是:：]?)\s?([{_HAN}·]{{2,6}}?)(?=[^{_HAN}]|$|的|，|先生|女士)"
    ),
    re.compile(
        rf"(?:名前は|氏名は|名義は|お名前[:：]|私は)?\s?([{_HAN}\u3040-\u30ffー・ 　]{{2,14}}?)"
        r"(?:と申します|といいます|と言います)"
    ),
    re.compile(rf"(?:名前は|氏名は|名義は)\s?([{_HAN}\u3040-\u30ffー・ 　]{{2,14}}?)(?=です|でございます|[。、\n]|$)"),
    re.compile(
        r"(?:이름은|성함은|성명은|이름:|성명:)\s?([\uac00-\ud7a3]{2,6}?)(?=입니다|이에요|예요|이고|이라고|이며|이야|라고|[\s.,。]|$)"
    ),
    re.compile(
        rf"(?:اسمي|إسمي|نام من|اسم من|أنا اسمي)\s(?:هو\s)?({_LETTERS}+(?:\s{_LETTERS}+){{0,3}})(?=\sاست|[.,،!؟\n]|$|\s)"
    ),
    re.compile(rf"(?:שמי|השם שלי(?: הוא)?)\s({_LETTERS}+(?:\s{_LETTERS}+){{0,2}})(?=[.,!\n]|$)"),
    re.compile(r"(?:मेरा नाम|नाम है)\s([\u0900-\u097f]+(?:\s[\u0900-\u097f]+){0,2}?)(?=\sहै|\sहूँ|[।,.\n]|$)"),
    re.compile(r"(?:ชื่อ)\s?([\u0e00-\u0e7f]+(?:\s[\u0e00-\u0e7f]+)?)(?=[\s.,]|$)"),
)
_SPELLED: Final = re.compile(r"(?<![\w-])[A-Z](?:[-.][A-Z]){2,20}(?![\w-])")
#: Words that end a name, or cannot begin one.
_NO_PART_WORDS: Final = (
    "a about absolutely account again all also am an and are as at back because but by called calling can could "
    "customer "
    "does for from had has have here how i if in incorrect is it just like misspelled missing my need no not of "
    "on or order "
    "our please quite really same she he so sorry spelled still team that the they there this to too totally "
    "under urgent "
    "valued very want was we what when where which who with would wrong you your sir madam support friend friends all "
    "und oder aber aus mit bitte nicht y pero con et mais avec the there world services service dear hi hello"
)
_NO_PART: Final = frozenset(_NO_PART_WORDS.split())


def names_said(text: str, *, said: bool) -> Iterator[Personal]:
    """Yield the names of persons that a text introduces.

    Args:
        text: The text.
        said: A person has said it.
    """
    for pattern in (*_CASED, *(_CASED_IF_SAID if said else ())):
        for match in pattern.finditer(text):
            if name := _until_other_words(match[1]):
                yield Personal("name", name)
    for match in _SMALL.finditer(text) if said else ():
        if not {*match[1].split()} & _NO_PART:
            yield Personal("name", match[1])
    for pattern in _WITHOUT_CASE:
        yield from (Personal("name", match[1].strip()) for match in pattern.finditer(text))
    yield from (Personal("name", re.sub(r"[-.]", "", match[0])) for match in _SPELLED.finditer(text))


def _until_other_words(name: str) -> str:
    """Return a name without the words after it; empty for other words."""
    words: list[str] = []
    for word in (re.sub(r"['’]s$", "", part) for part in name.split()):
        if word.lower() in _NO_PART and len(word) > 1 and not (words and len(word) < 4 and word.islower()):
            break
        words.append(word)
    while words and (words[-1].islower() or words[-1] in ("I", "A")):
        words.pop()
    adverb = bool(words) and len(words[0]) > 6 and words[0].lower().endswith("ly")
    ordinary = not words or adverb or words[-1].lower() in NO_NAMES
    return "" if ordinary else " ".join(words)
