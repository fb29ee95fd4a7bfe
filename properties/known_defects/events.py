"""Events that a defect needs: which fault brings each about, and which happen in any run.

``tables/events.csv`` has a row for each event that is not a fault of the model. ``faults``: kinds of fault, each of
which can bring the event about; ``any`` for an event of ordinary operation; ``outside`` for what no verdict speaks of,
such as an upgrade or the deletion of the topic.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from model.faults import Fault
from properties.known_defects.register import rows_of

ORDINARY = "any"
OUTSIDE = "outside"


@cache
def events() -> Mapping[str, frozenset[Fault] | None]:
    """Return the faults that bring each event about; None for an event of ordinary operation."""
    found: dict[str, frozenset[Fault] | None] = {kind.value: frozenset({kind}) for kind in Fault}
    for row in rows_of("events"):
        words = row["faults"].split()
        if words == [ORDINARY]:
            found[row["event"]] = None
        else:
            found[row["event"]] = frozenset(Fault(word) for word in words if word != OUTSIDE)
    return found


def can_happen(event: str, possible: frozenset[Fault]) -> bool:
    """Tell whether an event can happen where these kinds of fault are possible."""
    faults = events()[event]
    return faults is None or bool(faults & possible)
