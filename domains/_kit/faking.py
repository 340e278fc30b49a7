"""Names of people and streets, by Faker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tau.errors import ConfigurationError, install_extra

if TYPE_CHECKING:
    from faker import Faker

#: The version that made the bundled data; its lists of names change from one to the next.
FAKER_VERSION = "40.54.0"


def new_faker(seed: int) -> Faker:
    """Return a source of names.

    Raises:
        ConfigurationError: Faker is not installed.
    """
    try:
        from faker import Faker
    except ImportError:
        raise ConfigurationError(f"the generator needs Faker: {install_extra('dev')}") from None
    fake = Faker("en_US")
    fake.seed_instance(seed)
    return fake
