"""The errors of reading a live cluster: each has a code and an exit status, and its message says what to do."""

from __future__ import annotations

from typing import ClassVar

from proofka.model.input.coded_error import CodedError


class LiveError(CodedError):
    """A cluster that cannot be read. ``status``: the exit status."""

    code = "Q00"
    status: ClassVar[int] = 2


class NotInstalled(LiveError):
    """The admin client is not installed."""

    code = "Q01"


class WrongConfig(LiveError):
    """A file of ``--command-config`` that cannot be used."""

    code = "Q02"


class WrongChoice(LiveError):
    """Options that fit neither each other nor the cluster."""

    code = "Q03"


class NoAnswer(LiveError):
    """A cluster that is not reached, or that does not answer in time."""

    code = "Q10"
    status = 6


class NotAdmitted(LiveError):
    """A cluster that refuses the connection: TLS or the authentication fails."""

    code = "Q20"
    status = 7


class NoRights(LiveError):
    """A user who lacks the right to read what a check needs."""

    code = "Q30"
    status = 8
