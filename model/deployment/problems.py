"""The collection of all errors of a deployment in one reading, not only the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from proofka.model.deployment.errors import DeploymentError


class Problems:
    """Errors that were collected, so that reading can continue after each."""

    def __init__(self) -> None:
        self.found: list[DeploymentError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Collect an error that is raised within the block; the rest of the block is skipped."""
        try:
            yield
        except DeploymentError as error:
            self.found += each_of(error)

    def raise_any(self) -> None:
        """Raise the first error with the others attached, if there is an error."""
        if self.found:
            raise self.first()

    def first(self) -> DeploymentError:
        """Return the first error in the order of files and lines, with the others attached. There must be an error."""
        return first_of(by_place(self.found))


def each_of(error: DeploymentError) -> list[DeploymentError]:
    """Return an error and the others of the same reading, each alone, so that none is told twice."""
    found = [error, *(one for one in error.others if isinstance(one, DeploymentError))]
    for one in found:
        one.others = ()
    return found


def by_place(problems: Iterable[DeploymentError]) -> list[DeploymentError]:
    """Sort errors by file and line; errors without a file come first."""
    return sorted(problems, key=lambda error: (error.file or "", error.line or 0))


def first_of(problems: Iterable[DeploymentError]) -> DeploymentError:
    """Return the first error with the others attached, in order. There must be an error."""
    first, *others = problems
    first.others = tuple(others)
    return first
