"""The runs that the lemmas of a property leave, explored whole: no state and no combination of faults is left out."""

from __future__ import annotations

from proofka.checker.budget import Meter
from proofka.checker.embedded import EmbeddedExploration
from proofka.checker.exploration import AnyExploration
from proofka.checker.timing.loop import InTime


def explored_whole(in_time: InTime, like: AnyExploration, layers: int, meter: Meter) -> EmbeddedExploration:
    """Explore the part that a property sees, with its lemmas and fewer faults than ``layers``.

    ``like``: the exploration without clocks. The exploration ends early at a limit of ``meter``. Raise
    :class:`checker.timing.tables.TooManyFlags`.
    """
    own = in_time.kernel.slice_for(in_time.system, in_time.question, expected=like.states)
    exploration = EmbeddedExploration(
        own.system,
        in_time.question,
        like.at_most,
        meter,
        in_time.threads,
        infer=False,
        monitors=in_time.timing.monitors(own.system, in_time.rests_on, in_time.kernel.places),
        part=own.part,
    )
    while len(exploration.layers) < layers and exploration.explore_layer().stopped is None:
        pass
    return exploration
