#!/usr/bin/env python3
"""Check a certificate by the rules of docs/certificates.md, version 4: `python3 certcheck.py FILE.cert`.

The program needs Linux or macOS, Python 3.10 or later, and nothing else. `demand` names the rule that a file breaks;
"format" is the page's section "The file". A state is one integer: word i of its row stands at bit 64 * i. A combination
of faults is a sorted tuple of kinds, in which a kind stands as often as faults of this kind happen.
"""

from __future__ import annotations

import argparse
import re
import resource
import struct
import sys
import zlib
from collections import Counter, namedtuple
from collections.abc import Callable, Container, Iterable, Iterator
from functools import reduce
from itertools import accumulate
from operator import or_, xor
from pathlib import Path
from typing import Any, BinaryIO

Faults = tuple[str, ...]
Moves = Callable[[Iterable[int]], Iterator[tuple[int, Any, int | None]]]
Term = namedtuple("Term", "text sort reads")  # in Python; I (a number) or B (a truth value); a bit for each name read
Action = namedtuple("Action", "number name kind guard updates")  # guard and updates are terms
Claim = namedtuple("Claim", "name id total witnesses smallest")  # smallest: pairs of a combination and a trace

UNREAD = {"README.txt", "deployment.json", "times.json"}
FIRST_LINE = b"proofka-certificate 4\n"
HEAD = re.compile(rb"([0-9A-Za-z._/-]{1,100}) (0|[1-9][0-9]{0,17}) (0|[1-9][0-9]{0,17})\n")  # name, packed size, size
SYSTEM = b"(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n"  # the first lines of a system
DEEPEST = 100  # open parentheses
TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|;[^\r\n]*)|(?P<negative>\(- [1-9][0-9]{0,17}\))|(?P<open>\()|(?P<close>\))"
    r'|(?:(?P<text>(?:"[^"\0-\x08\x0b\x0c\x0e-\x1f\x7f]*")+)|(?P<numeral>0|[1-9][0-9]{0,17})'
    r"|(?P<name>:?(?![0-9])[0-9A-Za-z~!@$%^&*_+=<>.?/-]+))(?=[ \t\r\n();]|\Z)|(?P<wrong>.)",
    re.DOTALL,
)
ATOMS: dict[str, Callable[[str], Any]] = {  # strings and keywords become lists that no text can have
    "text": lambda token: ['"', token[1:-1].replace('""', '"')],
    "name": lambda token: [":", token[1:]] if token[0] == ":" else token,
    "numeral": int,
    "negative": lambda token: -int(token[3:-1]),
}
OPERATORS = {  # the sorts of the parts; the sort of the term; Python's text, and what stands there between the parts
    "and": ("BB+", "B", "({})", " and "), "or": ("BB+", "B", "({})", " or "), "not": ("B", "B", "(not {})", ""),
    "=>": ("BB", "B", "({})", " <= "), "=": ("BB|II", "B", "({})", " == "), "distinct": ("BB|II", "B", "({})", " != "),
    "<": ("II", "B", "({})", " < "), "<=": ("II", "B", "({})", " <= "), ">": ("II", "B", "({})", " > "),
    ">=": ("II", "B", "({})", " >= "), "+": ("II+", "I", "sum(({}))", ", "), "-": ("II", "I", "({})", " - "),
    "*": ("II", "I", "({})", " * "), "ite": ("BBB|BII", "", "({1} if {0} else {2})", ""),
}  # fmt: skip


class Refused(Exception):
    """A broken rule: its code and the reason."""


def demand(holds: object, reason: str, rule: str = "format") -> None:
    """Refuse the file if a rule is broken."""
    if not holds:
        raise Refused(rule, reason)


