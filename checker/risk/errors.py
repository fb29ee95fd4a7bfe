"""Errors about the numbers of ``proofka risk``: a sentence with the remedy, and a code."""

from __future__ import annotations

from proofka.model.input.coded_error import CodedError


class RiskError(CodedError):
    """The numbers cannot be computed."""

    code = "D00"


class NoRates(RiskError):
    """No rates of faults were given: neither a file of rates, nor rates in the project file."""

    code = "D01"


class UnknownProperty(RiskError):
    """A property has no verdict in the result, or is unknown."""

    code = "D02"


class TooLarge(RiskError):
    """An exact number has too many fault sets to distinguish."""

    code = "D03"


class OtherModel(RiskError):
    """A trace of the result is no run of this version of the model, so its window is unknown."""

    code = "D04"
