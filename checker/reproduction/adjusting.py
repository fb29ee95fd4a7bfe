"""Settings that a replay changes: the trace's order needs another value, or a shorter wait gives the same trace."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from proofka.checker.reproduction.expected import leader_of, previous
from proofka.checker.reproduction.plan import Plan, PlannedClient
from proofka.properties.reproduced import ChangedSetting

TABLE = Path(__file__).with_name("adjusted.csv")
"""The table of changed settings: scope, library (empty: none), key, value, when, reason.

``when``: nothing (always), names of actions or situations of which the trace has one, or ``no:`` and names of which
the trace has none. Of several rows for one key the last counts.
"""

AUTO_COMMITS, NEVER_COMMITS = "auto-commits", "never-commits"
"""The situations of a client that commits by itself: a commit between two steps of the trace, and none."""

BY_CLIENT = frozenset({"auto", "earlier", "delivered"})
"""The times of commits (``commit`` of the application) of a client that commits by itself."""

LEARNS_BY_AGE = "learns-by-age"
"""The situation that a producer learns of a new leader because its metadata has become old."""
TRANSACTIONS, TRANSACTIONS_LAST = "transactions", "transactions-last"
"""The situations that a producer has transactions, and that none of them runs out of time."""
GIVES_UP_IN_FLIGHT = "gives-up-in-flight"
"""The situation that a producer gives records up, and that no request before has run out of time."""
TIMES_OUT_BEFORE_SHRINKING = "times-out-before-shrinking"
"""The situation that a request runs out of time before its leader proposes a smaller ISR, and is not given up."""
TELLING = frozenset(
    {"kill", "notice", "time_out", "reject_not_leader", "crash_producer", "lose_request", "lose_response"}
)
"""Actions after which a producer that has a request on its way asks for the leader."""
SILENCING = frozenset({"lose_power", "lose_disk"})
"""Actions that leave connections to a broker open and silent, so that a producer without a request notices nothing."""

SECURED = {"producer": "secured-producer", "consumer": "secured-consumer"}
"""The situations that a client's ``security.protocol`` asks for TLS or SASL, by the client's role."""
PROTOCOLS, PLAIN = ("security.protocol", "security_protocol"), "PLAINTEXT"
"""The names of the setting in client libraries, and the value that the brokers of a replay understand."""

SESSION, LONG_SESSION = 3000, 30000
"""Milliseconds until the controller fences a silent broker; the longer time if the broker starts before its end."""
NO_OFFSET = "none"
"""The model's word for the committed offset of a group that has none."""
SITUATIONS = frozenset(
    {
        AUTO_COMMITS,
        NEVER_COMMITS,
        LEARNS_BY_AGE,
        TRANSACTIONS,
        TRANSACTIONS_LAST,
        GIVES_UP_IN_FLIGHT,
        TIMES_OUT_BEFORE_SHRINKING,
        *SECURED.values(),
    }
)
"""The situations that no single action shows."""


def adjusted(
    plan: Plan, scope: str, library: str, given: Mapping[str, str]
) -> tuple[dict[str, str], tuple[ChangedSetting, ...]]:
    """Return the settings that the replay uses for a scope, and those that it changes."""
    used: dict[str, str] = dict(given)
    changed: dict[str, ChangedSetting] = {}
    situations = situations_of(plan)
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["scope"] != scope or row["library"] not in ("", library) or not _applies(row["when"], situations):
                continue
            before = given.get(row["key"], plan.effective.get(f"{scope}.{row['key']}"))
            used[row["key"]] = row["value"]
            changed[row["key"]] = ChangedSetting(scope, row["key"], before, row["value"], row["reason"])
    return used, tuple(one for key, one in changed.items() if given.get(key) != used[key])


def session_of(plan: Plan) -> int:
    """Return the milliseconds until the controller fences a silent broker."""
    return LONG_SESSION if plan.has("start_early") else SESSION


def adjusted_client(plan: Plan, role: str, client: PlannedClient) -> tuple[dict[str, str], tuple[ChangedSetting, ...]]:
    """Return the settings that the replay uses for a client, and those that it changes."""
    return adjusted(plan, role, client.library, client.settings)


def _applies(when: str, situations: frozenset[str]) -> bool:
    if when.startswith("no:"):
        return not situations.intersection(when[3:].split())
    return not when or bool(situations.intersection(when.split()))


def situations_of(plan: Plan) -> frozenset[str]:
    """Return the names of the trace's actions, and the situations that no single action shows."""
    situations = {step.action for step in plan.steps}
    if plan.application.get("commit") in BY_CLIENT:
        commits = any(committed_by(plan, step.number) is not None for step in plan.steps)
        situations.add(AUTO_COMMITS if commits else NEVER_COMMITS)
    if plan.transactional:
        timed = plan.has("abort_forgotten", "time_out_transaction")
        situations |= {TRANSACTIONS} if timed else {TRANSACTIONS, TRANSACTIONS_LAST}
    if plan.has("give_up") and not _times_out(plan):
        situations.add(GIVES_UP_IN_FLIGHT)
    waits = [step.action for step in plan.steps if step.action in ("time_out", "shrink_isr")]
    if "shrink_isr" in waits and waits[0] == "time_out" and not plan.has("give_up"):
        situations.add(TIMES_OUT_BEFORE_SHRINKING)
    if _learns_by_age(plan):
        situations.add(LEARNS_BY_AGE)
    for role, client in (("producer", plan.producer), ("consumer", plan.consumer)):
        if any(client.settings.get(name, PLAIN).strip().upper() != PLAIN for name in PROTOCOLS):
            situations.add(SECURED[role])
    return frozenset(situations)


def _times_out(plan: Plan) -> bool:
    """Tell whether a request of the trace runs out of time before the producer gives its record up.

    A producer sends a record again because a request has run out of time, or because a step ends the connection. No
    step ends the connection to a broker without power, unless the producer notices.
    """
    sent = [step.arguments["batch"] for step in plan.steps if step.action == "transmit"]
    is_silent = plan.has(*SILENCING) and not plan.has("notice")
    return plan.has("time_out", "time_out_at_broker") or (is_silent and len(sent) > len(set(sent)))


def _learns_by_age(plan: Plan) -> bool:
    """Tell whether the producer transmits to another broker than before although nothing told it of a new leader."""
    target = None
    has_request = False
    has_sent = False
    first_leader = leader_of(plan.start)
    for step in plan.steps:
        # A broker that learns of another leader refuses the requests that it has and cannot finish.
        learns = step.action in ("apply_metadata", "rejoin")
        is_refused = learns and step.arguments["broker"] == target and has_request
        if step.action in TELLING or is_refused:
            target = None
        elif step.action in SILENCING and not has_sent and step.arguments["broker"] == first_leader:
            target = first_leader
        elif step.action == "append":
            has_request = plan.acks == "all"
        elif step.action == "transmit":
            if target not in (None, step.arguments["leader"]):
                return True
            target = step.arguments["leader"]
            has_request = False
            has_sent = True
    return False


def committed_by(plan: Plan, number: int) -> int | None:
    """Return the offset in the modelled log that the group has committed when its consumer starts at this step.

    None if the step starts no consumer, if the offset is the one of the start before, or if there is none any more.
    """
    step = plan.steps[number - 1]
    key = "committed offset at the last start"
    before, after = previous(plan, step).get(key), step.state.get(key)
    return None if after in (None, NO_OFFSET) or before == after else int(after)
