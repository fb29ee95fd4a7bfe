"""All that is wrong with a deployment, as far as one reading finds it, and not only what comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from model.deployment.errors import DeploymentError


class Problems:
    """Errors that were put aside, so that what stands behind them is read as well."""

    def __init__(self) -> None:
        self.found: list[DeploymentError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Within the block an error is put aside; what follows it in the block is not done."""
        try:
            yield
        except DeploymentError as error:
            self.found += [error, *(one for one in error.others if isinstance(one, DeploymentError))]

    def first(self) -> DeploymentError:
        """The first in the order of files and lines, with the others; there has to be one."""
        return first_of(by_place(self.found))


def by_place(problems: Iterable[DeploymentError]) -> list[DeploymentError]:
    """Sort problems by files and lines; those of no file come first."""
    return sorted(problems, key=lambda error: (error.file or "", error.line or 0))


def first_of(problems: Iterable[DeploymentError]) -> DeploymentError:
    """Make one error of several, in their order; there has to be one."""
    first, *others = problems
    first.others = tuple(others)
    return first
