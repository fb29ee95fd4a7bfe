"""Results for the tests of reports, one for each kind of verdict."""

from __future__ import annotations

from dataclasses import replace

from proofka.model.deployment import read_properties
from proofka.model.deployment.choices import Acks, OffsetReset, OnSendError
from proofka.model.deployment.explored import Bounds, FaultBudget
from proofka.model.deployment.setting import Ignored, Origin, Setting
from proofka.properties.modelling_assumption import AssumptionKind, ModellingAssumption
from proofka.properties.reproduced import ChangedSetting, Fact, Outcome, digest
from proofka.properties.verdict import (
    Change,
    Coverage,
    EngineRun,
    Result,
    Sensitivity,
    Shown,
    Status,
    Step,
    Trace,
    Verdict,
)

HOSTILE = "[bold red]a|b[/] `x` <i>\x1b[31m\nsecond"
"""Text with markup of every format that a report could interpret."""

SETTINGS = (
    Setting("topic", "min.insync.replicas", "1", Origin("default", "Kafka 4.0")),
    Setting("broker", "unclean.leader.election.enable", "false", Origin("file", file="server.properties", line=4)),
    Setting("producer", "acks", "1", Origin("file", file="orders.yaml", line=12)),
    Setting("producer", "enable.idempotence", "false", Origin("rule", "acks=1 turns idempotence off")),
    Setting("application", "on_send_error", "drop", Origin("assumption", "documented default")),
    Setting("application", "processing", "poll-thread", Origin("assumption")),
)

_READ = read_properties(kafka="4.0", assume={"replicas": "3"})
DEPLOYMENT = replace(
    _READ,
    name="orders",
    given=None,
    profile=None,
    cluster=replace(_READ.cluster, copies_newer_epochs=False),
    consumer=replace(_READ.consumer, offset_reset=OffsetReset.EARLIEST),
    producer=replace(_READ.producer, acks=Acks.LEADER, idempotence=False),
    application=replace(_READ.application, on_send_error=OnSendError.DROP),
    faults=FaultBudget(None, (("kill", 3), ("power-loss", 3), ("consumer-crash", 1))),
    bounds=Bounds(),
    require=("no-acked-loss", "no-skip"),
    settings=SETTINGS,
    ignored=(
        Ignored(
            "producer",
            "linger.ms",
            "5",
            Origin("file", file="orders.yaml", line=14),
            "batching delays records but loses none",
        ),
    ),
    notes=("acks=1 is set, so the client turns enable.idempotence off without an error.",),
)

COVERAGE = Coverage(
    complete_to=2,
    total=None,
    combinations=31,
    combinations_of_next=286,
    kinds=(("consumer-crash", 1), ("kill", 3), ("power-loss", 3)),
    bounds={"records": 2, "log": 3, "sends": 2},
    bounds_reached=("log",),
    stopped="time",
)

COMPLETE = replace(COVERAGE, total=2, combinations=0, combinations_of_next=0, bounds_reached=(), stopped=None)

SEND = Step(
    "producer",
    "producer",
    "transmit",
    {"batch": 0, "leader": 1},
    "the application sends record 1 to broker 1",
    None,
    (Change("record 1", "not sent", "on its way to broker 1"),),
)
APPEND = Step(
    "broker 1",
    "brokers",
    "append",
    {"batch": 0, "leader": 1},
    "broker 1 appends record 1 at offset 0 and acknowledges it, as acks=1 asks for no follower",
    None,
    (Change("broker 1's log", "[]", "[1]", ("1",)), Change("record 1", "on its way to broker 1", "acknowledged")),
)
KILL = Step(
    "broker 1", "brokers", "kill", {"broker": 1}, "broker 1 is killed", "kill", (Change("broker 1", "up", "down"),)
)
ELECT = Step(
    "controller",
    "controller",
    "elect",
    {"broker": 2, "epoch": 2},
    "the controller elects broker 2 from the ISR, epoch 2",
    None,
    (Change("leader", "broker 1", "broker 2"), Change("leader epoch", "1", "2")),
)
MOVE = Step("controller", "controller", "move", {"broker": 2}, "leadership moves to broker 2", "leader-move", ())
CRASH = Step("consumer", "consumer", "crash", {}, "the consumer crashes and restarts", "consumer-crash", ())

