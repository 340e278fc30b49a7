def hasty(messages, tools):
    """An agent that cancels whatever order it is told, or else the other one."""
    last = messages[-1]
    if last["role"] == "user":
        return call("cancel_order", "o2")
    if last["content"].startswith("Error"):
        return call("cancel_order", "o1")
    return "It is done. Is there anything else?"


def call(name, order):
    function = {"name": name, "arguments": f'{{"order_id": "{order}"}}'}
    return {"tool_calls": [{"id": f"{name}-{order}", "function": function}]}
