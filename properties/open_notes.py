"""Notes about the part of a question that a verdict leaves open."""

from __future__ import annotations

from proofka.properties.verdict import Verdict

STOPPED: dict[str, str] = {
    "time": "the time limit was reached",
    "states": "the state limit was reached",
    "memory": "the memory limit was reached",
    "interrupted": "the check was interrupted",
    "timed re-exploration": "timed re-exploration reached its limit (--time raises the limit)",
    "lemmas": "too many timing lemmas to monitor",
    "answered": "larger fault sets were not searched",
}
"""The reasons why an exploration ended early, in words."""

NOT_FOR_ANY_NUMBER = "not decided for any number of faults"
"""Beginning of the note on a property that is open for any number of faults."""

_NONE_OF_FEW = "no set of at most"
"""Beginning of the part of such a note that says how many faults do not violate the property."""


def not_for_any_number(why: str, decided_to: int | None) -> str:
    """Return the note on a property that is open for any number of faults.

    ``decided_to``: the number of faults up to which no fault set violates the property; None if this is not known.
    """
    note = f"{NOT_FOR_ANY_NUMBER}: {STOPPED.get(why, why)}"
    if decided_to is None or decided_to < 0:
        return note
    faults = f"{decided_to} fault{'' if decided_to == 1 else 's'}"
    return f"{note}; {_NONE_OF_FEW} {faults} violates the property (--faults {decided_to} asks for no more)"


def open_for_any_number(verdict: Verdict) -> str:
    """Return the note on a verdict that is open for any number of faults, or ``""``."""
    return next((note for note in verdict.notes if note.startswith(NOT_FOR_ANY_NUMBER)), "")


def holds_up_to(verdict: Verdict) -> int | None:
    """Return the number of faults of which no set violates a property that is open for any number; None otherwise."""
    return verdict.coverage.complete_to if _NONE_OF_FEW in open_for_any_number(verdict) else None
