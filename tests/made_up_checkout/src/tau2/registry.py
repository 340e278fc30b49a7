from tau2.agent.llm_agent import LLMAgent, create_guided

registry.register_agent_factory(LLMAgent, "llm_agent")
registry.register_agent_factory(create_guided, "llm_agent_gt")
