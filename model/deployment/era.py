"""How the brokers of a release behave where releases differ (semantics 2, 6, 7)."""

from __future__ import annotations

from dataclasses import dataclass

from model.deployment.release import Release
from model.deployment.section import Section

ZOOKEEPER = "zookeeper.connect"
FIRST_KRAFT = (3, 3)
"""KRaft is ready for use from here on; the release names no mode before."""

LAST_ZOOKEEPER = (3, 9)


@dataclass(frozen=True)
class Era:
    """What a release's brokers do.

    ``unclean_is_honoured``: ``unclean.leader.election.enable=true`` has an effect. ``restart_before_fenced``: a new
    incarnation may register before the old one was fenced, and keeps its ISR seat. ``old_fetches_count``: what a
    replica fetched before its restart may still bring it into the ISR (before KIP-903). ``fenced_may_join``: so may a
    replica that is dead by then (before KIP-841). ``high_watermark_needs_min_isr``: it stands still below that.
    """

    zookeeper: bool
    unclean_is_honoured: bool
    restart_before_fenced: bool
    old_fetches_count: bool
    fenced_may_join: bool
    high_watermark_needs_min_isr: bool


def era_of(broker: Section) -> Era:
    """The era of the brokers, or the refusal of one that is not modelled."""
    line = broker.release.line
    zookeeper = broker.has(ZOOKEEPER) or line < FIRST_KRAFT
    if broker.has(ZOOKEEPER) and line > LAST_ZOOKEEPER:
        raise broker.not_modelled(ZOOKEEPER, "brokers with ZooKeeper; Kafka 4.0 and later have none: remove it")
    if broker.has("process.roles") and broker.given["process.roles"].value.strip():
        if line < FIRST_KRAFT:
            first = ".".join(map(str, FIRST_KRAFT))
            why = f"KRaft mode before {first}; leave it out to check ZooKeeper mode, or name a later release"
            raise broker.not_modelled("process.roles", why)
        if broker.has(ZOOKEEPER):
            raise broker.not_modelled(ZOOKEEPER, "the way from ZooKeeper to KRaft; leave out one of the two")
    return Era(
        zookeeper=zookeeper,
        unclean_is_honoured=zookeeper or line >= (3, 9),
        restart_before_fenced=not zookeeper and line < (4, 0),
        old_fetches_count=zookeeper or line < (3, 5),
        fenced_may_join=line < (3, 3),
        high_watermark_needs_min_isr=line >= (3, 7),
    )


def notes_of(era: Era, release: Release) -> tuple[str, ...]:
    """In which mode the brokers are taken to run, where the release allows both."""
    if FIRST_KRAFT <= release.line <= LAST_ZOOKEEPER and not era.zookeeper:
        return (f"Kafka {release} is taken to run in KRaft mode: say {ZOOKEEPER} of the broker if it does not",)
    return ()
