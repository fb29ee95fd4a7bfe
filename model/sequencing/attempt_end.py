"""The ways in which an attempt to send a record ends without success (semantics 3.2, 3.3, P5)."""

from __future__ import annotations

from enum import Enum, auto


class AttemptEnd(Enum):
    """The end of an attempt.

    ``NOT_LEADER``: a broker that does not lead refused the request. ``NOT_WRITTEN``: the leader refused the request,
    and nothing of it was written. ``ERROR``: a broker answered with another error. ``UNANSWERED``: the client has no
    connection, or the connection ended before an answer.
    """

    NOT_LEADER = auto()
    NOT_WRITTEN = auto()
    ERROR = auto()
    UNANSWERED = auto()
