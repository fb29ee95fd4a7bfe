"""The states of one combination of faults, spread over partitions: what is known of them without looking at a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.combinations import Combination
from checker.distributed.plan import Report
from checker.distributed.region import MOST_ROWS

ROW_BITS = MOST_ROWS.bit_length()


@dataclass
class SpreadStates:
    """What the partitions reported last. A reference is a partition and a row in it.

    ``sought``: the predicates that, all seen, ended the search; states deeper than the last first sight are not counted
    then, although a partition that did not know yet may have found some. While the search is not complete the depths
    are upper bounds: only what lies no deeper than ``settled`` is known to be found by a shortest path.
    """

    combination: Combination
    complete: bool
    sought: int
    reports: tuple[Report, ...]

    @property
    def settled(self) -> int | None:
        """Up to which depth nothing can change any more; None if that is everywhere."""
        waiting = [report.sent_from for report in self.reports if report.sent_from is not None]
        return None if self.complete else min(waiting, default=-1)

    @property
    def deepest(self) -> int | None:
        """The depth at which everything sought was seen, or None if it was not or nothing was sought."""
        bits = [bit for bit in range(self.sought.bit_length()) if self.sought >> bit & 1]
        depths = [self._first_depth(bit) for bit in bits]
        return max((depth for depth in depths if depth is not None), default=None) if None not in depths else None

    def _first_depth(self, predicate: int) -> int | None:
        found = (report.first[predicate] for report in self.reports)
        return min((depth for depth, row in found if row >= 0), default=None)

    def level_sizes(self) -> list[int]:
        """How many states there are at each depth; of an incomplete search those up to where depths are known, the last
        of them perhaps in part."""
        return self._levels()[: None if self.settled is None else self.settled + 1]

    def _levels(self) -> list[int]:
        sizes = summed([report.levels for report in self.reports])
        return sizes if self.deepest is None else sizes[: self.deepest + 1]

    @property
    def count(self) -> int:
        """Distinct states."""
        return sum(self._levels())

    @property
    def depth(self) -> int:
        """The depth of the deepest state."""
        return max(len(self._levels()) - 1, 0)

    @property
    def transition_count(self) -> int:
        """How many steps were made, each state's once."""
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
        """In how many states a predicate held."""
        return sum(report.held[predicate] for report in self.reports)

    def first_with(self, predicate: int) -> int | None:
        """The reference of a state of least depth in which a predicate held, or None."""
        found = [(*report.first[predicate], report.partition) for report in self.reports]
        best = min(((depth, partition, row) for depth, row, partition in found if row >= 0), default=None)
        if best is None or (self.settled is not None and best[0] > self.settled):
            return None
        return best[1] << ROW_BITS | best[2]

    def depth_of(self, reference: int) -> int:
        """The length of a shortest path to a state that :meth:`first_with` named."""
        partition, row = divmod(reference, 1 << ROW_BITS)
        firsts = (first for report in self.reports if report.partition == partition for first in report.first)
        return next(depth for depth, first_row in firsts if first_row == row)

    @property
    def bytes(self) -> int:
        """Bytes of its files."""
        return sum(report.bytes for report in self.reports)


def summed(counts: Sequence[Sequence[int]]) -> list[int]:
    """The sums of lists of different lengths, place by place, without zeros at the end."""
    longest = max((len(one) for one in counts), default=0)
    sums = [sum(one[place] for one in counts if place < len(one)) for place in range(longest)]
    while sums and not sums[-1]:
        sums.pop()
    return sums
