"""Recognition by libraries of the extra ``redact``, and by presidio where it and a model are installed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ....errors import install_extra
from .fields import Personal
from .texts import is_thing

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What each library of the extra recognises.
_SEEN_BY: Final = {
    "phonenumbers": "phone numbers that nothing introduces",
    "stdnum": "IBANs and national numbers that nothing introduces",
    "detect_secrets": "secrets of many services",
}
#: Detectors that take any word without a pattern for a secret, or what is found elsewhere.
_LOOSE_DETECTORS: Final = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector", "KeywordDetector")
_NUMBER: Final = re.compile(r"(?<![\w+.#$€£¥/-])\+?\(?\d(?:[ ()./-]{0,2}\d){6,16}(?![\w/-]|\.\d)")
#: What national numbers look like as they are written where no word introduces them; those that are digits alone are
#: recognised by more than one check digit only.
_NATIONAL: Final = (
    (r"\d{3}-\d{2}-\d{4}", "us.ssn"),
    (r"\d{3} \d{3} \d{4}", "gb.nhs"),
    (r"\d{3}\.\d{3}\.\d{3}-\d{2}", "br.cpf"),
    (r"\d{8}-?[A-Z]", "es.dni"),
    (r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    (r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    (r"[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}", "fr.nir"),
    (r"\d{4} \d{4} \d{4}", "in_.aadhaar"),
    (r"[A-Z]{5}\d{4}[A-Z]", "in_.pan"),
    (r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d", "mx.curp"),
    (r"\d{17}[\dX]", "cn.ric"),
    (r"\d{6}-\d{7}", "kr.rrn"),
    (r"\d{6}[-+A]\d{3}[A-Z\d]", "fi.hetu"),
    (r"\d{6,8}[-+]\d{4}", "se.personnummer"),
    (r"756\.\d{4}\.\d{4}\.\d{2}", "ch.ssn"),
    (r"\d{3}-\d{3}-\d{3}|\d{3} \d{3} \d{3}", "ca.sin"),
)
#: Countries whose way to write numbers is recognised. All of them would take a second for each number.
_REGIONS: Final = (
    *("US", "GB", "DE", "FR", "ES", "IT", "NL", "BE", "AT", "CH", "PL", "SE", "NO", "DK", "FI", "PT", "IE", "CZ", "GR"),
    *("BR", "MX", "AR", "IN", "JP", "KR", "CN", "AU", "NZ", "ZA", "TR", "RU", "IL", "AE", "SG"),
)
_IBAN: Final = re.compile(r"(?<![\w-])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![a-z0-9_])")
#: Kinds of presidio; its others are recognised without it.
_ENTITIES: Final = {"PERSON": "name", "LOCATION": "place"}
_LIKELY: Final = 0.8


def unseen() -> list[str]:
    """Return a line for each reason why some kinds are not recognised."""
    missing = [text for module, text in _SEEN_BY.items() if importlib.util.find_spec(module) is None]
    lines = [f"not recognised: {', '.join(missing)} (extra redact: {install_extra('redact')})"] if missing else []
    if _analyzer() is None:
        without = "names and places that nothing introduces (needs presidio-analyzer and a spaCy model)"
        return [*lines, f"not recognised: {without}"]
    return lines


def recognised(text: str) -> Iterator[Personal]:
    """Yield what the installed libraries recognise in a text."""
    if re.search(r"\d{2}", text):
        yield from _phones(text)
        yield from _numbers(text)
    yield from _secrets(text)


def recognised_names(text: str) -> Iterator[Personal]:
    """Yield the names and places that presidio recognises in a text that a person or an agent has said."""
    analyzer = _analyzer()
    if analyzer is None or not text.strip():
        return
    for entity in analyzer.analyze(text=text[:100_000], language="en", entities=list(_ENTITIES)):
        words = text[entity.start : entity.end].strip()
        if entity.score >= _LIKELY and words != words.lower() and not any(map(str.isdigit, words)):
            yield Personal(_ENTITIES[entity.entity_type], words)


def _phones(text: str) -> Iterator[Personal]:
    module = _optional("phonenumbers")
    if module is None:
        return
    for match in _NUMBER.finditer(text):
        if not is_thing(text, match.start()) and _is_phone(match[0]):
            yield Personal("phone", match[0])


@cache
def _is_phone(number: str) -> bool:
    """Return whether a number is written as those of a region are; digits alone only with the code of a country."""
    phones = importlib.import_module("phonenumbers")
    regions = [None] if number.startswith("+") else _REGIONS if re.search(r"\D", number) else []
    for region in regions:
        with contextlib.suppress(phones.NumberParseException):
            parsed = phones.parse(number, region)
            if region is None:
                return bool(phones.is_possible_number(parsed))
            national = phones.format_number(parsed, phones.PhoneNumberFormat.NATIONAL)
            if phones.is_valid_number_for_region(parsed, region) and _groups(national) == _groups(number):
                return True
    return False


def _groups(number: str) -> list[str]:
    return re.findall(r"\d+", number)


def _numbers(text: str) -> Iterator[Personal]:
    if _optional("stdnum") is None:
        return
    iban = importlib.import_module("stdnum.iban")
    for match in _IBAN.finditer(text):
        words = match[0].split(" ")
        for end in range(len(words), 0, -1):  # words in capital letters may follow
            if iban.is_valid(" ".join(words[:end])):
                yield Personal("number", " ".join(words[:end]))
                break
    for pattern, name in _national():
        for match in pattern.finditer(text):
            if importlib.import_module(f"stdnum.{name}").is_valid(match[0]) and not is_thing(text, match.start()):
                yield Personal("number", match[0])


@cache
def _national() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(rf"(?<![\w.+#$€£-])(?:{form})(?![\w-])"), name) for form, name in _NATIONAL)


def _secrets(text: str) -> Iterator[Personal]:
    if _optional("detect_secrets") is None:
        return
    for detector in _detectors():
        for line in text.splitlines():
            yield from (Personal("secret", secret) for secret in detector.analyze_string(line) if len(secret) > 5)


@cache
def _detectors() -> list[Any]:
    plugins = importlib.import_module("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class()
    return [plugin() for plugin in plugins.values() if plugin.__name__ not in _LOOSE_DETECTORS]


@cache
def _analyzer() -> Any:
    """Return presidio's analyzer on an installed model of English; None without both. Nothing is downloaded."""
    if importlib.util.find_spec("presidio_analyzer") is None or importlib.util.find_spec("spacy") is None:
        return None
    models = sorted(importlib.import_module("spacy.util").get_installed_models(), key=_size_of)
    english = [model for model in models if model.startswith("en_")]
    if not english:
        return None
    engines = importlib.import_module("presidio_analyzer.nlp_engine")
    configuration = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": english[-1]}]}
    engine = engines.NlpEngineProvider(nlp_configuration=configuration).create_engine()
    presidio = importlib.import_module("presidio_analyzer")
    return presidio.AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])


def _size_of(model: str) -> int:
    sizes = ("sm", "md", "lg", "trf")
    return sizes.index(model.rsplit("_", 1)[-1]) if model.rsplit("_", 1)[-1] in sizes else -1


def _optional(name: str) -> Any:
    return importlib.import_module(name) if importlib.util.find_spec(name) else None
