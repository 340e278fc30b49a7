"""Personal data of conversations: what is recognised, what stays, and what replaces it."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from faker import Faker

from pytest_tau.capabilities.traces.redaction import Redactor, libraries
from pytest_tau.capabilities.traces.redaction.key import key_of
from pytest_tau.errors import ConfigurationError
from pytest_tau.models import Simulation

if TYPE_CHECKING:
    from pathlib import Path

    from .commands import Tau

KEY = b"k" * 32
needs_extra = pytest.mark.skipif(
    importlib.util.find_spec("phonenumbers") is None, reason="the extra redact is not installed"
)


def conversation(said: str = "", result: Any = None, number: int = 1, **facts: Any) -> Simulation:
    messages = [
        {"role": "user", "content": f"I want to cancel order #W7. {said}"},
        {"role": "assistant", "tool_calls": [{"id": "c", "name": "find_order", "arguments": {"order_id": "#W7"}}]},
        {"role": "tool", "id": "c", "content": json.dumps(result or {"order_id": "#W7"}, ensure_ascii=False)},
        {"role": "assistant", "content": "Shall I cancel it? It will be refunded."},
    ]
    data = {"id": f"c-{number}", "task_id": "c", "termination_reason": "user_stop", "messages": messages}
    return Simulation.model_validate({**data, "facts": {"traces": {"system": "Be kind.", "key": "c", **facts}}})


def redacted(*conversations: Simulation, kept: str = "", key: bytes = KEY) -> list[Simulation]:
    redactor = Redactor(conversations, kept, key=key)
    return [redactor.redacted(each) for each in conversations]


def said_after(text: str) -> str:
    return str(redacted(conversation(text))[0].messages[0].content)


def result_after(result: Any) -> str:
    return str(redacted(conversation(result=result))[0].messages[2].content)


LOCALES = ("en_US", "en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "pt_BR", "pl_PL", "nl_NL", "sv_SE")
INTRODUCTIONS = {
    "en_US": "My name is {}.",
    "en_GB": "Hello, this is {}, about my order.",
    "de_DE": "Mein Name ist {}.",
    "fr_FR": "Je m'appelle {}.",
    "es_ES": "Me llamo {}.",
    "it_IT": "Mi chiamo {}.",
    "pt_BR": "Meu nome é {}.",
    "pl_PL": "Nazywam się {}.",
    "nl_NL": "Mijn naam is {}.",
    "sv_SE": "Jag heter {}.",
    "ja_JP": "私の名前は{}です。",
    "zh_CN": "我叫{}。",
    "ko_KR": "제 이름은 {}입니다.",
    "ru_RU": "Меня зовут {}.",
}


def faker(locale: str) -> Faker:
    made = Faker(locale)
    made.seed_instance(43)
    return made


@pytest.mark.parametrize("locale", INTRODUCTIONS)
def test_names_that_are_introduced_are_replaced_wherever_they_are_said(locale: str) -> None:
    made = faker(locale)
    for _ in range(20):
        first, last = made.first_name(), made.last_name()
        name = f"{last}{first}" if locale in ("ja_JP", "zh_CN", "ko_KR") else f"{first} {last}"
        text = said_after(f"{INTRODUCTIONS[locale].format(name)}\nThe card says {name.upper()}")
        assert name.lower() not in text.lower()
        if name.isascii() and last.isalpha():
            assert not re.search(rf"\b{last}\b", text, re.IGNORECASE), text


@pytest.mark.parametrize(
    "locale", [LOCALES[0], *(pytest.param(locale, marks=pytest.mark.exhaustive) for locale in LOCALES[1:])]
)
def test_fields_of_a_person_are_replaced_in_any_spelling_and_in_texts(locale: str) -> None:
    made = faker(locale)
    for number in range(10):
        person = {
            "firstName": made.first_name(),
            "LAST_NAME": made.last_name(),
            "e-mail": made.email(),
            "phoneNumber": made.phone_number(),
            "dateOfBirth": made.date_of_birth().isoformat(),
            "shippingAddress": {"address1": made.street_address(), "postalCode": made.postcode(), "city": made.city()},
            "cardNumber": int(made.credit_card_number("visa16")),
            "iban": made.iban() if hasattr(made, "iban") else "GB29NWBK60161331926819",
        }
        texts = [str(value) for value in person.values() if not isinstance(value, dict)]
        texts += person["shippingAddress"].values()
        result = {"customer": person} if number % 2 else {"payload": json.dumps(person)}
        simulation = conversation(f"You have {texts[0]} and {texts[1].upper()}; {'; '.join(texts[2:])}", result)
        after = " ".join(str(message.content) for message in redacted(simulation)[0].messages).lower()
        assert [text for text in texts if re.search(rf"\b{re.escape(text.lower())}\b", after)] == []
        content = json.loads(str(redacted(simulation)[0].messages[2].content))
        card = content["customer"]["cardNumber"] if number % 2 else json.loads(content["payload"])["cardNumber"]
        assert isinstance(card, int), "a number stays a number"


@needs_extra
@pytest.mark.parametrize("locale", LOCALES)
def test_ibans_are_recognised_that_nothing_introduces(locale: str) -> None:
    made = faker(locale)
    if not hasattr(made, "iban") or locale in ("en_US", "sv_SE"):
        pytest.skip("Faker has no IBAN for it")
    for _ in range(10):
        iban = made.iban()
        assert iban not in said_after(f"Send it to {iban}.")


@needs_extra
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I can be found under +49 171 2345678", "2345678"),
        ("(415) 555-0132", "555-0132"),
        ("415.555.0134 is best", "555.0134"),
        ("111.444.777-35", "444.777"),
        ("RCCMNL83S18D969H", "RCCMNL83S18D969H"),
        ("943 476 5919", "476 5919"),
        ("ghp_" + "a1B2" * 9, "a1B2a1B2"),
    ],
)
def test_libraries_recognise_what_nothing_introduces(text: str, left: str) -> None:
    assert left not in said_after(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Call me at 07700 900123", "900123"),
        ("4155550132 is my phone number", "4155550132"),
        ("SSN 078051121", "078051121"),
        ("NI number AB123456C", "AB123456C"),
        ("Steuer-ID: 86095742719", "86095742719"),
        ("my license plate is 7ABC123", "7ABC123"),
        ("CVV 739", "739"),
        ("born on March 4, 1972", "1972"),
        ("card ending in 4242", "4242"),
        ("MAC 3C:22:FB:12:34:56", "FB:12:34:56"),
        ("I am at 48.20849, 16.37208", "48.20849"),
        ("742 Evergreen Terrace, Springfield, IL 62704", "Evergreen"),
        ("Lindenallee 17, 50667 Köln", "50667"),
        ("12 rue de la Paix, 75002 Paris", "Paix"),
        ("github.com/fordprefectus", "fordprefectus"),
        ("my password is hunter2!", "hunter2"),
        ("Regards,\nClementine Voss", "Voss"),
        ("for my wife Drusilla Blackthorne.", "Blackthorne"),
        ("My name is Corin Wexley, spelled W-E-X-L-E-Y.", "W-E-X-L-E-Y"),
    ],
)
def test_what_is_said_like_a_field_is_replaced(text: str, left: str) -> None:
    assert left not in said_after(text)


@pytest.mark.parametrize(
    "text",
    [
        "Order #W2378156, order number 4111111111111111, tracking number 1Z999AA10123456784.",
        "Tracking 9400110200881234. SKU 1234-5678-90. Part 123-456-7890. ISBN 978-3-16-148410-0.",
        "It costs $1,299.00, not €12.345.678,90 or 1,234,567.89.",
        "This is Really Urgent. I am Very Disappointed. Happy New Year!",
        "The Kindle Paperwhite, the iPhone 15 Pro Max 256GB and a Dyson V15 Detect.",
        "Version 10.0.0.1, firmware 192.168.1.1, v1.2.3.4.",
        "It came on 05/12/2024 at 10:30:45. Flight HAT170, confirmation code Z7GOZK.",
        "My name is spelled wrong. My password is not working. My phone is an iPhone 13.",
        "An SD card 128GB, a gift card 50, a graphics card RTX 4090; I called 3 times in 2024.",
        "UUID 550e8400-e29b-41d4-a716-446655440000, invoice INV-2024-001234, PO 4500012345.",
    ],
)
def test_what_is_not_personal_stays(text: str) -> None:
    assert said_after(text) == f"I want to cancel order #W7. {text}"


@pytest.mark.parametrize(
    "result",
    [
        {"product": {"name": "Blue Lamp"}, "status": "Delivered", "carrier": "United Parcel"},
        {"name": "Blue Lamp", "price": 1299.0, "sku": "1234-5678-90", "item_id": "6086499569"},
        {"payment_method_id": "credit_card_1234567", "token_count": 12345, "created_at": "2024-05-15T10:30:45"},
        {"tracking_number": "9400110200881234", "contact": "email"},
    ],
)
def test_fields_of_things_stay(result: Any) -> None:
    assert json.loads(result_after(result)) == result


def test_a_short_number_of_a_field_is_no_part_of_a_price() -> None:
    (made,) = redacted(conversation("It costs $739.00, or 12.739 points. My CVV is 739."))
    assert "$739.00, or 12.739 points" in str(made.messages[0].content)
    assert "CVV is 739" not in str(made.messages[0].content)


@pytest.mark.parametrize("number", [2, 10, 30, 300])
def test_replacements_are_one_to_one_and_never_an_original(number: int) -> None:
    ids = [f"cust_{each}" for each in range(1, number + 1)]
    names = (
        [faker("en_US").unique.last_name() for _ in ids]
        if number < 100
        else [f"Name{chr(65 + n % 26)}" for n in range(number)]
    )
    simulations = [
        conversation(
            f"I am customer {own}.", {"customer_id": own, "last_name": name, "zip": f"{10_000 + place}"}, place
        )
        for place, (own, name) in enumerate(zip(ids, names, strict=True))
    ]
    made = [json.loads(str(each.messages[2].content)) for each in redacted(*simulations)]
    assert len({each["customer_id"] for each in made}) == number
    assert not {each["customer_id"] for each in made} & {*ids}
    assert len({each["zip"] for each in made}) == number
    assert len({each["last_name"] for each in made}) == len({*names})
    assert not {each["last_name"] for each in made} & {*names}


def test_the_same_key_gives_the_same_and_another_key_another() -> None:
    simulation = conversation("My name is Walter Quibbleton.", {"customer_id": "cust_7", "phone": "5550100200"})
    assert redacted(simulation) == redacted(simulation)
    assert redacted(simulation) != redacted(simulation, key=b"o" * 32)


def test_the_instructions_and_the_session_are_looked_at() -> None:
    (made,) = redacted(conversation(system="You serve ada.berg@example.net.", key="ada.berg@example.net"))
    assert "ada" not in made.model_dump_json()


def test_ids_have_the_replaced_names_and_letters_are_in_the_same_case() -> None:
    result = {"user_id": "yusuf_rossini_9620", "name": {"first_name": "Yusuf", "last_name": "Rossini"}}
    (made,) = redacted(conversation("I am YUSUF ROSSINI.", result))
    after = json.loads(str(made.messages[2].content))
    first, last = after["name"]["first_name"], after["name"]["last_name"]
    assert after["user_id"].startswith(f"{first}_{last}_".lower())
    assert f"I am {first} {last}.".upper() in str(made.messages[0].content).upper()
    assert f"{first} {last}".upper() in str(made.messages[0].content)


def test_a_name_that_is_an_ordinary_word_leaves_the_word() -> None:
    (made,) = redacted(
        conversation("My name is Will Marsh. I will wait.", {"name": {"first_name": "Will", "last_name": "M"}})
    )
    assert str(made.messages[0].content).endswith("I will wait.")
    assert "It will be refunded" in str(made.messages[3].content)


def test_escapes_of_json_hide_nothing() -> None:
    simulation = conversation()
    simulation.messages[2].content = json.dumps({"customer": {"name": "Jürgen Müllerschön"}}, ensure_ascii=True)
    (made,) = redacted(simulation)
    assert "llersch" not in str(made.messages[2].content)


class Entity(NamedTuple):
    entity_type: str
    start: int
    end: int
    score: float


class Analyzer:
    """Recognises one name, as presidio's analyzer does; another one is not likely."""

    def analyze(self, text: str, **_asked: Any) -> list[Entity]:
        names = {"Penelope Wigglesworth": 0.85, "Kindle Paperwhite": 0.4}
        return [
            Entity("PERSON", text.index(name), text.index(name) + len(name), score)
            for name, score in names.items()
            if name in text
        ]


