"""Facts about the published protocols' state spaces: counted with another checker, the same whoever counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One protocol with its constants: how many states, how many levels, how many states violate what, how soon.

    A trace length counts states, the initial one included; None where the invariant holds in every state. TypeOk
    holds in every state of every row.
    """

    protocol: str
    replicas: int
    log_size: int
    records: int
    epochs: int
    states: int
    levels: int
    weak: int
    strong: int
    leader_in_isr: int
    weak_trace: int | None
    strong_trace: int | None

    @property
    def constants(self) -> dict[str, int]:
        """The constants, as the catalogue takes them."""
        names = ("replicas", "log_size", "records", "epochs")
        return {name: getattr(self, name) for name in names}

    @property
    def violating(self) -> dict[str, int]:
        """Invariant -> how many states violate it."""
        return {
            "TypeOk": 0,
            "WeakIsr": self.weak,
            "StrongIsr": self.strong,
            "LeaderInIsr": self.leader_in_isr,
        }

    @property
    def traces(self) -> dict[str, int | None]:
        """Invariant -> states on a shortest way to a violation; the initial state has no leader."""
        return {
            "TypeOk": None,
            "WeakIsr": self.weak_trace,
            "StrongIsr": self.strong_trace,
            "LeaderInIsr": 1,
        }

    def __str__(self) -> str:
        return f"{self.protocol}-{self.replicas}-{self.log_size}-{self.records}-{self.epochs}"


ROWS: tuple[Row, ...] = (
    Row("truncate-to-hw", 2, 2, 2, 1, 1_251, 16, 30, 22, 97, 9, 10),
    Row("kip-101", 2, 2, 2, 1, 1_177, 15, 0, 0, 97, None, None),
    Row("kip-279", 2, 2, 2, 1, 1_177, 15, 0, 0, 97, None, None),
    Row("kip-320-first-try", 2, 2, 2, 1, 1_165, 15, 0, 0, 97, None, None),
    Row("kip-320", 2, 2, 2, 1, 957, 15, 0, 0, 95, None, None),
    Row("truncate-to-hw", 2, 2, 2, 2, 10_131, 20, 446, 350, 1_251, 9, 10),
    Row("kip-101", 2, 2, 2, 2, 9_045, 18, 6, 6, 1_177, 12, 12),
    Row("kip-279", 2, 2, 2, 2, 9_027, 18, 0, 0, 1_177, None, None),
    Row("kip-320-first-try", 2, 2, 2, 2, 8_429, 18, 0, 0, 1_165, None, None),
    Row("kip-320", 2, 2, 2, 2, 5_973, 18, 0, 0, 957, None, None),
    Row("truncate-to-hw", 3, 1, 1, 1, 10_681, 17, 582, 504, 286, 9, 9),
    Row("kip-101", 3, 1, 1, 1, 9_841, 18, 0, 12, 286, None, 12),
    Row("kip-279", 3, 1, 1, 1, 9_841, 18, 0, 12, 286, None, 12),
    Row("kip-320-first-try", 3, 1, 1, 1, 9_661, 18, 0, 0, 286, None, None),
    Row("kip-320", 3, 1, 1, 1, 6_787, 18, 0, 0, 277, None, None),
    Row("truncate-to-hw", 3, 1, 1, 2, 225_196, 22, 20_652, 17_850, 10_750, 9, 9),
    Row("kip-101", 3, 1, 1, 2, 192_952, 22, 768, 1_122, 9_910, 11, 11),
    Row("kip-279", 3, 1, 1, 2, 192_592, 22, 768, 1_122, 9_910, 11, 11),
    Row("kip-320-first-try", 3, 1, 1, 2, 175_453, 23, 396, 312, 9_730, 12, 13),
    Row("kip-320", 3, 1, 1, 2, 97_531, 22, 0, 0, 6_847, None, None),
    Row("truncate-to-hw", 3, 2, 2, 1, 67_807, 21, 4_785, 4_275, 1_078, 9, 9),
    Row("kip-101", 3, 2, 2, 1, 59_788, 22, 0, 96, 1_078, None, 12),
    Row("kip-279", 3, 2, 2, 1, 60_106, 22, 0, 108, 1_078, None, 12),
    Row("kip-320-first-try", 3, 2, 2, 1, 59_092, 22, 0, 0, 1_078, None, None),
    Row("kip-320", 3, 2, 2, 1, 39_619, 22, 0, 0, 1_069, None, None),
)

LEVELS: Mapping[str, tuple[int, ...]] = {
    "truncate-to-hw": (
        *(1, 6, 36, 117, 279, 534, 960, 1590, 2487, 3657, 5100),
        *(6867, 8604, 9621, 9288, 7629, 5322, 3231, 1668, 666, 144),
    ),
    "kip-101": (
        *(1, 6, 36, 117, 279, 534, 960, 1590, 2481, 3627, 4980),
        *(6579, 8064, 8871, 8280, 6345, 3927, 2049, 744, 252, 60, 6),
    ),
    "kip-279": (
        *(1, 6, 36, 117, 279, 534, 960, 1590, 2481, 3627, 4980),
        *(6579, 8070, 8889, 8334, 6423, 4011, 2115, 756, 252, 60, 6),
    ),
    "kip-320-first-try": (
        *(1, 6, 36, 117, 279, 534, 960, 1590, 2463, 3567, 4884),
        *(6387, 7776, 8469, 7986, 6459, 4257, 2229, 774, 252, 60, 6),
    ),
    "kip-320": (
        *(1, 6, 30, 48, 180, 390, 720, 1218, 1893, 2634, 3426),
        *(4248, 4899, 5229, 4872, 4083, 2913, 1725, 762, 252, 78, 12),
    ),
}
"""Distinct states per level of breadth-first search with 3 replicas, 2 slots, 2 records and epochs 0 to 1."""
LEVELS_CONSTANTS = {"replicas": 3, "log_size": 2, "records": 2, "epochs": 1}
