"""The errors of a tool's call; each has a code, and a message that says what to do."""

from __future__ import annotations

from proofka.model.input.coded_error import CodedError


class CallError(CodedError):
    """A call that cannot be answered."""

    code = "M00"


class OutsideRoot(CallError):
    """A file that stands outside the folder that the tools may read."""

    code = "M01"


class BadInput(CallError):
    """A file, a name or a number that no answer exists for."""

    code = "M02"


class NoTrace(CallError):
    """A trace with a number that the result does not have."""

    code = "M03"
