"""What the tasks of a distributed search are told, and what they report. Everything here is small and is pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from checker.combinations import Combination
from checker.distributed.writing import replacing
from checker.kernel.native import Kernel, load_kernel

CURRENT = "current-run"


@dataclass(frozen=True)
class Plan:
    """What is the same for every task: the folder, the machine code, who owns which state, what is counted.

    ``run`` is different for each process that plans: what an earlier one left is verified before it is used, and what
    is left of an earlier one's tasks does nothing any more.
    ``mask`` has a word for each of a packed state: the bits of the control plane. ``goal_bit`` is -1 without a goal.
    """

    folder: str
    run: str
    source: str
    most_successors: Mapping[str, int]
    other_functions: tuple[str, ...]
    words: int
    mask: tuple[int, ...]
    partitions: int
    own_functions: tuple[str, ...]
    kinds: tuple[str, ...]
    predicates: int
    counted: bool
    goal_bit: int

    def kernel(self) -> Kernel:
        """The machine code, made once in a process."""
        return _kernel(self.source, tuple(self.most_successors.items()), self.other_functions)

    def take_over(self) -> None:
        """Make this the run that goes on in the folder."""
        with replacing(Path(self.folder) / CURRENT) as new:
            new.write_text(self.run, encoding="utf-8")

    def current_run(self) -> str:
        """The run that goes on in the folder."""
        return (Path(self.folder) / CURRENT).read_text(encoding="utf-8")

    def place(self, combination: Combination, partition: int) -> Path:
        """The folder of a partition's states of a combination of faults."""
        return Path(self.folder) / "states" / named(combination) / str(partition)

    def messages(self, superstep: int, combination: Combination, sender: int) -> Path:
        """The file of what a partition sent in a superstep."""
        return self.sent_in(superstep) / named(combination) / f"{sender}.arrow"

    def sent_in(self, superstep: int) -> Path:
        """The folder of everything that was sent in a superstep."""
        return Path(self.folder) / "messages" / str(superstep)


@lru_cache(maxsize=2)
def _kernel(source: str, most_successors: tuple[tuple[str, int], ...], others: tuple[str, ...]) -> Kernel:
    return load_kernel(source, dict(most_successors), others)


def named(combination: Combination) -> str:
    """A combination as the name of a folder."""
    return "-".join(map(str, combination)) or "all"


@dataclass(frozen=True)
class Order:
    """What a partition is to do with one combination in a superstep.

    ``first``: nothing of it was searched yet, so the faults that lead into it are still to be expanded, from the
    combinations in ``parts`` (by the number of their kind). States in ``smaller`` are not entered. ``inbox``: the
    senders of the superstep before, and how many rows each sent. Once all predicates in ``sought`` were seen, states
    deeper than the deepest first sight need not be expanded; ``deepest`` is what is known of that so far.
    """

    combination: Combination
    first: bool
    parts: tuple[tuple[int, Combination], ...]
    smaller: tuple[Combination, ...]
    inbox: tuple[tuple[int, int], ...]
    sought: int
    deepest: int | None


@dataclass(frozen=True)
class Task:
    """One partition's superstep.

    ``until``: when to give up, in seconds since 1970; ``most_states``: how many states make it give up.
    """

    partition: int
    superstep: int
    orders: tuple[Order, ...]
    until: float | None
    most_states: int | None


@dataclass(frozen=True)
class Report:
    """What one partition's superstep came to for one combination.

    ``states`` and ``bytes`` are those of its files; ``entered``, ``replaced`` and ``expanded`` what the superstep
    added, ``sent`` the rows for each partition, the least deep of them at depth ``sent_from``. ``levels`` and
    ``transitions`` count by depth, ``first`` says where each predicate was first seen (depth and row, -1 if nowhere),
    ``held`` in how many states it held. ``seconds`` is what it took, ``peak`` the process's memory in bytes.
    ``waiting``: some rows are still to be expanded.
    """

    combination: Combination
    partition: int
    states: int
    bytes: int
    entered: int
    replaced: int
    expanded: int
    sent: tuple[int, ...]
    sent_from: int | None
    levels: tuple[int, ...]
    transitions: tuple[int, ...]
    first: tuple[tuple[int, int], ...]
    held: tuple[int, ...]
    seconds: float
    peak: int
    waiting: bool = False

    def idle(self) -> Report:
        """What the same partition would report of a superstep in which there is nothing for it to do."""
        nothing = (0,) * len(self.sent)
        return replace(self, entered=0, replaced=0, expanded=0, sent=nothing, sent_from=None, seconds=0.0)


def report_from(document: Mapping[str, Any]) -> Report:
    """A report that was written as JSON."""
    lists = {name: tuple(value) for name, value in document.items() if isinstance(value, list)}
    return Report(**{**document, **lists, "first": tuple((depth, row) for depth, row in document["first"])})


@dataclass(frozen=True)
class Failure:
    """Why a partition did not finish: a limit (``stopped``), or an ``error`` in words."""

    partition: int
    stopped: str | None = None
    error: str | None = None
