"""Reasons of violations, changes that prevent them, and repairs, in words."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from io import StringIO

from proofka.model.deployment.changing import Change, strengthenings
from proofka.model.deployment.choices import Acks
from proofka.model.deployment.deployment import Deployment
from proofka.model.deployment.setting import Origin, Setting
from proofka.properties.verdict import Prevention, Result, Status
from proofka.reports import terminal
from proofka.reports.document import result_from_document, to_document
from proofka.reports.explained import explained, preventions_of
from proofka.reports.html import to_html
from proofka.reports.markdown import to_markdown
from proofka.reports.repairs import RepairReport, costs, tolerated
from proofka.reports.schema import problem
from tests.deployments import changed
from tests.reports import samples

KILL = (("kill", 1),)
HOLDS = Status.HOLDS
RESULT = replace(
    samples.RESULT,
    preventions=(
        Prevention(
            "no-acked-loss",
            KILL,
            "producer.acks=all",
            settings=("producer.acks",),
            brings=("producer.enable.idempotence=true (rule P12)",),
        ),
        Prevention("no-acked-loss", KILL, "topic.flush.messages=1", settings=("topic.flush.messages",)),
        Prevention("exactly-once-effect", (), "producer.sends=sync", decided=False, settings=("application.sends",)),
    ),
)


VIOLATED = [verdict for verdict in samples.RESULT.verdicts if verdict.status is Status.VIOLATED]


def explained_of(result: Result) -> list[tuple[str, str]]:
    violated = [v.property for v in result.verdicts if v.status is Status.VIOLATED]
    told = list(explained(result))
    return [(name, said[1]) for name, said in zip(violated, told[: len(violated)], strict=True)]


def test_explanation_names_the_cause_and_the_preventing_changes() -> None:
    told = dict(zip([v.property for v in samples.RESULT.verdicts], explained(RESULT), strict=False))
    assert told["no-acked-loss"] == (
        "no-acked-loss (acks: the guarantee it formalises) breaks with 1 kill: record 1 was acknowledged, but is not "
        "in the log of broker 2, which leads",
        "prevented by any of producer.acks=all, which brings producer.enable.idempotence=true (rule P12); "
        "topic.flush.messages=1",
    )
    assert "no single known change was found to prevent this" in told["no-loss"][1]
    undecided = "no single change is known to prevent this; 1 change not decided"
    assert told["exactly-once-effect"][1] == undecided


def test_undecided_changes_are_listed_once_for_all_properties() -> None:
    left = [Prevention(v.property, v.cut_sets[0], "producer.sends=sync", decided=False) for v in VIOLATED]
    left.append(replace(left[0], change="producer.retries=5"))
    told = list(explained(replace(RESULT, preventions=tuple(left))))
    assert [said for _, said in told[len(VIOLATED) :]] == ["producer.sends=sync; producer.retries=5"]
    assert ["2 changes not decided" in said for _, said in told[: len(VIOLATED)]] == [True, False, False]


def test_a_change_to_the_present_value_is_told_once() -> None:
    """Auto-commit is off here, so the change of both settings equals the change of one."""
    one = Prevention("no-loss", KILL, "consumer.commit=after", settings=("application.commit",))
    both = replace(one, change=f"consumer.enable.auto.commit=false and {one.change}")
    further = replace(both, settings=("consumer.enable.auto.commit", "application.commit"))
    for told in ((one, both), (both, one)):
        assert preventions_of(replace(RESULT, preventions=told), "no-loss", KILL) == [one]
    assert len(preventions_of(replace(RESULT, preventions=(one, further)), "no-loss", KILL)) == 2


def test_every_report_says_it_where_it_was_asked() -> None:
    document = json.loads(json.dumps(to_document(samples.DEPLOYMENT, RESULT)))
    assert problem(document) is None
    assert result_from_document(document) == RESULT
    assert "preventions" not in to_document(samples.DEPLOYMENT, samples.RESULT)
    for page in (to_markdown, to_html):
        assert "topic.flush.messages=1" in page(samples.DEPLOYMENT, RESULT, command="x").replace("\\", "")
        assert "none of the known changes" not in page(samples.DEPLOYMENT, samples.RESULT, command="x")
    out = StringIO()
    terminal.print_result(terminal.console(out), samples.DEPLOYMENT, RESULT, command="x", repair="y")
    assert (
        out.getvalue().index("can fail") < out.getvalue().index("\nWhy\n") < out.getvalue().index("violated by {kill},")
    )


@dataclass(frozen=True)
class Repaired:
    changes: tuple[Change, ...]
    deployment: Deployment
    mends: tuple[str, ...]
    result: Result = samples.HARMLESS
    needed: bool = True


@dataclass(frozen=True)
class Found:
    wanted: tuple[str, ...]
    found: tuple[Repaired, ...]
    violated: tuple[str, ...] = ("no-loss",)
    before: Result = samples.RESULT
    hopeless: tuple[str, ...] = ()
    explored: int = 7
    refuted: int = 1200
    stopped: bool = False
    undecided: tuple[str, ...] = ()

    @property
    def whole(self) -> tuple[Repaired, ...]:
        return tuple(one for one in self.found if set(one.mends) >= set(self.wanted))


def shown(found: Found) -> str:
    out = StringIO()
    terminal.console(out).print(RepairReport(samples.DEPLOYMENT, found))
    return " ".join(out.getvalue().split())


def verdicts(**statuses: Status) -> Result:
    found = tuple(samples.verdict(name.replace("_", "-"), status, required=True) for name, status in statuses.items())
    return replace(samples.RESULT, verdicts=found)


STRONG = changed(samples.DEPLOYMENT, acks=Acks.ALL, min_insync_replicas=2)
STRONGER = ("producer.acks=all", "topic.min.insync.replicas=2")
CHANGES = tuple(c for c in strengthenings() if str(c) in STRONGER and c.library in ("", "java"))
BOTH = ("no-loss", "no-skip")


def test_a_repair_names_its_costs() -> None:
    text = shown(Found(BOTH, (Repaired(CHANGES, STRONG, BOTH, verdicts(no_loss=HOLDS, no_skip=HOLDS)),)))
    assert "1 repair, with which all 2 required properties hold" in text
    assert "producer.acks=all + topic.min.insync.replicas=2" in text
    assert "each repair was checked as a whole" in text
    assert "explored: any 2 faults" in text
    assert "; sizes: records 2" in text
    assert "7 sets of changes explored, 1,200 more refuted" in text
    assert "latency: a send waits for all in-sync replicas" in text
    assert "availability: writes with acks=all fail while fewer replicas are in sync" in text
    assert "writes continue with 1 broker unavailable, not with 2 (before: with 2)" in text


def test_less_of_a_setting_has_another_price() -> None:
    settings = tuple(one for one in samples.DEPLOYMENT.settings if one.key != "min.insync.replicas")
    three = Setting("topic", "min.insync.replicas", "3", Origin("file", "d.yaml:3"))
    before = changed(STRONG, min_insync_replicas=3, settings=(*settings, three))
    told = list(costs(before, Repaired(CHANGES[1:], STRONG, BOTH)))
    assert told == [
        "lowered from 3: an acknowledged record can be on fewer replicas",
        "writes continue with 1 broker unavailable (before: with 0)",
    ]


def test_properties_not_shown_to_hold_are_named() -> None:
    after = verdicts(no_loss=HOLDS, no_skip=Status.VACUOUS, recoverability=Status.UNKNOWN)
    wanted = (*BOTH, "recoverability")
    text = shown(Found(wanted, (Repaired(CHANGES, STRONG, wanted, after, needed=False),), before=after))
    assert "no required property is violated, and 1 of 3 hold" in text
    assert text.count("passes only because the witness is not reached: no-skip") == 2
    assert text.count("not decided: recoverability") == 2
    assert "before it was known whether all of these changes are needed" in text
    early = shown(Found(wanted, (), violated=(), before=after, explored=0, refuted=0, stopped=True))
    assert "no violation was found. The search was stopped early." in early
    nothing = shown(Found(wanted, (), violated=(), before=after, explored=0, refuted=0))
    assert "nothing to repair, but not every required property is shown to hold" in nothing
    assert "before: not decided: recoverability" in nothing


def test_a_front_names_the_properties_that_do_not_hold() -> None:
    text = shown(Found(BOTH, (Repaired(CHANGES, STRONG, ("no-loss",)),), hopeless=("no-skip",)))
    assert "No set of changes repairs all" in text
    assert "No known modelled change repairs no-skip." in text
    assert "repairs no-loss; does not hold: no-skip" in text


def test_explanation_without_a_finding_says_so() -> None:
    held = verdicts(no_loss=HOLDS)
    nothing = shown(Found(("no-loss",), (), violated=(), before=held, explored=0, refuted=0))
    assert "nothing to repair, every required property holds" in nothing
    assert "sets of changes" not in nothing
    none = shown(Found(("no-loss",), ()))
    assert "No known modelled change repairs this." in none
    assert "each repair" not in none
    stopped = shown(Found(("no-loss",), (), stopped=True))
    assert "The search was stopped early. No repair was found: raise the time (--time)" in stopped


def test_number_of_brokers_that_can_be_away() -> None:
    assert (tolerated(samples.DEPLOYMENT), tolerated(STRONG)) == (2, 1)
