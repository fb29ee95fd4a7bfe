"""The published protocols, by name, with their constants filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import z3

from proofka.model.language import Action, TransitionSystem
from proofka.model.published import invariants, kip_101, kip_279, kip_320, kip_320_first_try, truncate_to_hw
from proofka.model.published.cluster import Cluster, cluster
from proofka.model.published.constants import Constants, PublishedProtocolError
from proofka.model.published.sentences import displays


@dataclass(frozen=True)
class Variant:
    """A way to replicate a log: its summary in one line, and its actions."""

    summary: str
    actions: Callable[[Cluster], Iterator[Action]]


PROTOCOLS: Mapping[str, Variant] = {
    "truncate-to-hw": Variant("a new follower truncates to its high watermark (before 0.11)", truncate_to_hw.actions),
    "kip-101": Variant("a new follower truncates where its last leader epoch ends (0.11)", kip_101.actions),
    "kip-279": Variant("a new follower truncates to the last record it shares with the leader (2.0)", kip_279.actions),
    "kip-320-first-try": Variant("followers compare the epochs of records (rejected)", kip_320_first_try.actions),
    "kip-320": Variant("leader and follower act together only in the same leader epoch (2.1)", kip_320.actions),
}


@dataclass(frozen=True)
class PublishedProtocol:
    """A published protocol with its constants: its transition system, and the violating states of each invariant."""

    name: str
    constants: Constants
    system: TransitionSystem
    violated: Mapping[str, z3.BoolRef]


def protocol(name: str, *, replicas: int, log_size: int, records: int, epochs: int) -> PublishedProtocol:
    """Return the protocol of this name, with leader epochs 0 to ``epochs`` inclusive.

    Raise :class:`PublishedProtocolError` for an unknown name and for constants that make no sense.
    """
    if name not in PROTOCOLS:
        raise PublishedProtocolError(f"no published protocol {name!r}: choose one of {', '.join(PROTOCOLS)}")
    constants = Constants(replicas, log_size, records, epochs)
    state = cluster(constants)
    system = TransitionSystem(name, state.variables, tuple(PROTOCOLS[name].actions(state)), displays(state))
    return PublishedProtocol(name, constants, system, invariants.violated(state))
