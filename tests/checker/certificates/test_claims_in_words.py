"""A line on a proved claim says whether the property holds, and for which faults."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from proofka.checker.certificates.claims_in_words import proved
from proofka.checker.certificates.reading import SYSTEM, Claimed
from proofka.properties.verdict import CutSet

LIMITS = {"kill": 2, "power-loss": 1}
KILL: CutSet = (("kill", 1),)
BOTH: CutSet = (("kill", 2), ("power-loss", 1))


@pytest.mark.parametrize(
    ("up_to", "smallest", "unlimited", "limits", "said"),
    [
        (0, (), (), LIMITS, "holds with no fault"),
        (1, (), (), LIMITS, "holds with up to 1 fault"),
        (2, (), (), LIMITS, "holds with up to 2 faults (at most 1 power-loss)"),
        (9, (), (), LIMITS, "holds with up to 3 faults (at most 2 kill and 1 power-loss)"),
        (2, (), ("kill", "power-loss"), LIMITS, "holds with any number of kill and power-loss"),
        (1, (), ("kill",), LIMITS, "holds with any number of kill and up to 1 other fault"),
        (
            2,
            (),
            ("kill",),
            {**LIMITS, "disk-loss": 3},
            ("holds with any number of kill and up to 2 other faults (at most 1 power-loss)"),
        ),
        (
            1,
            (KILL,),
            (),
            LIMITS,
            "is violated by {kill}; of other sets with up to 1 fault, only by those that contain one of these",
        ),
        (
            3,
            (BOTH, KILL),
            (),
            {"kill": 9},
            "is violated by {kill} and {2 kill, power-loss}; of other sets with up to 3 faults, "
            "only by those that contain one of these",
        ),
    ],
)
def test_a_claim_in_words(
    up_to: int, smallest: tuple[CutSet, ...], unlimited: tuple[str, ...], limits: Mapping[str, int], said: str
) -> None:
    claim = Claimed(SYSTEM, "no-skip", "id", up_to, smallest, has_witness=True, unlimited=frozenset(unlimited))
    assert proved(claim, limits) == f"no-skip {said}"