def test_names_that_nothing_introduces_are_recognised_by_presidio(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The Kindle Paperwhite is for Penelope Wigglesworth."
    assert "Wigglesworth" in said_after(text)
    monkeypatch.setattr(libraries, "_analyzer", Analyzer)
    after = said_after(text)
    assert "Wigglesworth" not in after
    assert "Kindle Paperwhite" in after
    assert libraries.unseen() == []


def test_what_may_be_personal_is_listed_with_its_place() -> None:
    simulation = conversation("My gift is for Penelope Wigglesworth, 8844221100.")
    redactor = Redactor([simulation], key=KEY)
    kept = [*redactor.kept_in(redactor.redacted(simulation))]
    assert ("Penelope Wigglesworth", "message 0") in kept
    assert ("8844221100", "message 0") in kept


def test_what_a_replacement_is_is_not_listed() -> None:
    simulation = conversation("My name is Walter Quibbleton, and Walter Quibbleton pays.")
    redactor = Redactor([simulation], key=KEY)
    assert [*redactor.kept_in(redactor.redacted(simulation))] == []


@pytest.mark.parametrize("text", ["a" * 20_000, "1" * 20_000, "A-" * 10_000, "AB12 " * 4_000, "a@" * 10_000])
def test_long_texts_are_kept(text: str) -> None:
    assert len(said_after(text)) > 10_000


def test_the_key_is_beside_the_run_for_its_owner_only(tmp_path: Path) -> None:
    key, note = key_of(tmp_path)
    assert (len(key), note) == (32, "")
    assert (tmp_path / "redaction.key").stat().st_mode & 0o077 == 0
    assert key_of(tmp_path) == (key, "")
    file = tmp_path / "run.json"
    assert key_of(file)[0] != key
    assert (tmp_path / "run.json.redaction.key").exists()
    (tmp_path / "redaction.key").write_text("no key")
    with pytest.raises(ConfigurationError, match="not a key of replacements"):
        key_of(tmp_path)


def test_the_command_replaces_the_same_each_time_and_says_what_it_does_not_see(
    tau: Tau, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: Any = conversation("My name is Walter Quibbleton.", {"order_id": "#W7", "customer_id": "cust_7"})
    done = {"role": "assistant", "tool_calls": [{"id": "d", "name": "cancel_order", "arguments": {"order_id": "#W7"}}]}
    data = messages.model_dump(mode="json")
    data["messages"][3:] = [
        done,
        {"role": "tool", "id": "d", "content": '{"ok": true}'},
        {"role": "assistant", "content": "Done."},
    ]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "simulations.jsonl").write_text(json.dumps({"test": "", **data}) + "\n")
    first = tau("task-from", "run", "-o", "one/shop.tau.json")
    assert first.status == 0, first.out + first.err
    assert tau("task-from", "run#c-1", "-o", "two/shop.tau.json").status == 0
    one, two = ((tmp_path / name / "shop.tau.json").read_text() for name in ("one", "two"))
    assert one == two
    assert "quibbleton" not in one.lower()
    monkeypatch.setattr(libraries.importlib.util, "find_spec", lambda _name: None)
    bare = tau("task-from", "run", "-o", "three/shop.tau.json")
    assert "not recognised: phone numbers that nothing introduces" in bare.out
    assert "extra redact" in bare.out
