"""The claims of a certificate in words: the verdict, and the faults that the verdict is about."""

from __future__ import annotations

from collections.abc import Mapping

from proofka.checker.certificates.reading import Claimed
from proofka.properties.listing import fault_set, listed


def proved(claim: Claimed, limits: Mapping[str, int]) -> str:
    """Return ``no-skip holds with up to 2 faults`` or ``no-loss is violated by {kill}; of other sets ...``.

    ``limits``: the largest number of faults of each kind in the certificate.
    """
    faults = _faults(claim, limits)
    if not claim.smallest:
        return f"{claim.property} holds with {faults}"
    smallest_first = sorted(claim.smallest, key=lambda one: (sum(count for _, count in one), one))
    sets = listed([fault_set(one) for one in smallest_first])
    return (
        f"{claim.property} is violated by {sets}; of other sets with {faults}, only by those that contain one of these"
    )


def _faults(claim: Claimed, limits: Mapping[str, int]) -> str:
    """Return ``up to 2 faults (at most 1 kill)`` or ``any number of kill and power-loss and up to 1 other fault``."""
    others = {kind: most for kind, most in sorted(limits.items()) if kind not in claim.unlimited}
    up_to = min(claim.up_to, sum(others.values()))
    fewer = [f"{most} {kind}" for kind, most in others.items() if most < up_to]
    within = f" (at most {listed(fewer)})" if fewer else ""
    plural = "" if up_to == 1 else "s"
    if not claim.unlimited:
        return f"up to {up_to} fault{plural}{within}" if up_to else "no fault"
    first = f"any number of {listed(sorted(claim.unlimited))}"
    return f"{first} and up to {up_to} other fault{plural}{within}" if up_to else first
