import json

from tau2.data_model.message import SystemMessage, UserMessage
from tau2.data_model.simulation import NLAssertionCheck


class NLAssertionsEvaluator:
    @classmethod
    def evaluate(cls, trajectory, nl_assertions):
        trajectory_str = "\n".join([f"{message.role}: {message.content}" for message in trajectory])
        system_prompt = """
        Made up: say of each expectation if it came true. Answer {"findings": [{"why": "", "true": false}]}.
        """
        user_prompt = f"""
        talk:
        {trajectory_str}

        expectations:
        {nl_assertions}
        """
        messages = [
            SystemMessage(role="system", content=system_prompt),
            UserMessage(role="user", content=user_prompt),
        ]
        result = json.loads(generate(messages).content)
        return [
            NLAssertionCheck(nl_assertion=each["what"], met=each["true"], justification=each["why"])
            for each in result.get("findings", [])
        ]
