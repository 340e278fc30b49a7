"""An agent and a user with fixed turns for docs/agent_or_test.md, which then needs no model."""

from pytest_tau.models import AssistantMessage, ToolCall


def call(name, **arguments):
    return AssistantMessage(tool_calls=[ToolCall(id=name, name=name, arguments=arguments)])


class Agent:
    """Follows the policy: it finds the user, asks for the reason, asks for a yes, and cancels."""

    def __init__(self):
        self.turns = iter(
            [
                call("find_user_id_by_email", email="amy.taylor19@example.com"),
                call("get_order_details", order_id="#W7566938"),
                "Did you order it by mistake, or is it no longer needed?",
                "I will cancel order #W7566938 with the reason 'ordered by mistake'. Shall I go ahead?",
                call("cancel_pending_order", order_id="#W7566938", reason="ordered by mistake"),
                "Order #W7566938 is cancelled.",
            ]
        )

    def respond(self, message):
        return next(self.turns)


class User:
    """Amy Taylor, who has to make up the reason: her instructions do not give one."""

    def __init__(self):
        self.turns = iter(
            [
                "Please cancel my order #W7566938. My email address is amy.taylor19@example.com.",
                "It was ordered by mistake.",
                "Yes, please.",
                "###STOP###",
            ]
        )

    def respond(self, message):
        return next(self.turns)
