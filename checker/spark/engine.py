"""The engine that spreads states over the executors of a Spark session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from proofka.checker.budget import Budget
from proofka.checker.checkpoint import CheckpointError
from proofka.checker.distributed.exploration import DistributedExploration, OnSuperstep
from proofka.checker.distributed.handover import hand_over
from proofka.checker.distributed.running import Runner
from proofka.checker.distributed.work_folder import WorkFolder
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.engine import EMBEDDED, Asked, Explorer
from proofka.checker.exploration import AnyExploration
from proofka.checker.spark.running import SparkRunner
from proofka.checker.spark.session import spark_session

OnHandingOver = Callable[[int], None]


@dataclass(frozen=True)
class DistributedEngine:
    """Partitions whose tasks ``runner`` executes, and whose states are in files of ``folder``.

    ``most_bytes`` limits these files; ``partitions`` is by default a few for each task that runs at a time.
    """

    runner: Runner
    folder: Path
    on_superstep: OnSuperstep = lambda _: None
    partitions: int | None = None
    most_bytes: int | None = None
    name: str = field(default="spark", init=False)

    def begin(self, identity: Callable[[], str], budget: Budget) -> Explorer:
        """Begin a run, or continue the run in the folder."""
        return self.work_in(WorkFolder(self.folder, identity()))

    def work_in(self, work: WorkFolder) -> Distributing:
        """Return a factory for explorations in a folder."""
        return Distributing(self, work)


@dataclass
class Distributing:
    """The explorations of one run, each in a folder of its own."""

    engine: DistributedEngine
    work: WorkFolder
    made: int = 0

    def exploration(self, asked: Asked) -> DistributedExploration:
        """Return an exploration, with the results of an earlier run if there are any."""
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
        """Return the exploration itself, because no other engine has more room."""
        return exploration


@dataclass(frozen=True)
class AutoEngine:
    """The engine in this process, until its memory limit, then the engine that ``other`` makes.

    ``on_handing_over`` receives the number of states at the change. ``folder`` is the other engine's folder, if known
    beforehand; then its usability is checked at the beginning.
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
    """The explorations in memory; those that reach the memory limit are handed over."""

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
        exploration.forget_states()
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
    """Yield an engine that begins in this process, and starts Spark if this process has too little memory.

    Raise :class:`checker.checkpoint.CheckpointError` as :func:`spark_engine` does.
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
    """Yield an engine on a session of its own.

    Without a ``folder`` the engine works in a temporary folder.

    Raise :class:`checker.spark.session.NoSpark`. Raise :class:`checker.checkpoint.CheckpointError` if the executors of
    a cluster would look for the states in folders of their own.
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
    """Raise CheckpointError for a cluster without a folder: only executors of this machine reach a temporary folder."""
    if folder is None and master is not None and (master == "yarn" or "://" in master):
        raise CheckpointError(f"--master {master}: name a folder that all executors reach, with --checkpoint")
