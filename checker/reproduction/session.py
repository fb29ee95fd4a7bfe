"""A session: traces replayed one after the other, on as few clusters as they allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Callable

from proofka.checker.cluster.proxy import Proxy
from proofka.checker.cluster.supervisor import Supervisor
from proofka.checker.reproduction.adjusting import adjusted, session_of
from proofka.checker.reproduction.plan import Plan
from proofka.checker.reproduction.run import reproduce, unsteerable
from proofka.checker.reproduction.running import RunningCluster, Told
from proofka.properties.reproduced import Outcome
from proofka.properties.reproduced_in_words import heading


def replay_all(
    plans: Sequence[Plan],
    *,
    kafka_home: Path | None,
    tell: Told,
    keep: bool,
    kept: Callable[[list[str]], None],
) -> Iterator[tuple[Plan, Outcome]]:
    """Yield each plan with its outcome.

    Traces whose clusters have the same settings share one cluster, each with a topic of its own. ``keep``: call
    ``kept`` with the lines that tell how the cluster is reached before it ends, once all messages pass. Raises
    ClusterError if a cluster does not start.
    """
    groups: dict[str, list[Plan]] = {}
    for plan in plans:
        groups.setdefault(cluster_of(plan), []).append(plan)
    for group in groups.values():
        with Supervisor() as supervisor, Proxy() as proxy:
            running: RunningCluster | None = None
            for plan in group:
                has_run = unsteerable(plan) is None
                if has_run and running is None:
                    running = RunningCluster(plan, supervisor, proxy, kafka_home=kafka_home, tell=tell)
                tell(heading([name for name, _ in plan.failures], plan.faults, len(plan.steps)))
                yield plan, reproduce(plan, running, tell)
                if keep and running is not None:
                    running.let_go()
                    kept(running.reached_by())
                if running is not None and has_run and plan is not group[-1]:
                    running.recover(tell)


def cluster_of(plan: Plan) -> str:
    """Return a text that is equal for plans whose traces can be replayed on the same cluster."""
    settings, _ = adjusted(plan, "broker", "", plan.broker_settings)
    parts = (plan.kafka, plan.mode, plan.replicas, session_of(plan))
    return repr((*parts, sorted(settings.items()), sorted(plan.features.items())))
