"""Errors about the numbers of ``proofka risk``: a sentence with the remedy, and a code."""

from __future__ import annotations

from proofka.model.input.coded_error import CodedError


class RiskError(CodedError):
    """The numbers cannot be computed."""

    code = "X00"


class NoRates(RiskError):
    """No rates of faults were given: neither a file of rates, nor rates in the project file."""

    code = "X01"


class UnknownProperty(RiskError):
    """A property has no verdict in the result, or is unknown."""

    code = "X02"


class TooLarge(RiskError):
    """An exact number has too many fault sets to distinguish."""

    code = "X03"


class OtherModel(RiskError):
    """A trace of the result is no run of this version of the model, so its window is unknown."""

    code = "X04"
