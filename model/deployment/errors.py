"""What can be wrong with a deployment, as one clear line each."""

from __future__ import annotations

from model.input_error import InputError


class DeploymentError(InputError):
    """A deployment that cannot be read or checked; ``str()`` is one line: ``file:line: key: message``.

    The message says what is allowed or what to do, and never holds the value of a secret.
    """

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.key = key

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        line = ": ".join(part for part in (place, self.key, self.message) if part)
        # Even a file's name can hold a line break or an escape sequence.
        return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


class NotModelledError(DeploymentError):
    """The deployment needs a mechanism that the model does not have yet: refused rather than answered wrongly."""


class UnknownKeyError(DeploymentError):
    """A key that nobody knows, misspelt most likely."""


class RefusedError(DeploymentError):
    """The real client or broker refuses this configuration; the message names its own exception."""


class DocumentError(DeploymentError):
    """A JSON document that is no deployment; ``key`` is the path of the wrong member."""
