"""Limits of timed verdicts: how many runs are analysed, and how many states are explored again."""

from __future__ import annotations

from proofka.checker.exploration import AnyExploration

CANDIDATES = 30
"""Largest number of runs to an impossible violation whose contradictions are computed."""

ALIKE = 10
"""Largest number of runs tried for a fault set that violates a property without clocks, if a part of it does as
well."""

ENOUGH = 4
"""Largest number of consecutive runs without a new lemma, after which no further runs are analysed."""

LEAST_SECOND_LOOK = 10_000_000
SECOND_LOOK_SHARE = 0.5
"""Limit of states for the timed re-exploration of a property: LEAST_SECOND_LOOK, or SECOND_LOOK_SHARE of the states
without clocks if that is more and no violation in time is known. A time limit given by the user replaces this limit."""

EXPECTED_SHARE = 2
"""States that the timed re-explorations of a group are expected to have, for each state without clocks."""

NARROW = "narrow"
"""Reason for the end of an exploration that starts again with fewer states."""

LEAST_BEFORE_NARROW = 10_000
SHARE_BEFORE_NARROW = 1 / 16
"""States after which a timed re-exploration starts again with fewer states: LEAST_BEFORE_NARROW plus this share of its
fault sets' states without clocks. Computing the states to leave out takes a time proportional to the latter."""

SHARE_FROM_EVERYWHERE = 1 / 2
MOST_FROM_EVERYWHERE = 300_000
"""The same limit if the violation needs no fault without clocks: SHARE_FROM_EVERYWHERE, but at most
MOST_FROM_EVERYWHERE states. Most states can then still lead to a violation, so few states would be left out."""

MOST_REFINEMENTS = 100
"""Largest number of re-explorations of a layer of faults."""


def most_states(like: AnyExploration, spent: int, *, is_violated: bool) -> int | None:
    """Return the limit of states for the next timed re-exploration of a property; None if a time limit was given.

    ``like``: the exploration without clocks. ``spent``: the states of the timed re-explorations so far.
    ``is_violated``: a violation in time is known.
    """
    if like.meter.seconds_were_given:
        return None
    return max(LEAST_SECOND_LOOK, 0 if is_violated else int(like.states * SECOND_LOOK_SHARE)) - spent


def states_before_narrow(states: int, *, needs_fault: bool) -> int:
    """Return the limit after which an exploration of fault sets with ``states`` states without clocks starts again.

    ``needs_fault``: without clocks, no violation is possible without a fault.
    """
    most = int(states * SHARE_BEFORE_NARROW) + LEAST_BEFORE_NARROW
    return most if needs_fault else max(most, min(int(states * SHARE_FROM_EVERYWHERE), MOST_FROM_EVERYWHERE))
