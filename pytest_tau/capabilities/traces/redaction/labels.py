"""What fields are called that have personal data, as names of fields and as words in texts, in several languages."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

#: Phrases by kind. A field has a kind if its name ends with one of them: ``shippingAddress``, ``PHONE_NUMBER``.
PHRASES: Final[dict[str, str]] = {
    "email": "email|e mail|mail address|email address|correo|courriel|email id",
    "phone": "phone|telephone|mobile|cell|cell phone|mobile phone|tel|msisdn|fax|whatsapp|handy|telefon|telefono|"
    "teléfono|téléphone|telefone|móvil|celular|portable|phone number|telephone number|mobile number|contact number|"
    "callback number|rufnummer|telefonnummer|handynummer|電話|電話番号|携帯|电话|手机|手机号|"
    "전화|전화번호|телефон|هاتف",
    "name": "first name|last name|full name|given name|family name|middle name|maiden name|surname|forename|fname|"
    "lname|nickname|nachname|vorname|apellido|apellidos|prénom|cognome|sobrenome|姓名|氏名|이름|имя|"
    "фамилия|cardholder name|name on card|name on account|signature|signed by|legal name|preferred name|display name",
    "street": "address|street|street address|address line|addr|road|adresse|anschrift|strasse|straße|dirección|"
    "direccion|domicilio|indirizzo|endereço|house number|住所|地址|주소|адрес|addressline",
    "place": "city|town|suburb|ciudad|stadt|wohnort|ville|città|cidade",
    "zip": "zip|zip code|zipcode|postcode|post code|postal|postal code|plz|postleitzahl|código postal|codigo postal|"
    "code postal|cap code|pincode|邮编|郵便番号",
    "date": "dob|date of birth|birth year|year of birth|birth date|birthdate|birthday|birth|born|geburtsdatum|"
    "geburtstag|geboren am|"
    "fecha de nacimiento|date de naissance|né le|née le|data di nascita|data de nascimento|生年月日|出生日期|생년월일",
    "card": "card number|card no|credit card|debit card|credit card number|debit card number|cc number|pan|"
    "kreditkarte|kartennummer|tarjeta|carte bancaire|cardnumber|card",
    "pin": "cvv|cvc|cvv2|cvc2|security code|card code|pin|pin code|last 4|last four|card last four|last4",
    "number": "iban|bank account|account number|account no|acct number|acct|kontonummer|konto|cuenta|routing number|"
    "sort code|swift code|bic|ssn|social security|social security number|sin|social insurance number|nin|nino|"
    "ni number|national insurance|national insurance number|national id|national id number|national identity number|"
    "identity card|id card|identity number|identification number|id card number|id number|tax id|tax number|tin|"
    "itin|tax identification number|steuer id|steuernummer|steuer identifikationsnummer|cpf|cnpj|curp|rfc|nif|nie|"
    "dni|cuit|pesel|aadhaar|aadhaar number|pan card|bsn|personnummer|codice fiscale|numéro de sécurité sociale|"
    "passport|passport number|passport no|reisepass|reisepassnummer|pasaporte|passeport|passaporto|driver license|"
    "drivers license|driver licence|drivers licence|driving license|driving licence|license number|licence number|"
    "driver s license|driver s licence|führerschein|ausweis|ausweisnummer|personalausweis|"
    "license plate|licence plate|number plate|plate number|plate|kennzeichen|matrícula|vin|mrn|"
    "medical record|medical record number|patient number|nhs number|medicare|medicare number|insurance number|"
    "health insurance number|versicherungsnummer|krankenversichertennummer|sozialversicherungsnummer|imei|"
    "frequent flyer|frequent flyer number|loyalty number|membership number|member number|known traveler number|"
    "身份证|身份证号|护照|マイナンバー|주민등록번호|паспорт|visa number|green card number",
    "ip": "ip|ip address|ipv4|ipv6|client ip|remote addr|ip addr",
    "mac": "mac|mac address",
    "geo": "lat|lng|lon|latitude|longitude|coordinates|gps|geo location",
    "handle": "username|user name|login|login name|screen name|handle|twitter|instagram|telegram|linkedin|facebook|"
    "github|tiktok|skype|discord|usuario|benutzername",
    "secret": "password|passwd|passcode|passphrase|api key|apikey|access token|auth token|secret|secret key|token|"
    "passwort|kennwort|contraseña|mot de passe|security answer|otp|one time password",
}
#: Words for persons: such a field is a name, or an id if it looks like one.
_PERSONS_WORDS: Final = (
    "customer client passenger guest patient recipient addressee cardholder traveler traveller owner holder "
    "payee payer "
    "beneficiary sender receiver buyer shopper member subscriber tenant resident applicant attendee participant "
    "employee "
    "driver student spouse wife husband partner contact attn caller person user consignee author signer insured "
    "policyholder kunde kundin cliente paciente pasajero destinatario empfänger empfaenger gast client billing "
    "shipping "
    "primary secondary emergency mother father parent child nurse doctor physician referrer"
)
PERSONS: Final = frozenset(_PERSONS_WORDS.split())
#: Words that say nothing about what a field has.
_TRAILING_WORDS: Final = "number no nr num value string primary secondary home work main raw full text 1 2 3 4"
_TRAILING: Final = frozenset(_TRAILING_WORDS.split())
#: What a name is made of, below a field ``name``.
NAME_PARTS: Final = frozenset({"first", "last", "middle", "given", "family", "full", "forename", "surname", "maiden"})
#: Single words that say what kind of customer one is, and not who.
_NO_NAMES_WORDS: Final = (
    "gold silver platinum bronze basic premium standard regular admin administrator guest none yes no true "
    "false unknown "
    "new vip adult child infant customer user member business corporate individual anonymous support agent "
    "system default "
    "active inactive pending private public internal external other"
)
NO_NAMES: Final = frozenset(_NO_NAMES_WORDS.split())
_ADDRESSED: Final = [[verb, "to"] for verb in ("ship", "shipped", "bill", "billed", "sold", "deliver", "delivered")]
_NAME_LIKE: Final = re.compile(r"[^\W\d_][^\W\d_.'’-]*(?:[ .,'’-]{1,2}[^\W\d_][^\W\d_.'’-]*){0,5}\.?")
_ID_LIKE: Final = re.compile(r"[\w.:@#|-]{2,64}")


def words_of(name: str) -> list[str]:
    """Return the words of a field's name in lower case: ``firstName``, ``FIRST_NAME`` and ``first-name`` have two."""
    parted = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)", " ", name[:200])
    return re.sub(r"[\W_]+", " ", parted).lower().split()


