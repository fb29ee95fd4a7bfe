"""Errors about a repository and about a baseline: a sentence with the remedy, and a code."""

from __future__ import annotations

from proofka.model.input.coded_error import CodedError


class ChangesError(CodedError):
    """The changes of a repository, or what was known before, cannot be read."""

    code = "V00"


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
