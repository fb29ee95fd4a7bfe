"""The states of one fault combination, spread over partitions, with the facts known without reading a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proofka.checker.combinations import Combination
from proofka.checker.distributed.plan import Report
from proofka.checker.distributed.region import MOST_ROWS

ROW_BITS = MOST_ROWS.bit_length()


@dataclass
class SpreadStates:
    """The last reports of the partitions.

    A reference is a partition and a row in this partition.

    ``sought``: the predicates that ended the search once all were seen. Deeper states than the last first sight are
    then not counted, although a partition without this information can have found some. While the search is incomplete,
    depths are upper bounds. Only states no deeper than ``settled`` are known to have a shortest path. ``cut_short``:
    another engine found these states, and ended its search at the last violation that was sought.
    """

    combination: Combination
    complete: bool
    sought: int
    reports: tuple[Report, ...]
    cut_short: bool = False

    @property
    def closed(self) -> bool:
        """Tell whether the search found every state of the combination."""
        return self.complete and self.deepest is None and not self.cut_short

    @property
    def settled(self) -> int | None:
        """The depth up to which nothing can change any more; None if nothing can change at any depth."""
        waiting = [report.sent_from for report in self.reports if report.sent_from is not None]
        return None if self.complete else min(waiting, default=-1)

    @property
    def deepest(self) -> int | None:
        """The depth at which everything sought was seen, or None if something was not seen or nothing was sought."""
        bits = [bit for bit in range(self.sought.bit_length()) if self.sought >> bit & 1]
        depths = [self._first_depth(bit) for bit in bits]
        return max((depth for depth in depths if depth is not None), default=None) if None not in depths else None

    def _first_depth(self, predicate: int) -> int | None:
        found = (report.first[predicate] for report in self.reports)
        return min((depth for depth, row in found if row >= 0), default=None)

    def level_sizes(self) -> list[int]:
        """Return the number of states at each depth.

        For an incomplete search, the list ends at the last depth with known depths, whose number can be partial.
        """
        return self._levels()[: None if self.settled is None else self.settled + 1]

    def _levels(self) -> list[int]:
        sizes = summed([report.levels for report in self.reports])
        return sizes if self.deepest is None else sizes[: self.deepest + 1]

    @property
    def count(self) -> int:
        """Number of distinct states."""
        return sum(self._levels())

    @property
    def depth(self) -> int:
        """Depth of the deepest state."""
        return max(len(self._levels()) - 1, 0)

    @property
    def transition_count(self) -> int:
        """Number of steps made, each state's steps counted once."""
        counts = summed([report.transitions for report in self.reports])
        return sum(counts if self.deepest is None else counts[: self.deepest])

    @property
    def seen(self) -> int:
        """The predicates that held in some state, as bits."""
        deepest = self.deepest
        bits = 0
        for predicate in range(len(self.reports[0].first)):
            depth = self._first_depth(predicate)
            if depth is not None and (deepest is None or depth <= deepest):
                bits |= 1 << predicate
        return bits

    def held_in(self, predicate: int) -> int:
        """Return the number of states in which a predicate held."""
        return sum(report.held[predicate] for report in self.reports)

    def first_with(self, predicate: int) -> int | None:
        """Return the reference of a state of least depth in which a predicate held, or None."""
        found = [(*report.first[predicate], report.partition) for report in self.reports]
        best = min(((depth, partition, row) for depth, row, partition in found if row >= 0), default=None)
        if best is None or (self.settled is not None and best[0] > self.settled):
            return None
        return best[1] << ROW_BITS | best[2]

    def depth_of(self, reference: int) -> int:
        """Return the length of a shortest path to a state that :meth:`first_with` returned."""
        partition, row = divmod(reference, 1 << ROW_BITS)
        firsts = (first for report in self.reports if report.partition == partition for first in report.first)
        return next(depth for depth, first_row in firsts if first_row == row)

    @property
    def bytes(self) -> int:
        """Bytes of the files."""
        return sum(report.bytes for report in self.reports)


def summed(counts: Sequence[Sequence[int]]) -> list[int]:
    """Return the sums of lists of different lengths, place by place, without zeros at the end."""
    longest = max((len(one) for one in counts), default=0)
    sums = [sum(one[place] for one in counts if place < len(one)) for place in range(longest)]
    while sums and not sums[-1]:
        sums.pop()
    return sums
