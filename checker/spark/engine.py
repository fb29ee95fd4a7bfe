"""The engine that spreads states over the executors of a Spark session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from checker.budget import Budget
from checker.checkpoint import CheckpointError
from checker.distributed.exploration import DistributedExploration, OnSuperstep
from checker.distributed.handover import hand_over
from checker.distributed.running import Runner
from checker.distributed.work_folder import WorkFolder
from checker.embedded import EmbeddedExploration
from checker.engine import EMBEDDED, Asked, Explorer
from checker.exploration import AnyExploration
from checker.spark.running import SparkRunner
from checker.spark.session import spark_session

OnHandingOver = Callable[[int], None]


@dataclass(frozen=True)
class DistributedEngine:
    """Partitions whose tasks ``runner`` carries out, and whose states are in files of ``folder``.

    ``most_bytes`` limits these files; ``partitions`` is by default a few for each task that runs at a time.
    """

    runner: Runner
    folder: Path
    on_superstep: OnSuperstep = lambda _: None
    partitions: int | None = None
    most_bytes: int | None = None
    name: str = field(default="spark", init=False)

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run, or go on with the one that the folder holds."""
        return self.work_in(WorkFolder(self.folder, identity()))

    def work_in(self, work: WorkFolder) -> Distributing:
        """Make explorations in a folder."""
        return Distributing(self, work)


@dataclass
class Distributing:
    """Makes the explorations of one run, each in a folder of its own."""

    engine: DistributedEngine
    work: WorkFolder
    made: int = 0

    def exploration(self, asked: Asked) -> DistributedExploration:
        """An exploration, or what an earlier run left of it."""
        number = asked.number
        if number is None:
            number, self.made = self.made, self.made + 1
        engine = self.engine
        return DistributedExploration(
            asked.system,
            asked.question,
            asked.at_most,
            asked.meter,
            infer=asked.infer,
            counted=asked.counted,
            unlimited=asked.unlimited,
            canonical=asked.canonical,
            runner=engine.runner,
            folder=self.work.exploration(number, anew=not asked.kept),
            partitions=engine.partitions,
            most_bytes=engine.most_bytes,
            on_superstep=engine.on_superstep,
        )

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        """Itself: nobody has more room."""
        return exploration


@dataclass(frozen=True)
class AutoEngine:
    """This process, until it has used up the memory that it may take; then the engine that ``other`` makes.

    ``on_handing_over`` is told how many states there are then. ``folder`` is that engine's if it is known beforehand:
    whether it can be used is seen at once then.
    """

    other: Callable[[], DistributedEngine]
    on_handing_over: OnHandingOver = lambda _: None
    folder: Path | None = None
    name: str = field(default="auto", init=False)

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run."""
        work = None if self.folder is None else WorkFolder(self.folder, identity())
        return _HandingOver(self, EMBEDDED.begin(identity, budget), identity, work)


@dataclass
class _HandingOver:
    """Makes explorations in memory, and has those that outgrow it taken over."""

    engine: AutoEngine
    embedded: Explorer
    identity: Callable[[], str]
    work: WorkFolder | None
    asked: list[tuple[AnyExploration, Asked]] = field(default_factory=list)
    distributing: Distributing | None = None

    def exploration(self, asked: Asked) -> AnyExploration:
        made = self.embedded.exploration(asked)
        self.asked.append((made, asked))
        return made

    def taken_over(self, exploration: AnyExploration) -> AnyExploration:
        if not isinstance(exploration, EmbeddedExploration):
            return exploration
        if self.distributing is None:
            other = self.engine.other()
            self.distributing = other.work_in(self.work or WorkFolder(other.folder, self.identity()))
        self.engine.on_handing_over(exploration.states)
        number, asked = next((n, asked) for n, (one, asked) in enumerate(self.asked) if one is exploration)
        self.distributing.made = number
        distributed = self.distributing.exploration(asked)
        memory = exploration.shared_bytes + sum(shard.memory for shard in exploration.shards.values())
        states = exploration.states
        if not distributed.resumed:
            hand_over(exploration, distributed)
        exploration.meter.grow(-states, -memory)
        exploration.shards.clear()
        while len(distributed.layers) < len(exploration.layers) - 1:
            distributed.explore_layer()
        return distributed


@contextmanager
def auto_engine(
    master: str | None,
    folder: Path | None,
    on_superstep: OnSuperstep = lambda _: None,
    on_handing_over: OnHandingOver = lambda _: None,
) -> Iterator[AutoEngine]:
    """An engine that begins in this process, and starts Spark where that has too little memory.

    Raises :class:`checker.checkpoint.CheckpointError` as :func:`spark_engine` does.
    """
    _check_reach(master, folder)
    with ExitStack() as stack:
        yield AutoEngine(
            lambda: stack.enter_context(spark_engine(master, folder, on_superstep)),
            on_handing_over,
            folder and folder.resolve(),
        )


@contextmanager
def spark_engine(
    master: str | None,
    folder: Path | None,
    on_superstep: OnSuperstep = lambda _: None,
    most_bytes: int | None = None,
) -> Iterator[DistributedEngine]:
    """An engine on a session of its own. Without a ``folder`` it works in one that is removed at the end.

    Raises :class:`checker.spark.session.NoSpark`, and :class:`checker.checkpoint.CheckpointError` where the executors
    of a cluster would look for the states in folders of their own.
    """
    _check_reach(master, folder)
    with spark_session(master) as spark, tempfile.TemporaryDirectory(prefix="proofka-") as temporary:
        yield DistributedEngine(
            SparkRunner(spark.sparkContext),
            (folder or Path(temporary) / "states").resolve(),
            on_superstep,
            most_bytes=most_bytes,
        )


def _check_reach(master: str | None, folder: Path | None) -> None:
    """A temporary folder is reached by the executors of this machine alone."""
    if folder is None and master is not None and (master == "yarn" or "://" in master):
        raise CheckpointError(f"--master {master}: name a folder that all executors reach, with --checkpoint")