def squeezed(phrase: str) -> str:
    """Return a phrase without what is between its words."""
    return re.sub(r"[\W_]+", "", phrase)


@cache
def _kinds() -> dict[str, str]:
    return {squeezed(phrase): kind for kind, phrases in PHRASES.items() for phrase in phrases.split("|")}


@cache
def kind_of(name: str) -> str | None:
    """Return the kind of what a field of this name has; None if the name does not say that it is personal.

    ``person`` is the kind of fields such as ``customer``, and ``any name`` that of ``name``, which things have, too.
    """
    words = words_of(name)
    kinds = _kinds()
    if not words:
        return None
    for end in dict.fromkeys((len(words), len(words) - (words[-1] in _TRAILING), _bare(words))):
        for start in range(end):
            if kind := kinds.get("".join(words[start:end])):
                return kind
    if words[-1] in ("id", "ids", "uid", "number", "no", "key") and _is_person(words[-2] if len(words) > 1 else ""):
        return "id"
    if words[-1] in ("userid", "customerid", "clientid", "memberid", "patientid", "personid", "accountid", "contactid"):
        return "id"
    if words[-1] == "name":
        return (
            "name" if len(words) > 1 and all(map(_is_person, words[:-1])) else "any name" if len(words) == 1 else None
        )
    return "person" if _is_person(words[-1]) or words[-2:] in _ADDRESSED else None


def _bare(words: list[str]) -> int:
    """Return the number of words without those at the end that say nothing."""
    end = len(words)
    while end > 1 and words[end - 1] in _TRAILING:
        end -= 1
    return end


def _is_person(word: str) -> bool:
    return word in PERSONS or word.removesuffix("s") in PERSONS or word in ("account", "profile")


def is_of_person(name: str) -> bool:
    """Return whether a field of this name has a person, or several."""
    words = words_of(name)
    return bool(words) and _is_person(words[-1])


def is_name_like(text: str) -> bool:
    """Return whether a text may be the name of a person."""
    if _NAME_LIKE.fullmatch(text) is None or text.lower() in NO_NAMES:
        return False
    return text != text.lower() or not text.isascii()


def is_id_like(text: str) -> bool:
    """Return whether a text may be an id."""
    return _ID_LIKE.fullmatch(text) is not None and any(map(str.isdigit, text))
