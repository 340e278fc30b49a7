"""The agent's tools of the mock domain."""

from typing import cast

from pytest_tau.environment import ToolError, Toolkit, tool

from .models import MockDB, Status, Task, User


class MockTools(Toolkit[MockDB]):
    """Tasks and the people who have them. Source: the reference's mock domain."""

    @tool("write")
    def create_task(self, user_id: str, title: str, description: str = cast("str", None)) -> Task:
        """Add a pending task to somebody's list.

        Args:
            user_id: Whose list.
            title: A short name of the task.
            description: More about it, if there is more.
        """
        if user_id not in self.db.users:
            raise ToolError(f"User {user_id} not found")
        task_id = f"task_{len(self.db.tasks) + 1}"
        task = Task(task_id=task_id, title=title, description=description, status="pending")
        self.db.tasks[task_id] = task
        self.db.users[user_id].tasks.append(task_id)
        return task

    @tool("read")
    def get_users(self) -> list[User]:
        """List everybody with the ids of their tasks."""
        return list(self.db.users.scan())

    @tool("write")
    def update_task_status(self, task_id: str, status: Status) -> Task:
        """Set a task's status.

        Args:
            task_id: Which task.
            status: Its new status.
        """
        task = self._task(task_id)
        task.status = status
        return task

    @tool("generic")
    def transfer_to_human_agents(self, summary: str) -> str:
        """Hand the conversation over to a person, for requests that these tools and the policy leave no way to meet.

        Args:
            summary: What the user wants and what was tried.
        """
        return "Transfer successful"

    def assert_number_of_tasks(self, user_id: str, expected_number: int) -> bool:
        """Return whether somebody has so many tasks."""
        if user_id not in self.db.users:
            raise ToolError(f"User {user_id} not found")
        return len(self.db.users[user_id].tasks) == expected_number

    def assert_task_status(self, task_id: str, expected_status: str) -> bool:
        """Return whether a task has this status."""
        return self._task(task_id).status == expected_status

    def _task(self, task_id: str) -> Task:
        if task_id not in self.db.tasks:
            raise ToolError(f"Task {task_id} not found")
        return self.db.tasks[task_id]
