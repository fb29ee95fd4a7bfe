"""Forgeries of what a certificate proves: each breaks a rule of the page's table of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.certificates.forging import (
    Forgery,
    of_certificate,
    of_members,
    with_action,
    with_claim,
    with_part,
    with_property,
    with_set,
    with_smallest,
    with_updates,
    with_variable,
)
from tests.certificates.proving import KEPT, LAYOUT, LEMMA_SUM, LIMITS, TOTAL, least, toy_certificate
from tests.certificates.toy import TOY, Action, Term, Values, explore
from tests.certificates.writing import Certificate, Smallest, certificate_file, system_text

NO_FAULT, ONE_KILL, ONE_LOSS, TWO_KILLS, BOTH = range(5)
"""The places of the sets in the parts 0 and 1."""
LOSS, READABLE, EARLY, ANY_KILLS = range(4)
"""The parts; each has one claim."""
TWO_LOSSES = (("power-loss", 2),)
READS_DRIFT: Term = ("<", "drift", 2)
"""A term that always holds, and reads the variable that no part keeps."""


def state(**values: int) -> Values:
    """Return the initial state, cut down to kept variables, with some other values."""
    return tuple({name: values.get(name, TOY.variables[name][2]) for name in KEPT}.values())


def numbered(*names: str) -> list[int]:
    """Return the numbers of actions."""
    return [[action.name for action in TOY.actions].index(name) for name in names]


def without(certificate: Certificate, part: int, index: int, lost: Values) -> Certificate:
    """Return a certificate that lacks a state of a set."""
    kept = [one for one in certificate.parts[part].sets[index].states if one != lost]
    assert len(kept) < len(certificate.parts[part].sets[index].states)
    return with_set(certificate, part, index, states=kept, split=0)


def without_with_rank(certificate: Certificate, part: int, index: int, lost: Values) -> Certificate:
    """Return a certificate that lacks a state of a set with ranks."""
    one = certificate.parts[part].sets[index]
    pairs = [(state, rank) for state, rank in zip(one.states, one.ranks, strict=True) if state != lost]
    assert len(pairs) < len(one.states)
    return with_set(certificate, part, index, states=[s for s, _ in pairs], ranks=[rank for _, rank in pairs], split=0)


def with_states(certificate: Certificate, part: int, index: int, more: Sequence[Values]) -> Certificate:
    """Return a certificate with more states in a set."""
    states = certificate.parts[part].sets[index].states
    assert not set(more).intersection(states)
    return with_set(certificate, part, index, states=[*states, *more])


def dropped(certificate: Certificate, name: str) -> Certificate:
    """Return a certificate whose first part does not keep a variable."""
    part = certificate.parts[LOSS]
    at = KEPT.index(name)
    sets = [
        replace(one, states=sorted({(*values[:at], *values[at + 1 :]) for values in one.states}), split=0)
        for one in part.sets
    ]
    return with_part(certificate, LOSS, layout=[[one for one in names if one != name] for names in LAYOUT], sets=sets)


def only(certificate: Certificate, part: int) -> Certificate:
    """Return a certificate with one of the parts."""
    return replace(certificate, parts=[certificate.parts[part]])


def with_new_action(certificate: Certificate, action: Action) -> Certificate:
    """Return a certificate of a system with one action more."""
    system = certificate.system
    return replace(certificate, system=replace(system, actions=[*system.actions, action]))


def with_rank(certificate: Certificate, index: int, of: Values, rank: int) -> Certificate:
    """Return a certificate in which a state has another rank."""
    one = certificate.parts[READABLE].sets[index]
    ranks = list(one.ranks)
    assert ranks[list(one.states).index(of)] != rank
    ranks[list(one.states).index(of)] = rank
    return with_set(certificate, READABLE, index, ranks=ranks)


def with_two_losses(certificate: Certificate) -> Certificate:
    """Return a certificate that hides the smallest fault set, and has the states of this combination."""
    part = certificate.parts[LOSS]
    runs = explore(TOY, LIMITS, TOTAL)
    honest = replace(part.sets[NO_FAULT], faults=TWO_LOSSES, states=least(TOY, runs, TWO_LOSSES))
    return with_claim(with_part(certificate, LOSS, sets=[*part.sets, honest]), LOSS, smallest=[])


def with_smallest_more(certificate: Certificate, more: Smallest, up_to: int) -> Certificate:
    """Return a certificate with another smallest fault set."""
    return with_claim(certificate, LOSS, smallest=[*certificate.parts[LOSS].claims[0].smallest, more], up_to=up_to)


def guard_and(certificate: Certificate, name: str, term: Term) -> Certificate:
    """Return a certificate of a system in which a guard has one condition more."""
    (action,) = [one for one in certificate.system.actions if one.name == name]
    return with_action(certificate, name, guard=("and", action.guard, term))


def traceless(certificate: Certificate) -> Certificate:
    """Return a certificate with its first part alone, and without a trace."""
    return with_claim(only(certificate, LOSS), LOSS, smallest=[], witness=None)


def with_bit(found: dict[str, bytes], member: str, bit: int) -> dict[str, bytes]:
    """Return members of which one has a bit more in its last row: of the first word, or (-1) of the last word."""
    content = bytearray(found[member])
    at, bit = (len(content) - 1, 5) if bit < 0 else (len(content) // 2 - 8 + bit // 8, bit % 8)
    content[at] ^= 1 << bit
    return {**found, member: bytes(content)}


def with_lemma(certificate: Certificate, old: str, new: str) -> Certificate:
    """Return a certificate with another lemma."""
    lemmas = certificate.parts[EARLY].lemmas
    assert old in lemmas
    return with_part(certificate, EARLY, lemmas=lemmas.replace(old, new))


def with_bounds(certificate: Certificate, bounds: str) -> Certificate:
    """Return a certificate whose first part has a lemma with these bounds."""
    return with_part(certificate, LOSS, lemmas=f'(lemma "times") {bounds}')


def turning(certificate: Certificate) -> Certificate:
    """Return a certificate of a system in which `turn` happens once."""
    return with_action(certificate, "turn", guard=("=", "drift", 0), updates={"drift": 1})


def with_covered_only(certificate: Certificate) -> Certificate:
    """Return a certificate without a state that a kill reaches and, in the changed system, a power loss does not."""
    never: Term = ("=", 0, 1)
    for name in ("power loss without loss at a", "power loss without loss at b"):
        certificate = guard_and(certificate, name, never)
    return without(certificate, EARLY, 2, DOWN)


UNREACHED = [state(answer=1, up_a=a, up_b=b) for a in (0, 1) for b in (0, 1)]
"""Violations that no fault set reaches; steps and faults lead from these states to these states."""
SEEN_EARLY = state(seen=1)
LOST_A = state(up_a=0)
DOWN = state(up_a=0, up_b=0)
"""A state after two faults; no step leads to it."""
AFTER_WRITE = state(log_a=1, answer=0)
TO_LOSS = numbered("write", "copy to b", "acknowledge", "power loss at a", "power loss at b")
TO_ANSWER = numbered("write", "copy to b", "acknowledge")
WITHOUT_LOSS = numbered(
    "write", "copy to b", "acknowledge", "power loss without loss at a", "power loss without loss at b"
)
BOTH_KINDS = (("kill", 1), ("power-loss", 1))
READ = ("write", "copy to b", "acknowledge", "read")
LOST: Term = ("and", ("=", "answer", 1), ("=", "stored", 0))
"""A term that holds only after the losses of the smallest fault set."""
STILL = state(log_a=2, log_b=2, answer=1, seen=1)
"""A goal that no step leaves."""
LOSS_AND_KILL = [*TO_LOSS, *numbered("restart a", "kill a")]
THREE_KILLS = numbered("kill a", "kill b", "restart a", "kill a", "restart a", "restart b")
TURNED = numbered("turn", "turn")

EVIDENCE: tuple[Forgery, ...] = (
    of_certificate("cone", "a part drops a variable that guards read", lambda c: dropped(c, "up_b")),
    of_certificate("cone", "a part drops a variable that the property reads", lambda c: dropped(c, "answer")),
    of_certificate(
        "cone",
        "an update reads a dropped variable",
        lambda c: with_updates(c, "read", seen=("ite", READS_DRIFT, 1, 0)),
    ),
    of_certificate("cone", "a guard reads a dropped variable", lambda c: guard_and(c, "read", READS_DRIFT)),
    of_certificate(
        "cone",
        "a guard of a kind with the limit 0 reads a dropped variable",
        lambda c: guard_and(c, "erase", READS_DRIFT),
    ),
    of_certificate("cone", "a witness reads a dropped variable", lambda c: with_property(c, 0, witness=READS_DRIFT)),
    of_certificate(
        "cone",
        "a property reads a dropped variable",
        lambda c: with_property(c, 0, term=("and", TOY.properties[0].term, READS_DRIFT)),
    ),
    of_certificate(
        "domain", "a row has a value above its domain", lambda c: with_states(c, LOSS, NO_FAULT, [state(log_b=3)])
    ),
    of_members("domain", "a row has an unused bit", lambda found: with_bit(found, "0/0.0", 40)),
    of_members("domain", "a row has an unused bit in its last word", lambda found: with_bit(found, "2/2.0", -1)),
    of_certificate("initial", "the initial state is dropped", lambda c: without(c, LOSS, NO_FAULT, state())),
    of_certificate("initial", "the system begins elsewhere", lambda c: with_variable(c, "seen", (0, 1, 1))),
    of_certificate("step", "a state that a step reaches is dropped", lambda c: without(c, LOSS, NO_FAULT, AFTER_WRITE)),
    of_certificate(
        "step", "a state that a step leaves is added", lambda c: with_states(c, LOSS, NO_FAULT, [SEEN_EARLY])
    ),
    of_certificate("step", "a guard is weaker", lambda c: with_action(c, "read", guard=("=", "seen", 0))),
    of_certificate(
        "step", "an update is another one", lambda c: traceless(with_updates(c, "write", log_a=1, answer=1))
    ),
    of_certificate(
        "step",
        "the system has an action that the sets leave out",
        lambda c: with_new_action(c, Action("clean", "none", ("=", "answer", 1), {"log_a": 0})),
    ),
    of_certificate("step", "a fault is a step", lambda c: traceless(with_action(c, "power loss at a", kind="none"))),
    of_certificate("fault", "a state that a fault reaches is dropped", lambda c: without(c, LOSS, TWO_KILLS, DOWN)),
    of_certificate(
        "fault", "a state that a fault leaves is added", lambda c: with_states(c, LOSS, NO_FAULT, UNREACHED[3:])
    ),
    of_certificate("fault", "a fault does more", lambda c: with_updates(c, "kill a", up_a=0, log_a=0)),
    of_certificate(
        "fault",
        "the system has a fault that the sets leave out",
        lambda c: with_new_action(c, Action("wipe", "kill", ("=", "answer", 1), {"log_a": 0})),
    ),
    of_certificate(
        "covered", "a covered fault does more", lambda c: only(with_updates(c, "kill a", up_a=0, answer=1), EARLY)
    ),
    of_certificate(
        "covered",
        "the covering and the covered kind change places",
        lambda c: with_part(c, LOSS, covered={"power-loss": "kill"}),
    ),
    of_certificate(
        "covered",
        "a state that only a covered fault reaches is dropped",
        lambda c: only(with_covered_only(c), EARLY),
    ),
    of_certificate(
        "unlimited",
        "a state that an unlimited fault reaches is dropped",
        lambda c: without_with_rank(c, ANY_KILLS, NO_FAULT, DOWN),
    ),
    of_certificate(
        "unlimited",
        "an unlimited fault does more",
        lambda c: only(with_updates(c, "kill a", up_a=0, seen=1), ANY_KILLS),
    ),
    of_certificate(
        "unlimited",
        "a kind is unlimited whose faults the sets count",
        lambda c: with_part(c, LOSS, unlimited=["kill"]),
    ),
    of_certificate(
        "unlimited",
        "the system has an unlimited fault that the sets leave out",
        lambda c: with_new_action(only(c, ANY_KILLS), Action("wipe", "kill", ("=", "answer", 1), {"log_a": 0})),
    ),
    of_certificate(
        "outside",
        "an unlimited fault leaves a domain",
        lambda c: only(with_updates(c, "kill b", up_b=("-", "up_b", 2)), ANY_KILLS),
    ),
    of_certificate(
        "outside", "a step leaves a domain", lambda c: traceless(with_updates(c, "acknowledge", answer="stored"))
    ),
    of_certificate(
        "outside", "a step leaves a domain below", lambda c: with_updates(c, "flush b", log_b=("-", "log_b", 2))
    ),
    of_certificate("outside", "a fault leaves a domain", lambda c: with_updates(c, "kill b", up_b=("-", "up_b", 2))),
    of_certificate(
        "outside",
        "a covered fault leaves a domain",
        lambda c: only(with_updates(c, "kill b", up_b=("-", "up_b", 2)), EARLY),
    ),
    of_certificate(
        "outside",
        "a step behind a trace leaves a domain",
        lambda c: with_new_action(only(c, READABLE), Action("find", "none", LOST, {"log_a": 3})),
    ),
    of_certificate("claim", "states that violate are added", lambda c: with_states(c, LOSS, NO_FAULT, UNREACHED)),
    of_certificate("claim", "the smallest fault set is left out", lambda c: with_claim(c, LOSS, smallest=[])),
    of_certificate("claim", "the smallest fault set is left out, and its states are there", with_two_losses),
    of_certificate("claim", "the total is larger", lambda c: with_claim(c, LOSS, up_to=3)),
    of_certificate("claim", "a limit is larger", lambda c: replace(c, limits={**LIMITS, "erase": 1})),
    of_certificate(
        "claim",
        "a set is left out",
        lambda c: with_part(c, LOSS, sets=[one for one in c.parts[LOSS].sets if one.faults != BOTH_KINDS]),
    ),
    of_certificate("claim", "a covered kind is not declared", lambda c: with_part(c, EARLY, covered={})),
    of_certificate("claim", "the property is stronger", lambda c: with_property(c, 0, term=("=", "answer", 1))),
    of_certificate(
        "claim",
        "a smallest fault set is not minimal",
        lambda c: with_claim(c, LOSS, up_to=3, smallest=[Smallest((("kill", 1), ("power-loss", 2)), LOSS_AND_KILL)]),
    ),
    of_certificate("rank", "a rank does not fall", lambda c: with_rank(c, NO_FAULT, state(), 3)),
    of_certificate("rank", "two ranks are the same", lambda c: with_rank(c, NO_FAULT, AFTER_WRITE, 4)),
    of_certificate("rank", "a state that is no goal has rank 0", lambda c: with_rank(c, ONE_KILL, LOST_A, 0)),
    of_certificate("rank", "a goal has no rank 0 and no step", lambda c: with_rank(c, NO_FAULT, STILL, 1)),
    of_certificate(
        "rank", "a set of other states lends its ranks", lambda c: with_set(c, READABLE, NO_FAULT, ranks=[0] * 15)
    ),
    of_certificate(
        "rank", "the goal never holds", lambda c: with_property(only(c, READABLE), 2, term=("<", "seen", 0))
    ),
    of_certificate(
        "rank", "a step that ranks need is gone", lambda c: guard_and(only(c, READABLE), "read", ("=", "up_a", 1))
    ),
    of_certificate(
        "rank", "a step that ranks need is a fault", lambda c: with_action(only(c, READABLE), "read", kind="kill")
    ),
    of_certificate(
        "rank",
        "a step that ranks need is an unlimited fault",
        lambda c: with_action(only(c, ANY_KILLS), "read", kind="kill"),
    ),
    of_certificate("trace", "an action is not enabled", lambda c: with_smallest(c, LOSS, trace=TO_LOSS[1:])),
    of_certificate("trace", "the faults are other ones", lambda c: with_smallest(c, LOSS, faults=BOTH_KINDS)),
    of_certificate("trace", "the end is no violation", lambda c: with_smallest(c, LOSS, trace=WITHOUT_LOSS)),
    of_certificate("trace", "the trace is empty", lambda c: with_smallest(c, LOSS, trace=[])),
    of_certificate("trace", "a fault is missing", lambda c: with_smallest(c, LOSS, trace=TO_LOSS[:-1])),
    of_certificate(
        "trace",
        "a guard outside every part is stronger",
        lambda c: with_smallest(turning(c), LOSS, trace=[*TURNED, *TO_LOSS]),
    ),
    of_certificate(
        "trace",
        "a variable that no part keeps leaves its domain",
        lambda c: with_smallest(with_updates(c, "turn", drift=("+", "drift", 1)), LOSS, trace=[*TURNED, *TO_LOSS]),
    ),
    of_certificate(
        "stuck",
        "the end of a trace is not stuck",
        lambda c: with_smallest(c, READABLE, faults=(("power-loss", 1),), trace=WITHOUT_LOSS[:4]),
    ),
    of_certificate("stuck", "a trace ends at its beginning", lambda c: with_smallest(c, READABLE, faults=(), trace=[])),
    of_certificate(
        "stuck",
        "a trace ends with the goal",
        lambda c: with_smallest(c, READABLE, faults=(), trace=numbered(*READ)),
    ),
    of_certificate(
        "stuck",
        "a step behind a trace is left out",
        lambda c: with_new_action(only(c, READABLE), Action("find", "none", LOST, {"log_a": 2})),
    ),
    of_certificate("witness", "an action is not enabled", lambda c: with_claim(c, LOSS, witness=TO_ANSWER[1:])),
    of_certificate(
        "witness", "the witness does not hold at the end", lambda c: with_claim(c, LOSS, witness=TO_ANSWER[:-1])
    ),
    of_certificate("witness", "the trace is empty", lambda c: with_claim(c, EARLY, witness=[])),
    of_certificate(
        "witness", "the faults exceed a limit", lambda c: with_claim(c, LOSS, witness=[*THREE_KILLS, *TO_ANSWER])
    ),
    of_certificate(
        "witness",
        "the faults exceed the total",
        lambda c: with_claim(c, EARLY, up_to=0, witness=numbered("kill a", "restart a", *READ)),
    ),
    of_certificate("witness", "no kind is unlimited", lambda c: with_part(only(c, ANY_KILLS), 0, unlimited=[])),
    of_certificate(
        "witness", "a fault has the limit 0", lambda c: with_claim(c, LOSS, witness=[*numbered("erase"), *TO_ANSWER])
    ),
    of_certificate(
        "witness",
        "a variable that no part keeps leaves its domain",
        lambda c: with_claim(with_updates(c, "turn", drift=("+", "drift", 1)), LOSS, witness=[*TURNED, *TO_ANSWER]),
    ),
    of_certificate(
        "smallest",
        "a smallest fault set contains another one",
        lambda c: with_smallest_more(c, Smallest((("kill", 1), ("power-loss", 2)), LOSS_AND_KILL), 3),
    ),
    of_certificate(
        "smallest",
        "a smallest fault set occurs twice",
        lambda c: with_smallest_more(c, Smallest(TWO_LOSSES, TO_LOSS), 2),
    ),
    of_certificate("smallest", "a smallest fault set exceeds the total", lambda c: with_claim(c, LOSS, up_to=1)),
    of_certificate(
        "smallest",
        "a smallest fault set exceeds a limit",
        lambda c: replace(only(c, LOSS), limits={**LIMITS, "power-loss": 1}),
    ),
    of_certificate(
        "lemma", "a shortest time is a longest one", lambda c: with_lemma(c, '(least "a wait"', '(most "a wait"')
    ),
    of_certificate("lemma", "the shortest time is shorter", lambda c: with_lemma(c, "120000", str(120000 + LEMMA_SUM))),
    of_certificate("lemma", "the sum is 0", lambda c: with_bounds(c, '(most "a" 0)')),
    of_certificate("lemma", "the sum is above 0", lambda c: with_bounds(c, '(most "a" 7)')),
    of_certificate("lemma", "there are no times", lambda c: with_bounds(c, "")),
    of_certificate("lemma", "a second lemma has no times", lambda c: with_bounds(c, '(most "a" (- 1)) (lemma "more")')),
    Forgery(
        "the text has one line break more",
        "system",
        lambda: certificate_file(toy_certificate()),
        system=system_text(TOY).encode() + b"\n",
    ),
    Forgery(
        "the set is one of another system",
        "system",
        lambda: certificate_file(with_variable(toy_certificate(), "drift", (-1, 2, 0))),
        system=system_text(TOY).encode(),
    ),
    Forgery("the text is empty", "system", lambda: certificate_file(toy_certificate()), system=b""),
)
"""Forgeries of sets, ranks, traces, claims and the system."""
