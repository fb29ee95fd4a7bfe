"""How a group takes a partition from a member that is alive, by client, protocol and release (semantics 12)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rebalancing:
    """What a rebalance in order finds of the member that gives its partition up (semantics 12).

    ``by_brokers``: the brokers say who has what, and members hear of it with their heartbeats
    (``group.protocol=consumer``, KIP-848). ``at_any_time``: the client lets go while the application is at work on what
    poll() returned, not in a later poll(). ``behind``: what was returned last need not have been committed by then.
    ``sent_once``: the commit before it is not sent again if it fails (KAFKA-14024).
    """

    by_brokers: bool
    at_any_time: bool
    behind: bool
    sent_once: bool


IN_ORDER = Rebalancing(by_brokers=False, at_any_time=False, behind=False, sent_once=False)
"""In a later poll(), with everything committed that was returned."""
