from typing import Any, Dict, List

from tau2.domains.mock.data_model import Reminder, Status
from tau2.environment.toolkit import ToolKitBase, ToolType, is_discoverable_tool, is_tool

raise RuntimeError("nothing of a checkout is executed")


class MockTools(ToolKitBase):
    @is_tool(ToolType.WRITE)
    def create_task(self, user_id: str, title: str, description: str = None) -> Dict[str, Any]:
        """Made up: note a task.

        It is pending.

        Args:
            user_id: Made up: for whom.
            title: Made up: in a word.
            description: Made up: in more words.

        Returns:
            The task.
        """

    @is_tool(ToolType.READ)
    def get_users(self) -> List[Dict[str, Any]]:
        """Made up: everybody."""

    @is_tool(ToolType.WRITE)
    def update_task_status(self, task_id: str, status: Status) -> Dict[str, Any]:
        """Made up: move a task on.

        Args:
            task_id: Made up: which.
            status: Made up: to where.
        """

    @is_tool(ToolType.GENERIC)
    def transfer_to_human_agents(self, summary: str) -> str:
        """Made up: give up.

        Args:
            summary: Made up: why.
        """

    @is_tool(ToolType.WRITE)
    def set_reminder(self, reminder: Reminder | dict, days: List[int], owner: "str | None" = None) -> str:
        """Made up: a tool that the domain does not have."""

    @is_discoverable_tool(ToolType.WRITE)
    def ring_bell_0001(self, times: int, softly: bool = True) -> str:
        """Made up: ring.

        As loud as it goes.

        Args:
            times: How often.
            softly: Not so loud.
        """

    def not_a_tool(self) -> None:
        """No model reads this."""
