"""The user's tools of the mock domain."""

from pytest_tau.environment import ToolError, Toolkit, tool

from .models import MockUserDB, Notification


class MockUserTools(Toolkit[MockUserDB]):
    """An inbox. Source: the reference's mock domain."""

    @tool("read")
    def check_notifications(self) -> list[Notification]:
        """Show everything in the inbox, read or not."""
        return list(self.db.notifications.scan())

    @tool("write")
    def dismiss_notification(self, notification_id: str) -> str:
        """Mark one notification as read.

        Args:
            notification_id: Which one.
        """
        self._notification(notification_id).status = "read"
        return f"Notification {notification_id} dismissed"

    def add_notification(self, notification_id: str, message: str, task_id: str | None = None) -> None:
        """Put an unread notification into the inbox, replacing one with the same id."""
        self.db.notifications[notification_id] = Notification(
            notification_id=notification_id, message=message, task_id=task_id
        )

    def assert_notification_status(self, notification_id: str, expected_status: str) -> bool:
        """Return whether a notification has this status."""
        return self._notification(notification_id).status == expected_status

    def _notification(self, notification_id: str) -> Notification:
        if notification_id not in self.db.notifications:
            raise ToolError(f"Notification {notification_id} not found")
        return self.db.notifications[notification_id]
