"""Errors about policies: a place, a sentence with the remedy, and a code."""

from __future__ import annotations

from typing import ClassVar

from proofka.model.input.coded_error import CodedError
from proofka.model.input.one_line import one_line


class PolicyError(CodedError):
    """A policy that Proofka cannot read or decide."""

    code: ClassVar[str] = "X00"
    further: tuple[PolicyError, ...] = ()
    """Other errors of the same reading."""

    def __init__(
        self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        numbers = [str(number) for number in (self.line, self.column) if number is not None]
        place = ":".join([*([] if self.file is None else [self.file]), *numbers])
        return one_line(f"{place}: {self.message} ({self.code})" if place else f"{self.message} ({self.code})")


class RuleSyntaxError(PolicyError):
    """The text of a rule breaks the grammar of its language."""

    code: ClassVar[str] = "X01"


class OutsideSubsetError(PolicyError):
    """A rule uses a part of CEL or Rego that Proofka does not decide."""

    code: ClassVar[str] = "X02"


class UnknownSettingError(PolicyError):
    """A rule reads a name that is no setting of topics, brokers, producers, consumers or applications."""

    code: ClassVar[str] = "X03"


class AmbiguousSettingError(PolicyError):
    """A rule reads a setting that several components have, without the component's name."""

    code: ClassVar[str] = "X04"


class PolicyFileError(PolicyError):
    """A policy file has a wrong, missing or unknown key."""

    code: ClassVar[str] = "X05"


class NotComparableError(PolicyError):
    """A rule asks for the order of values, or for a sum, and a value is no whole number."""

    code: ClassVar[str] = "X06"


class AbsentSettingError(PolicyError):
    """A rule compares a setting that a deployment does not write, and does not ask before with has()."""

    code: ClassVar[str] = "X07"


class InvalidValueError(PolicyError):
    """A rule compares a setting with a value that no release accepts."""

    code: ClassVar[str] = "X09"


class TooManyDeploymentsError(PolicyError):
    """A matrix has more deployments than a policy is decided over."""

    code: ClassVar[str] = "X08"
