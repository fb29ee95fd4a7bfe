"""A session: traces replayed one after the other, on as few clusters as they allow."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Iterator, List, Optional, Sequence, Tuple

from checker.cluster.proxy import Proxy
from checker.cluster.supervisor import Supervisor
from properties.reproduced import Outcome
from checker.reproduction.plan import Plan
from checker.reproduction.run import reproduce
from checker.reproduction.running import RunningCluster

Told = Callable[[str], None]


def replay_all(
    plans: Sequence[Plan],
    *,
    kafka_home: Optional[Path],
    tell: Told,
    keep: bool,
    kept: Callable[[List[str]], None],
) -> Iterator[Tuple[Plan, Outcome]]:
    """Yield each plan with its outcome.

    Each trace has a cluster of its own. ``keep``: call ``kept`` with the lines that tell how the cluster is reached
    before it ends. Raises ClusterError if a cluster does not start.
    """
    for plan in plans:
        with Supervisor() as supervisor, Proxy() as proxy:
            running = RunningCluster(plan, supervisor, proxy, kafka_home=kafka_home, tell=tell)
            yield plan, reproduce(plan, running, tell)
            if keep:
                kept(running.reached_by())
