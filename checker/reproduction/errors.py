"""Errors of a replay."""

from __future__ import annotations


class ReproductionError(Exception):
    """A replay that cannot begin; the message says what to do. ``code``: its stable code."""

    code = "R00"


class PlanError(ReproductionError):
    """A text that is not a plan."""

    code = "R01"


class UnknownOutcome(ReproductionError):
    """A property that no judgement is written for."""

    code = "R03"


class CannotBegin(ReproductionError):
    """A client that does not come into the state in which the trace begins."""

    code = "R05"


class NoScript(ReproductionError):
    """A trace that no script can replay."""

    code = "R04"


class NotSteerableError(Exception):
    """A step that the replay has no means to bring about; the message is the reason."""


class DivergedError(Exception):
    """An observation that differs from the model's state. ``model`` and ``observed`` say both in words."""

    def __init__(self, model: str, observed: str) -> None:
        super().__init__(f"the model: {model}; observed: {observed}")
        self.model = model
        self.observed = observed
