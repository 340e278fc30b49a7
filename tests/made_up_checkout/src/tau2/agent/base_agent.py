from tau2.data_model.message import SystemMessage


class LocalAgent:
    def __init__(self, tools, domain_policy):
        raise RuntimeError("nothing of a checkout is executed")

    @property
    def system_prompt(self) -> str:
        raise NotImplementedError

    def get_init_state(self):
        return [SystemMessage(role="system", content=self.system_prompt)]
