"""Observers of a search for repairs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Protocol

from proofka.model.deployment.changing import Change
from proofka.properties.verdict import Result

if TYPE_CHECKING:
    from proofka.checker.repair import Repair


class Watch(Protocol):
    """An observer of a search."""

    def trying(self, changes: Sequence[Change]) -> None:
        """Receive a set of changes before the set is tried; the empty set is the original deployment."""

    def unchanged(self, result: Result) -> None:
        """Receive the result of the original deployment; a result of a longer exploration can follow."""

    def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
        """Receive a set of changes after the set was tried, with the properties that do not hold."""

    def found(self, repair: Repair) -> None:
        """Receive a repair of all or some properties; a better repair can follow."""


class Unwatched:
    """A watch that does nothing."""

    def trying(self, changes: Sequence[Change]) -> None:
        """Do nothing."""

    def unchanged(self, result: Result) -> None:
        """Do nothing."""

    def tried(self, changes: Sequence[Change], wrong: Collection[str]) -> None:
        """Do nothing."""

    def found(self, repair: Repair) -> None:
        """Do nothing."""
