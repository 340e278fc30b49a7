"""What one message says, in English: the one place that has patterns of wording.

Readers of messages are above: the scripted user, rules of policies, blame, checks of the user, tasks from traces. Each
subject has one module:

- ``message``: the text without its envelope and thoughts, and its sentences;
- ``agreement``: yes and no, and what asks for them;
- ``claims``: what an agent says that it has done, does now, or cannot do;
- ``closing``: the end of a conversation, and whose words they are;
- ``mentions``: whether a text has a value;
- ``wishes``: what a user wants: the cheapest, all, a person, or nothing any more;
- ``vocabulary``: phrases, and the facts that they ask for;
- ``layout``, ``kinds``, ``parser``: what each sentence of an agent does.
"""

from .message import sentences, spoken

__all__ = ["sentences", "spoken"]
