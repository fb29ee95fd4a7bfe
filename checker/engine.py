"""Engines: exploration in the memory and threads of this process, or elsewhere (checker/spark)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from proofka.checker.budget import Budget, Meter
from proofka.checker.checkpoint import Checkpoint
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration, LayerReport, OnProgress, Question
from proofka.checker.kernel.canonical import Canonical
from proofka.model.faults import Fault
from proofka.model.language import TransitionSystem


@dataclass(frozen=True)
class Asked:
    """The arguments of one exploration; :class:`checker.exploration.Exploration` explains the fields.

    ``kept``: a killed run continues with this exploration. ``number``: the number of the exploration in snapshots,
    needed if the order of explorations does not identify them.
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
    """A factory for the explorations of one run."""

    def exploration(self, asked: Asked) -> AnyExploration:
        """Return an exploration that this run has not advanced yet."""

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        """Return the exploration that continues one stopped by a limit: the same, unless another engine has more
        room.
        """


class Engine(Protocol):
    """An engine that explores."""

    @property
    def name(self) -> str:
        """Name of the engine in results."""

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run.

        ``identity`` distinguishes questions, for an engine that keeps its results.

        Raise :class:`checker.checkpoint.CheckpointError` if the kept results belong to another question.
        """


@dataclass(frozen=True)
class EmbeddedEngine:
    """The engine in this process. ``checkpoint``: the folder for snapshots, and the seconds between two.

    ``keeps_steps``: keep for each state a step toward a goal, for a certificate (checker/certificates/ranks.py).
    """

    checkpoint: tuple[Path, float] | None = None
    keeps_steps: bool = False
    name: str = field(default="embedded", init=False)

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run, or continue the run whose snapshots are in the folder."""
        kept = None if self.checkpoint is None else Checkpoint(self.checkpoint[0], identity(), self.checkpoint[1])
        return _Embedded(budget.threads, kept, self.keeps_steps)


@dataclass
class _Embedded:
    threads: int
    checkpoint: Checkpoint | None
    keeps_steps: bool
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
            keeps_steps=self.keeps_steps,
        )

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        return exploration


def explore_layer(
    explorer: Explorer, exploration: AnyExploration, on_progress: OnProgress | None = None
) -> tuple[AnyExploration, LayerReport]:
    """Explore a layer; return the exploration that finished it (the given one, or its successor) and the report."""
    report = exploration.explore_layer(on_progress)
    if report.stopped == "memory":
        other = explorer.taken_over(exploration)
        if other is not exploration:
            return other, other.explore_layer(on_progress)
    return exploration, report


EMBEDDED = EmbeddedEngine()
"""The engine in this process, without snapshots."""
