"""What a superstep of a distributed search cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Superstep:
    """Rows and seconds of one superstep, over all partitions, of a search for combinations of so many ``faults``.

    ``entered`` states are new; ``replaced`` ones were known, and found again by a shorter way. ``sent`` rows of
    ``sent_bytes`` go to other partitions. ``states`` and ``bytes`` are what there is then, ``depth`` the deepest of
    them. It took ``seconds``, of which tasks were ``busy`` for that many in sum and the ``longest`` partition for that
    many; ``peak`` is the memory of the largest process that ran tasks, in bytes.
    """

    number: int
    faults: int
    expanded: int
    entered: int
    replaced: int
    sent: int
    sent_bytes: int
    states: int
    bytes: int
    depth: int
    seconds: float
    busy: float
    longest: float
    peak: int


def searches(supersteps: Iterable[Superstep]) -> list[list[Superstep]]:
    """The supersteps of each search: of one exploration, for one number of faults."""
    found: list[list[Superstep]] = []
    for step in supersteps:
        goes_on = found and (last := found[-1][-1]).faults == step.faults and last.number < step.number
        if goes_on:
            found[-1].append(step)
        else:
            found.append([step])
    return found
