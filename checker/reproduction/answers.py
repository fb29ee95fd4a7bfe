"""The error of an answer to a Produce request, by the name that Kafka gives the error."""

from __future__ import annotations

from proofka.checker.cluster.bodies.producing import produce_response
from proofka.checker.cluster.frames import Frame
from proofka.checker.cluster.metadata_view import error_name


def error_of(frame: Frame) -> str | None:
    """Return the name of the error in an answer to a Produce request; None for a success."""
    codes = [partition.error_code for partition in produce_response(frame).partitions]
    return next((error_name(code) for code in codes if code), None)
