"""Errors of the conformance lab; each has a code, and a message that says what to do."""

from __future__ import annotations

from proofka.model.input.input_error import InputError


class ConformanceError(InputError, ValueError):
    """A recording, an event or a model that the lab cannot use."""

    code = "E00"

    def __init__(self, message: str) -> None:
        super().__init__(f"{self.code}: {message}")


class UnknownEvent(ConformanceError):
    """An event that no row of the table names, or an event without an argument that its kind needs."""

    code = "E01"


class UnknownAction(ConformanceError):
    """An action of the model that the table of actions lacks."""

    code = "E02"

    def __init__(self, name: str) -> None:
        super().__init__(f"the table checker/conformance/tables/actions.csv lacks the action {name}: add its row")


class BadRecording(ConformanceError):
    """A file that is no recording of a run."""

    code = "E03"
