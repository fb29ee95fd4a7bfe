"""The lower end: the expected number of runs a year that follow a trace, where exposures are known (docs/risk.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, factorial

from proofka.checker.risk.sources import Source
from proofka.checker.risk.windows import Window
from proofka.properties.rates import YEAR

MS = 1.0 / (1000 * YEAR)
"""Length of a millisecond, in years."""


def runs_a_year(window: Window, sources: Sequence[Source], exposures: Mapping[str, float]) -> float:
    """Return the expected number a year of faults that begin a run like that of a trace.

    Counted is a fault of the first kind while no fault has effects, after which the other faults of the trace come in
    its order, within its window, and no other fault comes until the time of the violation. Each fault hits the moment
    and the component of the trace with the probability ``exposures``. ``sources``: all sources that matter to the
    property. The kinds of the trace have sources and exposures of their own.
    """
    single = {source.name: source for source in sources if not source.is_cause}
    chain = [single[kind] for kind in window.order]
    if not chain:
        return 0.0
    least, most = _room(window, chain)
    if most < least:
        return 0.0
    others = len(chain) - 1
    idle = exp(-sum(source.active for source in sources))
    alone = exp(-sum(source.a_year for source in sources) * (most + window.after * MS))
    room = (most**others - least**others) / factorial(others) if others else 1.0
    found = idle * alone * room
    for source in chain:
        found *= source.a_year * exposures[source.name]
    return found


def _room(window: Window, chain: Sequence[Source]) -> tuple[float, float]:
    """Return the least and the greatest time from the first fault to the last, in years.

    A fault without effects plays no part any more, so the window ends with the first of these times.
    """
    least, most = window.span
    lasts = [source.lasts for source in chain[:-1]]
    bounds = [*lasts, *([] if most is None else [most * MS])]
    return least * MS, min(bounds, default=0.0)
