"""The parts of a published protocol that can be exchanged: all of its replicas."""

from __future__ import annotations

from itertools import pairwise

from proofka.model.language import Permutation, Symmetry, Variable
from proofka.model.published.cluster import Cluster, cluster
from proofka.model.published.constants import Constants


def interchangeable_replicas(constants: Constants) -> Symmetry:
    """Return the symmetry of a published protocol's replicas: no step and no invariant prefers one to another."""
    state = cluster(constants)
    numbers = [replica.number for replica in state.replicas]
    return Symmetry("replicas", tuple(_exchange(state, one, other) for one, other in pairwise(numbers)))


def _exchange(state: Cluster, one: int, other: int) -> Permutation:
    """Return the permutation in which two replicas take each other's name."""
    names = {one: other, other: one}
    variables: dict[Variable, Variable] = {}
    for replica in state.replicas:
        image = state.replicas[names.get(replica.number, replica.number) - 1]
        own = (replica.epoch, replica.high_watermark, *replica.log.slots)
        variables |= dict(zip(own, (image.epoch, image.high_watermark, *image.log.slots), strict=True))
        variables |= {flag: image.isr[names.get(number, number)] for number, flag in replica.isr.items()}
    for request in state.requests:
        variables |= {flag: request.isr[names.get(number, number)] for number, flag in request.isr.items()}
    return Permutation(
        f"replicas {one} and {other} exchanged",
        variables,
        {request.leader: names for request in state.requests},
        dict.fromkeys(("replica", "leader", "follower"), names),
    )
