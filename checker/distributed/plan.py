"""Orders to the tasks of a distributed search, and their reports. All objects here are small and are pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from proofka.checker.combinations import Combination
from proofka.checker.distributed.writing import replacing
from proofka.checker.kernel.native import Kernel, load_kernel

CURRENT = "current-run"


@dataclass(frozen=True)
class Plan:
    """The common data of every task: the folder, the machine code, the owners of states, and the counted values.

    ``run`` differs for each planning process: files of an earlier run are verified before use, and remaining tasks of
    an earlier run do nothing. ``mask`` has a word for each word of a packed state: the bits of the control plane.
    ``goal_bit`` is -1 without a goal.
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
        """Return the machine code, made once in a process."""
        return _kernel(self.source, tuple(self.most_successors.items()), self.other_functions)

    def take_over(self) -> None:
        """Make this run the owner of the folder."""
        with replacing(Path(self.folder) / CURRENT) as new:
            new.write_text(self.run, encoding="utf-8")

    def current_run(self) -> str:
        """Return the run that owns the folder."""
        return (Path(self.folder) / CURRENT).read_text(encoding="utf-8")

    def place(self, combination: Combination, partition: int) -> Path:
        """Return the folder of a partition's states of a fault combination."""
        return Path(self.folder) / "states" / named(combination) / str(partition)

    def messages(self, superstep: int, combination: Combination, sender: int) -> Path:
        """Return the file of the rows that a partition sent in a superstep."""
        return self.sent_in(superstep) / named(combination) / f"{sender}.arrow"

    def sent_in(self, superstep: int) -> Path:
        """Return the folder of all rows sent in a superstep."""
        return Path(self.folder) / "messages" / str(superstep)


@lru_cache(maxsize=2)
def _kernel(source: str, most_successors: tuple[tuple[str, int], ...], others: tuple[str, ...]) -> Kernel:
    return load_kernel(source, dict(most_successors), others)


def named(combination: Combination) -> str:
    """Return a combination as the name of a folder."""
    return "-".join(map(str, combination)) or "all"


@dataclass(frozen=True)
class Order:
    """A partition's order for one combination in a superstep.

    ``first``: the combination was not searched before, so the faults that lead into it must be expanded, from the
    combinations in ``parts`` (by the number of their kind). States in ``smaller`` are not entered. ``inbox``: the
    senders of the previous superstep, and the number of rows from each. Once all predicates in ``sought`` were seen,
    states deeper than the deepest first sight need no expansion; ``deepest`` is its known value so far.
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

    ``until``: the time limit, in seconds since 1970. ``most_states``: the limit of states.
    """

    partition: int
    superstep: int
    orders: tuple[Order, ...]
    until: float | None
    most_states: int | None


@dataclass(frozen=True)
class Report:
    """The outcome of one partition's superstep for one combination.

    ``states`` and ``bytes`` are those of its files. ``entered``, ``replaced`` and ``expanded`` count the rows of this
    superstep. ``sent`` counts the rows for each partition, the least deep of them at depth ``sent_from``. ``levels``
    and ``transitions`` count by depth. ``first`` gives the first state of each predicate (depth and row, -1 if none),
    ``held`` the number of states in which each predicate held. ``seconds`` is the elapsed time, ``peak`` the process's
    memory in bytes. ``waiting``: some rows are not expanded yet.
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
        """Return the report of the same partition for a superstep in which it has nothing to do."""
        nothing = (0,) * len(self.sent)
        return replace(self, entered=0, replaced=0, expanded=0, sent=nothing, sent_from=None, seconds=0.0)


def report_from(document: Mapping[str, Any]) -> Report:
    """Return a report from its JSON document."""
    lists = {name: tuple(value) for name, value in document.items() if isinstance(value, list)}
    return Report(**{**document, **lists, "first": tuple((depth, row) for depth, row in document["first"])})


@dataclass(frozen=True)
class Failure:
    """The reason why a partition did not finish: a limit (``stopped``), or an ``error`` in words."""

    partition: int
    stopped: str | None = None
    error: str | None = None
