"""The way in which a group takes a partition from a live member, by client, protocol and release (semantics 12)."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Rebalancing:
    """The state in which an orderly rebalance finds the member that gives up its partition (semantics 12).

    ``by_brokers``: the brokers assign partitions, and members learn their assignment from heartbeats
    (``group.protocol=consumer``, KIP-848). ``at_any_time``: the client gives up the partition while the application
    processes records from poll(), not in a later poll(). ``behind``: the last returned records need not be committed by
    then. ``sent_once``: the commit before the rebalance is not sent again if it fails (KAFKA-14024).
    ``in_background``: the client rejoins the group in a thread of its own, and the application decides whether it gives
    the partition up there (semantics 4.1).
    """

    by_brokers: bool
    at_any_time: bool
    behind: bool
    sent_once: bool
    in_background: bool = False


IN_ORDER = Rebalancing(by_brokers=False, at_any_time=False, behind=False, sent_once=False)
"""A partition is given up in a later poll(), after a commit of all returned records."""

AT_ANY_TIME = replace(IN_ORDER, at_any_time=True)
"""A partition is given up while the application processes records, after a commit of all that were processed before."""

IN_BACKGROUND = replace(IN_ORDER, in_background=True)
"""The application decides whether a partition is given up in a later poll() or at any time."""
