"""Speech with sound, without a service: text to speech, a telephone line, and speech to text.

It takes the packages of the extra ``voice-audio``, which nothing else imports.
"""

from .hearing import HeardText, hear

__all__ = ["HeardText", "hear"]
