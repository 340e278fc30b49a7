from tau2.environment.toolkit import ToolKitBase, ToolType, is_tool


class MockUserTools(ToolKitBase):
    @is_tool(ToolType.READ)
    def check_notifications(self) -> list:
        """Made up: look into the box."""

    @is_tool(ToolType.WRITE)
    def dismiss_notification(self, notification_id: str) -> str:
        """Made up: throw away.

        Args:
            notification_id: Made up: which.
        """
