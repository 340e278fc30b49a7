import textwrap

from tau2.agent.base_agent import LocalAgent

raise RuntimeError("nothing of a checkout is executed")

RULES = """
Made-up rules: help, and {{never}} guess.
""".strip()

FRAME = """
<rules>
{rules}
</rules>
<book>
{domain_policy}
</book>
""".strip()

ALONE = textwrap.dedent(
    """
    Made-up rules of somebody who works alone. Call `{end}` at the end.
    """
).strip()


class LLMAgent(LocalAgent):
    @property
    def system_prompt(self) -> str:
        return FRAME.format(domain_policy=self.domain_policy, rules=RULES)


class LLMSoloAgent(LocalAgent):
    END = "done"

    def add_tool(self):
        def done() -> str:
            """Made up: end the work.

            Nothing follows.
            """
            return "###STOP###"

        self.tools.append(done)

    @property
    def system_prompt(self) -> str:
        rules = ALONE.format(end=self.END)
        return f"{rules}\n<book>\n{self.domain_policy}\n</book>\n<case>\n{self.task.ticket}\n</case>"


class GuidedAgent(LocalAgent):
    @property
    def system_prompt(self) -> str:
        return FRAME.format(domain_policy=self.domain_policy, rules=RULES) + "\n<plan>\n" + self.steps() + "\n</plan>"

    def steps(self) -> str:
        lines = []
        for action in self.task.actions:
            lines.append(action.name)
        return "\n".join(lines)


def create_guided(tools, domain_policy, **kwargs):
    return GuidedAgent(tools, domain_policy)