START = (
    Shown("record 1", "producer", "not sent"),
    Shown("broker 1", "broker 1", "up"),
    Shown("broker 1's log", "broker 1", "[]", ()),
    Shown("broker 1's high watermark", "broker 1", "0"),
    Shown("broker 2", "broker 2", "up"),
    Shown("broker 2's log", "broker 2", "[]", ()),
    Shown("leader", "controller", "broker 1"),
    Shown("leader epoch", "controller", "1"),
)

KILL_TRACE = Trace(
    (("kill", 1),),
    (SEND, APPEND, KILL, ELECT),
    "record 1 was acknowledged, but is not in the log of broker 2, which leads",
    START,
)
MOVE_TRACE = Trace(
    (("leader-move", 1),), (SEND, APPEND, MOVE), "record 1 was acknowledged, but broker 2 leads without it"
)
LOSS_TRACE = replace(KILL_TRACE, failure="record 1 was never processed, and no failure was reported for it")


def verdict(name: str, status: Status, **changes: object) -> Verdict:
    """Build a verdict with the given status and plausible other values."""
    made = Verdict(
        property=name,
        statement=f"What {name} says, in one sentence.",
        guarantee="acks: the guarantee it formalises",
        status=status,
        required=False,
        cut_sets=(),
        traces=(),
        witness="a record acknowledged and the leader replaced after it",
        witness_reached=True,
        states=98_123,
        coverage=COVERAGE,
        id="0123456789abcdef",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


VIOLATED = verdict(
    "no-acked-loss",
    Status.VIOLATED,
    statement="A record whose send was acknowledged is in the log of every leader elected later.",
    required=True,
    cut_sets=((("kill", 1),), (("leader-move", 1),), (("power-loss", 1), ("slow-follower", 2))),
    traces=(KILL_TRACE, MOVE_TRACE, replace(MOVE_TRACE, faults=(("power-loss", 1), ("slow-follower", 2)))),
)
_MANY = tuple((("kill", 1), ("power-loss", count)) for count in range(1, 10))
MANY_SETS = replace(VIOLATED, cut_sets=_MANY, traces=tuple(replace(MOVE_TRACE, faults=faults) for faults in _MANY))
SAME_TRACE = verdict(
    "no-loss",
    Status.VIOLATED,
    statement="Every record is processed, or its failure was reported.",
    cut_sets=((("kill", 1),),),
    traces=(LOSS_TRACE,),
)
FAULTLESS = verdict(
    "exactly-once-effect",
    Status.VIOLATED,
    cut_sets=((),),
    traces=(Trace((), (SEND, APPEND), "the effect of record 1 happened twice"),),
    coverage=COMPLETE,
    states=1_234_567,
)
OF_MODEL = ModellingAssumption("assumes that no error comes at the end", AssumptionKind.OF_MODEL)
OF_DEPLOYMENT = ModellingAssumption("assumes that records are read in time", AssumptionKind.OF_DEPLOYMENT)
HOLDS = verdict(
    "no-skip",
    Status.HOLDS,
    required=True,
    coverage=COMPLETE,
    notes=("Holds for any processing time.", OF_MODEL.text, OF_DEPLOYMENT.text),
    assumptions=(OF_DEPLOYMENT, OF_MODEL),
)
VACUOUS = verdict(
    "read-stability",
    Status.VACUOUS,
    witness="an offset read twice, with a leader change in between",
    witness_reached=False,
    coverage=COMPLETE,
)
UNKNOWN = verdict("recoverability", Status.UNKNOWN, coverage=replace(COVERAGE, complete_to=0, combinations=3))

ENGINE = EngineRun("embedded", 1_234_567, 5_678_901, 31, (120, 98_003, 1_136_444), 9.96, 0.48, 24)
SENSITIVITIES = (Sensitivity("processing", "handed-off", "no-skip", Status.VIOLATED, ((("consumer-crash", 1),),)),)
VERSIONS = {"z3": "4.13.0", "proofka": "0.1.0", "model": "1"}

RESULT = Result((VIOLATED, SAME_TRACE, FAULTLESS, HOLDS, VACUOUS, UNKNOWN), ENGINE, SENSITIVITIES, VERSIONS)
HARMLESS = Result((HOLDS,), ENGINE, (), VERSIONS)

HOSTILE_DEPLOYMENT = replace(
    DEPLOYMENT,
    name=HOSTILE,
    client=HOSTILE,
    notes=(HOSTILE,),
    settings=(
        Setting("producer", HOSTILE, HOSTILE, Origin("file", file=HOSTILE, line=1)),
        Setting("application", HOSTILE, HOSTILE, Origin("assumption", HOSTILE)),
    ),
    ignored=(Ignored("producer", HOSTILE, HOSTILE, Origin("option", HOSTILE), HOSTILE),),
)
HOSTILE_STEP = replace(SEND, text=HOSTILE, changes=(Change(HOSTILE, HOSTILE, HOSTILE),))
HOSTILE_RESULT = Result(
    (
        replace(
            VIOLATED,
            statement=HOSTILE,
            notes=(HOSTILE,),
            traces=(Trace((("kill", 1),), (HOSTILE_STEP,), HOSTILE),),
            cut_sets=((("kill", 1),),),
        ),
    ),
    ENGINE,
    (),
    VERSIONS,
)

COMMAND = "proofka check orders.yaml"

REPRODUCED = Outcome(
    kind="reproduced",
    trace=digest((step.action, step.arguments) for step in KILL_TRACE.steps),
    properties=("no-acked-loss", "no-loss"),
    kafka="4.0.2",
    clients=("java 4.0.2",),
    on="2026-11-27",
    seconds=14.0,
    evidence=("record 1 was reported as stored, and is not in the log of broker 2, which leads",),
    facts=(
        Fact(1, "proxy", "request with record 1 from the producer to broker 1", 1.25),
        Fact(2, "log of broker 1", "0: record 1 (epoch 0)", 1.5),
        Fact(2, "delivery report", "record 1: stored at offset 0", 1.75),
        Fact(4, "controller", "leader 2, epoch 1, ISR [2, 3]", 5.0),
    ),
    changed=(ChangedSetting("broker", "replica.lag.time.max.ms", "30000", "120000", "the replay holds fetches"),),
)
"""An outcome of the first trace of :data:`RESULT`."""

DIVERGED = Outcome(
    kind="diverged",
    trace=digest((step.action, step.arguments) for step in MOVE_TRACE.steps),
    properties=("no-acked-loss",),
    kafka="4.0.2",
    clients=("java 4.0.2",),
    on="2026-11-27",
    seconds=9.5,
    step=3,
    action="move",
    model="leadership moves to broker 2",
    observed="a leader other than broker 1 did not happen within 45 s",
    facts=(Fact(2, "log of broker 1", "0: record 1 (epoch 0)", 1.5),),
)
NOT_STEERABLE = Outcome(
    kind="not steerable",
    trace=digest((step.action, step.arguments) for step in FAULTLESS.traces[0].steps),
    properties=("exactly-once-effect",),
    kafka="4.0",
    clients=(),
    on="2026-11-28",
    seconds=0.0,
    step=2,
    action="append",
    reason="no replay can bring about this step",
)
REPLAYED = replace(RESULT, reproductions=(REPRODUCED, DIVERGED, NOT_STEERABLE))
"""A result with an outcome of each kind that ends a replay of another trace."""
