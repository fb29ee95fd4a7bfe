"""Who explores: in the memory and threads of this process, or elsewhere (checker/spark)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from checker.budget import Budget, Meter
from checker.checkpoint import Checkpoint
from checker.embedded import EmbeddedExploration
from checker.exploration import AnyExploration, LayerReport, OnProgress, Question
from checker.kernel.canonical import Canonical
from model.faults import Fault
from model.language import TransitionSystem


@dataclass(frozen=True)
class Asked:
    """One exploration to make; what the fields mean stands at :class:`checker.exploration.Exploration`.

    ``kept``: it is part of what a run goes on with after it was killed; ``number``: under which number, where the order
    in which explorations are asked for does not tell them apart.
    """

    system: TransitionSystem
    question: Question
    at_most: Mapping[Fault, int]
    meter: Meter
    infer: bool = True
    counted: bool = False
    optimised: bool = False
    unlimited: frozenset[Fault] = frozenset()
    canonical: Canonical | None = None
    kept: bool = True
    number: int | None = None


class Explorer(Protocol):
    """Makes the explorations of one run."""

    def exploration(self, asked: Asked) -> AnyExploration:
        """An exploration of which nothing was done yet, by this run."""

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        """The exploration that goes on with one that a limit stopped: itself, unless somebody else has more room."""


class Engine(Protocol):
    """Who explores."""

    @property
    def name(self) -> str:
        """What results call it."""

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run: ``identity`` tells one question from another, for an engine that keeps what it found.

        Raises :class:`checker.checkpoint.CheckpointError` where what it keeps is of another question.
        """


@dataclass(frozen=True)
class EmbeddedEngine:
    """This process. ``checkpoint``: the folder for snapshots, and how many seconds lie between two."""

    checkpoint: tuple[Path, float] | None = None
    name: str = field(default="embedded", init=False)

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run, or go on with the one whose snapshots are in the folder."""
        kept = None if self.checkpoint is None else Checkpoint(self.checkpoint[0], identity(), self.checkpoint[1])
        return _Embedded(budget.threads, kept)


@dataclass
class _Embedded:
    threads: int
    checkpoint: Checkpoint | None
    made: int = 0

    def exploration(self, asked: Asked) -> EmbeddedExploration:
        number = asked.number
        if number is None:
            number, self.made = self.made, self.made + 1
        return EmbeddedExploration(
            asked.system,
            asked.question,
            asked.at_most,
            asked.meter,
            self.threads,
            infer=asked.infer,
            counted=asked.counted,
            optimised=asked.optimised,
            unlimited=asked.unlimited,
            canonical=asked.canonical,
            checkpoint=self.checkpoint if asked.kept else None,
            number=number,
        )

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        return exploration


def explore_layer(
    explorer: Explorer, exploration: AnyExploration, on_progress: OnProgress | None = None
) -> tuple[AnyExploration, LayerReport]:
    """Explore a layer, and the exploration that did: the given one, or the one that took it over."""
    report = exploration.explore_layer(on_progress)
    if report.stopped == "memory":
        other = explorer.taken_over(exploration)
        if other is not exploration:
            return other, other.explore_layer(on_progress)
    return exploration, report


EMBEDDED = EmbeddedEngine()
"""This process, without snapshots."""
