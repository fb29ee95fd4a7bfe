"""The errors of a deployment, each with a one-line message."""

from __future__ import annotations

from proofka.model.deployment.codes import codes
from proofka.model.input.input_error import InputError
from proofka.model.input.one_line import one_line


class DeploymentError(InputError):
    """A deployment that cannot be read or checked; ``str()`` is one line: ``file:line: key: message``.

    The message says what is allowed or what to do, and never contains the value of a secret.
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
        # Even a file name can contain a line break or an escape sequence.
        return one_line(line)


class NotModelledError(DeploymentError):
    """A deployment that needs a mechanism outside of the model. Proofka refuses it rather than give a wrong answer.

    ``what``: the refused configuration, as the message names it. ``code``: the reason, as in ``N12``.
    """

    def __init__(
        self, what: str, code: str, *, file: str | None = None, line: int | None = None, key: str | None = None
    ) -> None:
        if code not in codes():
            raise ValueError(f"tables/refusals.csv has no code {code}")
        super().__init__(f"not modelled yet: {what} ({code})", file=file, line=line, key=key)
        self.args = (what, code)  # pickle calls the class with these
        self.code = code


class UnknownKeyError(DeploymentError):
    """A key that no reader knows, probably misspelt."""


class RefusedError(DeploymentError):
    """A configuration that the real client or broker refuses. The message names the real exception."""


class DocumentError(DeploymentError):
    """A JSON document that is no deployment; ``key`` is the path of the wrong member."""
