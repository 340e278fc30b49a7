"""Records of the mock domain."""

from typing import Literal

from pydantic import ConfigDict, Field

from pytest_tau.environment import Database, Record, Table

Status = Literal["pending", "completed"]


class Task(Record):
    """Something to do."""

    model_config = ConfigDict(extra="ignore")

    task_id: str
    title: str
    description: str | None = None
    status: Status


class User(Record):
    """A person with a list of task ids."""

    model_config = ConfigDict(extra="ignore")

    user_id: str
    name: str
    tasks: list[str]


class Notification(Record):
    """A message in the user's inbox."""

    notification_id: str
    message: str
    status: Literal["unread", "read"] = "unread"
    task_id: str | None = None


class MockDB(Database):
    """The agent's database."""

    tasks: Table[Task]
    users: Table[User]


class MockUserDB(Database):
    """The user's database."""

    notifications: Table[Notification] = Field(default_factory=Table)
