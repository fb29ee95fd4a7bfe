"""Errors about a repository and about a baseline: a sentence with the remedy, and a code."""

from __future__ import annotations

from model.input.input_error import InputError
from model.input.one_line import one_line


class ChangesError(InputError):
    """The changes of a repository, or what was known before, cannot be read; ``str()`` is one line with the code."""

    code = "V00"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return one_line(f"{self.message} ({self.code})")


class NoRepository(ChangesError):
    """The folder is in no git repository, or git is missing."""

    code = "V01"


class UnknownCommit(ChangesError):
    """The name is no commit of the repository, or has no common ancestor with the current one."""

    code = "V02"


class OutsideRepository(ChangesError):
    """A path that the check reads is not in the repository."""

    code = "V03"


class NoBaseline(ChangesError):
    """The file is no baseline."""

    code = "V04"