class Archive:
    """The members of the file."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.members: dict[str, tuple[int, int, int]] = {}  # the place of the packed content, its size, the size
        demand(file.readline(len(FIRST_LINE)) == FIRST_LINE, "the first line is not that of a certificate of version 4")
        while head := file.readline(200):
            found = HEAD.fullmatch(head)
            if not found or found[1].decode() in self.members:
                raise Refused("format", f"a member twice, or no head of a member: {head.decode('latin-1')}")
            self.members[found[1].decode()] = file.tell(), int(found[2]), int(found[3])
            file.seek(int(found[2]), 1)
        demand(file.tell() == file.seek(0, 2), "the last member is cut off")
        self.unread = self.members.keys() - UNREAD

    def read(self, name: str) -> bytes:
        """Return the content of a member."""
        demand(name in self.members, f"the member {name} is missing")
        (place, packed, size), inflater = self.members[name], zlib.decompressobj()
        self.unread.discard(name)
        self.file.seek(place)
        content = inflater.decompress(self.file.read(packed), size + 1)
        demand(inflater.eof and not inflater.unused_data and len(content) == size, f"{name} has another size")
        return content


def expressions(content: bytes) -> list[Any]:
    """Return the S-expressions of a text as lists, numbers, and symbols; for the other atoms see `ATOMS`."""
    text, stack = content.decode(), [[]]  # type: str, list[list[Any]]
    for token in TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "open" and len(stack) <= DEEPEST:
            stack.append([])
        elif kind == "close" and len(stack) > 1:
            stack[-2].append(stack.pop())
        elif kind in ATOMS:
            stack[-1].append(ATOMS[kind](token.group()))
        else:
            demand(kind == "space", f"unknown token, or wrong parenthesis: {text[token.start() : token.start() + 40]}")
    demand(len(stack) == 1, "a parenthesis is missing")
    return stack[0]


def known(items: list[Any], names: Container[Any]) -> list[Any]:
    """Return items, each of which must be one of the names."""
    demand(all(not isinstance(item, list) and item in names for item in items), f"unknown names: {items}")
    return items


def translate(term: Any, names: dict[str, Term]) -> Term:
    """Return the term of an expression."""
    match term:
        case str() if term in names:
            return names[term]
        case int():
            return Term(f"({term})", "I", 0)
        case ["-", one]:
            return translate(["-", 0, one], names)
        case [str(operator), *operands] if operator in OPERATORS:
            sorts, sort, python, between = OPERATORS[operator]
            parts = [translate(operand, names) for operand in operands]
            texts, reads = [part.text for part in parts], reduce(or_, (part.reads for part in parts), 0)
            is_linear = operator != "*" or any(isinstance(operand, int) for operand in operands)
            right = is_linear and re.fullmatch(sorts, "".join(part.sort for part in parts))
            demand(right, f"wrong parts of a term: {term}")
            return Term(python.format(*([between.join(texts)] if between else texts)), sort or parts[-1].sort, reads)
    raise Refused("format", f"an unknown name, or no term: {term}")


class Part:
    """A part of `certificate.txt` with its system, and the rules."""

    def __init__(self, name: str, archive: Archive, limits: dict[str, int], system: bytes) -> None:
        self.name, self.archive, self.limits = name, archive, limits
        self.names = {"true": Term("True", "B", 0), "false": Term("False", "B", 0)}
        self.bodies: dict[str, str] = {}  # the definition of each term with a name, in Python
        self.domains: dict[str, tuple[int, int, int]] = {}  # the lowest, the highest and the initial value
        self.actions: list[Any] = []
        self.properties: dict[str, tuple[Term, Term, bool]] = {}  # term, witness, whether the term is a goal
        self.lemmas: list[tuple[str, list[tuple[str, str, int]]]] = []  # bounds: least or most, the name, the time
        self.places: dict[str, tuple[int, int]] = {}  # the first bit and the width of each kept variable
        self.words, self.free, self.used = 1, 0, 0  # words of a row; the next free bit; the bits of all fields
        self.covering: dict[str, str] = {}
        self.unlimited: set[str] = set()
        self.sets: dict[Faults, list[str]] = {}  # the members of each set
        self.claims: list[Any] = []
        self.states: dict[Faults, dict[int, int]] = {}  # of each set, the states with their ranks
        self.broken: dict[tuple[str, Faults], int | None] = {}  # of each property and set, a state that breaks it
        demand(system.startswith(SYSTEM), "a system does not begin as SMT-LIB 2.6 of the logic QF_LIA does")
        for command in expressions(system[len(SYSTEM) :]):
            self.read_system(command)

    def read_system(self, command: Any) -> None:
        """Read a command of a system."""
        match command:
            case ["declare-const", str(), "Int"]:
                pass  # solvers need the declaration of a variable
            case ["set-info", [":", "variable"], [str(name), int(low), int(high), int(first)]] if low <= first <= high:
                self.domains[name] = low, high, first
                self.define(name, Term("", "I", 0))
            case ["define-fun", str(name), [], "Int" | "Bool" as sort, body]:
                self.define(name, self.term(body, sort[0]))
            case ["set-info", [":", "action"], [number, ['"', name], str(kind), guard]] if number == len(self.actions):
                demand(all(name != action.name for action in self.actions), f"two actions have the name {name}")
                self.actions.append(Action(number, name, kind, self.term(guard, "B"), {}))
            case ["set-info", [":", "next"], [str(name), value]] if self.actions and name in self.domains:
                demand(name not in self.actions[-1].updates, f"an action assigns {name} twice")
                self.actions[-1].updates[name] = self.term(value, "I")
            case ["set-info", [":", "property" | "goal" as kind], [['"', name], term, witness]]:
                demand(name not in self.properties, f"two properties have the name {name}")
                self.properties[name] = self.term(term, "B"), self.term(witness, "B"), kind == "goal"
            case _:
                raise Refused("format", f"unexpected in a system: {command}")

    def read(self, command: Any) -> None:
        """Read a command of `certificate.txt`."""
        match command:
            case ["lemma", ['"', name]]:
                self.lemmas.append((name, []))
            case ["least" | "most" as side, ['"', name], int(time)] if self.lemmas:
                self.lemmas[-1][1].append((side, name, time))
            case ["word"]:
                self.words, self.free = self.words + 1, 64 * self.words
            case ["field", str(name)] if name in self.domains and name not in self.places:
                width = max(1, (self.domains[name][1] - self.domains[name][0]).bit_length())
                demand(self.free + width <= 64 * self.words, f"the field of {name} leaves its word")
                self.places[name], self.used = (self.free, width), self.used | 2**width - 1 << self.free
                self.free += width
            case ["covered", str(kind), str(by)] if {kind, by} <= {*self.limits}:
                demand(kind not in self.covering and kind != by, f"{kind} is covered twice, or by itself")
                self.covering[kind] = by
            case ["unlimited", str(kind)] if kind in self.limits and kind not in self.unlimited:
                demand(not self.sets and not self.claims, f"the unlimited kind {kind} stands behind a set or a claim")
                self.unlimited.add(kind)
            case ["set", [*kinds]] if (faults := tuple(sorted(known(kinds, self.limits)))) not in self.sets:
                self.sets[faults] = []
            case ["rows", ['"', name]] if self.sets:
                [*self.sets.values()][-1].append(name)
            case ["claim", ['"', name], ['"', text], int(total)] if name in self.properties and total >= 0:
                self.claims.append(Claim(name, text, total, [], []))
            case ["witness", *trace] if self.claims and not self.claims[-1].witnesses:
                self.claims[-1].witnesses.append(known(trace, range(len(self.actions))))
            case ["smallest", [*kinds], *trace] if self.claims:
                pair = tuple(sorted(known(kinds, self.limits))), known(trace, range(len(self.actions)))
                self.claims[-1].smallest.append(pair)
            case _:
                raise Refused("format", f"unexpected in certificate.txt: {command}")

    def define(self, name: str, body: Term) -> None:
        demand(name not in self.names and name not in OPERATORS, f"the name {name} is taken")
        place, self.bodies[name] = len(self.names), body.text
        self.names[name] = Term(f"x{place}", body.sort, body.reads | 1 << place)

    def term(self, expression: Any, sort: str) -> Term:
        found = translate(expression, self.names)
        demand(sort == found.sort, f"{expression} has another sort")
        return found

    def complete(self) -> None:
        """Refuse a part that lacks something, and compile its steps and conditions (rule `cone`)."""
        smaller = [one[:at] + one[at + 1 :] for one in self.sets for at in range(len(one))]
        demand({(), *smaller} <= self.sets.keys(), "a combination has no set that must have one")
        is_apart = self.unlimited.isdisjoint({*self.covering, *self.covering.values()})
        demand(self.claims and is_apart, "a part has no claim, or an unlimited kind is covered or covers another")
        self.initial = sum(self.domains[name][2] - self.domains[name][0] << at for name, (at, _) in self.places.items())
        self.ranked = any(self.properties[claim.name][2] for claim in self.claims)
        kept = [{name: new for name, new in one.updates.items() if name in self.places} for one in self.actions]
        steps = [one._replace(updates=new) for one, new in zip(self.actions, kept, strict=True) if new]
        self.kinds = {action.kind for action in steps if self.limits.get(action.kind)} - self.unlimited
        for claim in self.claims:
            term, witness, _ = self.properties[claim.name]
            steps += [Action(-1, claim.name, ":property", term, {}), Action(-1, claim.name, ":witness", witness, {})]
        self.moves = self.compiled(steps)

    def compiled(self, actions: list[Any]) -> Moves:
        """Return a function from states to (state, action, state after), for each action that is enabled.

        The state after is None where a value leaves its domain. A condition is an action with the number -1.
        """
        bodies = dict(self.bodies)
        for name, (bit, width) in self.places.items():
            bodies[name] = f"(state >> {bit} & {2**width - 1}) + {self.domains[name][0]}"

        def lines(space: str, reads: int) -> list[str]:
            named = (name for place, name in enumerate(self.names) if reads >> place & 1)
            return [f"{space}{self.names[name].text} = {bodies[name]}" for name in named]

        early = reduce(or_, (action.guard.reads for action in actions))
        program = ["def moves(states):", " for state in states:", *lines("  ", early)]
        for at, action in enumerate(actions):
            after, right, late = ["state"], ["True"], 0
            for name, new in action.updates.items():
                late |= self.names[name].reads | new.reads
                after.append(f"({new.text} - {self.names[name].text} << {self.places[name][0]})")
                right.append(f"{self.domains[name][0]} <= {new.text} <= {self.domains[name][1]}")
            read = {name for name in self.domains if (action.guard.reads | late) & self.names[name].reads}
            demand(read <= self.places.keys(), f"{action.name} reads a variable that the part does not keep", "cone")
            value = f"sum([{', '.join(after)}]) if {' and '.join(right)} else None"
            program += [f"  if {action.guard.text}:", *lines("   ", late & ~early)]
            program.append(f"   yield state, actions[{at}], {value}")
        scope: dict[str, Moves] = {}
        exec("\n".join(program), {"actions": actions}, scope)
        return scope["moves"]

    def load(self, names: list[str]) -> dict[int, int]:
        """Return the states of a set with their ranks (rule `domain`); all ranks are 0 if the part has none."""
        states: dict[int, int] = {}
        fields = [(bit, 2**width - 1, self.domains[name]) for name, (bit, width) in self.places.items()]
        for name in names:
            content, before = self.archive.read(name), len(states)
            count, rest = divmod(len(content), 8 * self.words + 2 * self.ranked)
            demand(not rest, f"{name} does not have the size of whole rows")
            numbers = struct.unpack(f"<{count * self.words}Q{count * self.ranked}H", content)
            columns = [accumulate(numbers[count * word : count * (word + 1)], xor) for word in range(self.words)]
            ranks = numbers[count * self.words :] or (0,) * count
            rows = (struct.pack(f"<{self.words}Q", *row) for row in zip(*columns, strict=True))
            states.update((int.from_bytes(row, "little"), rank) for row, rank in zip(rows, ranks, strict=True))
            demand(len(states) == before + count, f"a row of {name} is in its set twice")
        for state in states:
            if state & ~self.used or any(state >> bit & mask > high - low for bit, mask, (low, high, _) in fields):
                raise Refused("domain", f"a value outside its domain, or an unused bit: {self.told(state)}")
        return states

    def told(self, state: int | None) -> str:
        """Return a state in words."""
        if state is None:
            return "a value outside its domain"
        fields = ((name, state >> bit & 2**width - 1) for name, (bit, width) in self.places.items())
        return " ".join(f"{name}={value + self.domains[name][0]}" for name, value in fields)

    def within(self, faults: Faults) -> list[Faults]:
        """Return the combinations with sets that a combination contains, the largest one first."""
        return sorted((one for one in self.sets if Counter(one) <= Counter(faults)), key=len, reverse=True)

    def is_meant(self, faults: Faults, claim: Any) -> bool:
        """Tell whether a combination, without its unlimited kinds, is within the limits and the total of a claim."""
        count = Counter(kind for kind in faults if kind not in self.unlimited)
        return count.total() <= claim.total and all(most <= self.limits[kind] for kind, most in count.items())

    def close(self, faults: Faults) -> None:
        """Check the steps from a set (rules `step`, `fault`, `covered`, `outside`), and note what breaks properties.

        A state breaks a goal if the state neither has rank 0 and is a goal, nor has a step to a smaller rank.
        """
        states, falling = self.states[faults], set[int]()
        holding = {claim.name: set[int]() for claim in self.claims}
        targets = [("step", "none", faults)]
        targets += [("fault", kind, plus(faults, kind)) for kind in self.kinds]
        targets += [("unlimited", kind, faults) for kind in self.unlimited]
        targets += [("covered", kind, plus(faults, by)) for kind, by in self.covering.items()]
        targets = [one for one in targets if one[2] in self.sets]
        unions = [(rule, kind, [self.states[one] for one in self.within(into)]) for rule, kind, into in targets]
        for state, action, after in self.moves(states):
            if action.kind == ":property":
                holding[action.name].add(state)
            for rule, _, union in (one for one in unions if one[1] == action.kind):
                ranks = [one[after] for one in union if after in one]
                if not ranks:
                    ends = f"{self.told(state)} -> {self.told(after)}"
                    reason = f"from {called(faults)}, {action.name} leads out of the sets: {ends}"
                    raise Refused("outside" if after is None else rule, reason)
                if rule == "step" and min(ranks) < states[state]:
                    falling.add(state)
        for name, broken in holding.items():
            if self.properties[name][2]:
                broken = {one for one, rank in states.items() if one not in falling and (rank or one not in broken)}
            self.broken[name, faults] = min(broken, default=None)

    def run(self, trace: list[int], rule: str) -> tuple[Faults, int, set[tuple[str, str]]]:
        """Return the faults of a trace, its last state, and the conditions that hold there."""
        state, faults = self.initial, list[str]()
        for number in trace:
            steps = {action.number: (action, after) for _, action, after in self.moves([state])}
            action, after = steps.get(number, (self.actions[number], None))
            if after is None:
                raise Refused(rule, f"{action.name} is not enabled, leaves a domain, or changes nothing kept")
            state, faults = after, faults + [action.kind] * (action.kind != "none")
        return tuple(sorted(faults)), state, {(action.kind, action.name) for _, action, _ in self.moves([state])}

    def stuck(self, name: str, last: int) -> None:
        """Refuse the end of a trace from which steps without a fault lead to a state with the goal (rule `stuck`)."""
        found, new = set[int](), {last}
        while new:
            found, states, new = found | new, new, set[int]()
            for _, action, after in self.moves(states):
                is_stuck = (action.kind, action.name) != (":property", name)
                demand(is_stuck, f"{name}: steps lead from the end of a trace to the goal", "stuck")
                if action.kind == "none" and after not in found:
                    if after is None:
                        raise Refused("outside", f"behind a trace, {action.name} leaves a domain")
                    new.add(after)

    def traces(self, claim: Any) -> None:
        """Check the smallest fault sets and the traces of a claim (rules `smallest`, `trace`, `stuck`, `witness`)."""
        is_goal, sufficient = self.properties[claim.name][2], [Counter(faults) for faults, _ in claim.smallest]
        for faults, trace in claim.smallest:
            right = self.is_meant(faults, claim) and sum(one <= Counter(faults) for one in sufficient) == 1
            demand(right, f"{called(faults)} contains another one, or exceeds the limits or the total", "smallest")
            found, last, holding = self.run(trace, "trace")
            demand(found == faults, f"the trace of {called(faults)} has the faults {called(found)}", "trace")
            if is_goal:
                self.stuck(claim.name, last)
            elif (":property", claim.name) not in holding:
                raise Refused("trace", f"the trace of {called(faults)} does not end in a violation")
        for trace in claim.witnesses:
            found, _, holding = self.run(trace, "witness")
            demand(self.is_meant(found, claim), f"the faults {called(found)} of a witness are too many", "witness")
            demand((":witness", claim.name) in holding, "the witness does not hold at the end of its trace", "witness")

    def claim(self, claim: Any) -> None:
        """Refuse a claim if a combination without a smallest fault set is not free of violations.

        The rule is `claim`, and for a goal `rank`. The proof for a combination without a set is its covering one.
        """
        small, layer = [Counter(faults) for faults, _ in claim.smallest], {()}  # type: Any, set[Faults]
        while layer:
            wanted = (one for one in layer if not any(few <= Counter(one) for few in small))
            layer = {one for one in wanted if self.is_meant(one, claim)}
            for faults in sorted(layer):
                covering = tuple(sorted(self.covering.get(kind, kind) for kind in faults))
                proof = faults if faults in self.sets else covering
                demand(proof in self.sets, f"{claim.name} with {called(faults)}: there is no set", "claim")
                for one in self.within(proof):
                    if (state := self.broken[claim.name, one]) is not None:
                        rule = "rank" if self.properties[claim.name][2] else "claim"
                        raise Refused(rule, f"{claim.name} with {called(faults)}: {called(one)} has {self.told(state)}")
            layer = {plus(faults, kind) for faults in layer for kind in self.kinds}

    def check(self) -> None:
        """Refuse the part if it breaks a rule."""
        for name, bounds in self.lemmas:
            demand(total(bounds) < 0, f"{name}: the sum of the bounds is {total(bounds)}, and not below 0", "lemma")
        for claim in self.claims:
            self.traces(claim)
        for faults, names in self.sets.items():
            self.states[faults] = self.load(names)
        demand(self.initial in self.states[()], "the set of no faults lacks the initial state", "initial")
        for faults in self.states:
            self.close(faults)
        for claim in self.claims:
            self.claim(claim)
        self.states = {}


def plus(faults: Faults, kind: str) -> Faults:
    """Return a combination with one fault more."""
    return tuple(sorted((*faults, kind)))


def called(faults: Faults) -> str:
    return "{" + ", ".join(f"{number} {kind}" for kind, number in Counter(faults).items()) + "}"


def total(bounds: list[tuple[str, str, int]]) -> int:
    return sum(time if side == "most" else -time for side, _, time in bounds)


def check(file: BinaryIO, folder: Path | None) -> Iterator[str]:
    """Yield a line for each claim of a certificate; raise `Refused` if it breaks a rule."""
    archive, limits, parts = Archive(file), dict[str, int](), list[Part]()
    for command in expressions(archive.read("certificate.txt")):
        match command:
            case ["about", str(word), ['"', text]]:
                yield f"about (not proved): {word} {text}"
            case ["limit", str(kind), int(most)] if kind not in limits and most >= 0 and len(kind) <= 100:
                limits[kind] = most
                yield f"limit (unless a claim is for any number): {kind} {most}"
            case ["system", ['"', name]] if re.fullmatch(r"system(\.[1-9][0-9]{0,17})?\.smt2", name):
                content = archive.read(name)
                given = folder / name if folder and folder.is_dir() else folder
                right = given is None or (given.is_file() and given.read_bytes() == content)
                demand(right, f"{name} is another text than {given}", "system")
                parts.append(Part(name, archive, limits, content))
            case _:
                demand(parts, f"no system stands before {command}")
                parts[-1].read(command)
    kinds = {action.kind for part in parts for action in part.actions} - {"none"}
    demand(parts and limits.keys() == kinds, "there is no part, or the limits are not those of all kinds of faults")
    for part in parts:
        part.complete()
    for part in parts:
        part.check()
        for name, bounds in part.lemmas:
            yield f"lemma: {name}: {bounds}: the sum is {total(bounds)} ms"
        for claim in part.claims:
            sets = " or ".join(called(faults) for faults, _ in claim.smallest)
            limit = [f"up to {claim.total} faults"] if part.kinds or not part.unlimited else []
            within = ", ".join(limit + [f"any number of {kind}" for kind in sorted(part.unlimited)])
            told = f"{'violated with ' + sets if sets else 'holds'}: {within}{'; no witness' * (not claim.witnesses)}"
            yield f"accepted: {told}: {claim.name!r} of {part.name} (id {claim.id!r})"
    demand(not archive.unread, f"certificate.txt does not name {', '.join(archive.unread)}")


def size(text: str) -> int:
    """Return a number of bytes such as 4GiB, or 4G."""
    found = re.fullmatch(r"([0-9]{1,15})(|K|M|G)(iB)?", text)
    if not found:
        raise argparse.ArgumentTypeError("a number of bytes, KiB, MiB or GiB, such as 4GiB")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2]]


def main(arguments: list[str] | None = None) -> int:
    """Check a file; return 0 if it is accepted, 1 if it is refused, 2 if it is no certificate."""
    parser = argparse.ArgumentParser(description="Check a certificate.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--version", action="version", version="certcheck.py 3.0.0 (certificates of version 4)")
    parser.add_argument("--systems", "--system", type=Path, help="the text of the system, or a folder with texts")
    parser.add_argument("--memory", type=size, default=4 << 30, help="memory to take at most (default: 4GiB)")
    options, (_, most) = parser.parse_args(arguments), resource.getrlimit(resource.RLIMIT_DATA)
    try:
        demand(options.file.is_file() or not options.file.exists(), "no regular file")
        with options.file.open("rb") as file:
            resource.setrlimit(resource.RLIMIT_DATA, (min(options.memory, most % 2**63), most))
            status, lines = 0, [*check(file, options.systems)]
    except Refused as error:
        status = 2 if error.args[0] == "format" else 1
        lines = [": ".join(["refused", *error.args]).replace("refused: format:", "not a certificate:", 1)]
    except MemoryError:
        status, lines = 1, ["refused: memory: the file needs more memory than --memory allows"]
    except (OSError, UnicodeError, zlib.error) as error:
        status, lines = 2, [f"not a certificate: {error}"]
    for line in lines:  # without signs that a terminal obeys
        print(line[:1000].encode("unicode_escape").decode())
    return status


if __name__ == "__main__":
    sys.exit(main())
