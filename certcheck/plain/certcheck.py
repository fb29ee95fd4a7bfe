#!/usr/bin/env python3
"""Check a certificate by the rules of docs/certificates.md, version 3: `python3 certcheck.py FILE.cert`.

The program needs Python 3.10 or later and nothing else. `demand` names the rule that a file breaks; "format" is the
page's section "The file". A state is one integer: word i of its row stands at bit 64 * i. A combination of faults is a
sorted tuple of kinds, in which a kind stands as often as faults of this kind happen.
"""

from __future__ import annotations

import argparse
import re
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
Places = dict[str, tuple[int, int]]  # the first bit and the width of each variable
Term = namedtuple("Term", "text range reads level")  # Python's text; least and greatest number, or None; bits of names
Action = namedtuple("Action", "number name kind guard updates")  # guard and updates are terms
Claim = namedtuple("Claim", "name id total witnesses smallest")  # smallest: pairs of a combination and a trace

UNREAD = {"README.txt", "deployment.json", "times.json"}
FIRST_LINE = b"proofka-certificate 3\n"
HEAD = re.compile(rb"([0-9A-Za-z._/-]{1,100}) (0|[1-9][0-9]{0,17}) (0|[1-9][0-9]{0,17})\n")  # name, packed size, size
SYSTEM = b"(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n"  # the first lines of a system
DEEPEST, LEVELS, MOST = 100, 2000, 2**31  # open parentheses; levels of a term with its names replaced; numbers
COST_OF_TEXT, COST_OF_MEMBER, COST_OF_STATE, COST_OF_WORD = 1200, 600, 500, 80  # bytes of memory, rounded up
RESERVED = re.compile(
    "!|_|as|let|exists|forall|match|par|BINARY|DECIMAL|HEXADECIMAL|NUMERAL|STRING|Bool|Int|xor|div|mod|abs|divisible"
    "|assert|echo|exit|pop|push|(check-sat|declare|define|get|reset|set)(-[a-z-]+)?|[.@].*"
)
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
OPERATORS = {  # the sorts of the parts (B: Bool, I: Int); Python's text, and what stands there between the parts
    "and": ("BB+", "({})", " and "), "or": ("BB+", "({})", " or "), "not": ("B", "(not {})", ""),
    "=>": ("BB", "({})", " <= "), "=": ("BB|II", "({})", " == "), "distinct": ("BB|II", "({})", " != "),
    "<": ("II", "({})", " < "), "<=": ("II", "({})", " <= "), ">": ("II", "({})", " > "), ">=": ("II", "({})", " >= "),
    "+": ("II+", "sum(({}))", ", "), "-": ("II", "({})", " - "), "*": ("II", "({})", " * "),
    "ite": ("BBB|BII", "({1} if {0} else {2})", ""),
}  # fmt: skip
RANGE: dict[str, Callable[[Any, Any], tuple[int, int]]] = {  # the range of a number, from those of two parts
    "+": lambda one, other: (one[0] + other[0], one[1] + other[1]),
    "-": lambda one, other: (one[0] - other[1], one[1] - other[0]),
    "*": lambda one, other: (min(x * y for x in one for y in other), max(x * y for x in one for y in other)),
    "ite": lambda one, other: (min(one[0], other[0]), max(one[1], other[1])),
}


class Refused(Exception):
    """A broken rule: its code and the reason."""


def demand(holds: object, reason: str, rule: str = "format") -> None:
    """Refuse the file if a rule is broken."""
    if not holds:
        raise Refused(rule, reason)


class Archive:
    """The members of the file, and the memory that is left for their contents."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self.file, self.left = file, limit
        self.members: dict[str, tuple[int, int, int]] = {}  # the place of the packed content, its size, the size
        demand(file.readline(len(FIRST_LINE)) == FIRST_LINE, "the first line is not that of a certificate of version 3")
        while head := file.readline(200):
            self.take(COST_OF_MEMBER, "the list of members")
            found = HEAD.fullmatch(head)
            if not found or found[1].decode() in self.members:
                raise Refused("format", f"a member twice, or no head of a member: {head.decode('latin-1')}")
            self.members[found[1].decode()] = file.tell(), int(found[2]), int(found[3])
            file.seek(int(found[2]), 1)
        demand(file.tell() == file.seek(0, 2), "the last member is cut off")
        self.unread = self.members.keys() - UNREAD

    def take(self, amount: int, what: str) -> None:
        """Refuse what needs more memory than is left, before the memory is taken (rule `memory`)."""
        self.left -= amount
        demand(self.left >= 0, f"{what} needs more memory than --memory allows", "memory")

    def read(self, name: str, cost: int) -> bytes:
        """Return a member's content, each byte of which needs `cost` bytes of memory."""
        demand(name in self.members, f"the member {name} is missing")
        (place, packed, size), inflater = self.members[name], zlib.decompressobj()
        self.unread.discard(name)
        self.take(size * cost + packed, name)
        self.file.seek(place)
        try:
            content = inflater.decompress(self.file.read(packed), size + 1)
        except zlib.error:
            raise Refused("format", f"{name} is damaged") from None
        demand(inflater.eof and not inflater.unused_data and len(content) == size, f"{name} has another size")
        return content


def expressions(content: bytes) -> list[Any]:
    """Return the S-expressions of a text as lists, numbers, and symbols; for the other atoms see `ATOMS`."""
    try:
        text, stack = content.decode(), [[]]  # type: str, list[list[Any]]
    except UnicodeDecodeError:
        raise Refused("format", "a text is not UTF-8") from None
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
            found = Term(f"({term})", (term, term), 0, 1)
        case ["-", one]:
            return translate(["-", 0, one], names)
        case [str(operator), *operands] if operator in OPERATORS:
            sorts, python, between = OPERATORS[operator]
            parts = [translate(operand, names) for operand in operands]
            given = "".join("I" if part.range else "B" for part in parts)
            is_linear = operator != "*" or any(isinstance(operand, int) for operand in operands)
            demand(is_linear and re.fullmatch(sorts, given), f"wrong parts of a term: {term}")
            texts, ranges = [part.text for part in parts], [part.range for part in parts if part.range]
            interval = reduce(RANGE[operator], ranges) if operator in RANGE and ranges else None
            text = python.format(*([between.join(texts)] if between else texts))
            reads, level = reduce(or_, (part.reads for part in parts)), 1 + max(part.level for part in parts)
            found = Term(text, interval, reads, level)
        case _:
            raise Refused("format", f"an unknown name, or no term: {term}")
    least, greatest = found.range or (0, 0)
    right = least >= -MOST and greatest < MOST and found.level <= LEVELS
    demand(right, f"a number leaves 32 bits, or a term has more than {LEVELS} levels: {term}")
    return found


class Part:
    """A part of `certificate.txt` with its system, and the rules."""

    def __init__(self, name: str, archive: Archive, limits: dict[str, int], system: bytes) -> None:
        self.name, self.archive, self.limits = name, archive, limits
        self.names = {"true": Term("True", None, 0, 1), "false": Term("False", None, 0, 1)}
        self.bodies: dict[str, str] = {}  # the definition of each term with a name, in Python
        self.domains: dict[str, tuple[int, int, int]] = {}  # the lowest, the highest and the initial value
        self.declared: list[str] = []
        self.actions: list[Any] = []
        self.properties: dict[str, tuple[Term, Term, bool]] = {}  # term, witness, whether the term is a goal
        self.lemmas: list[tuple[str, list[tuple[str, str, int]]]] = []  # bounds: least or most, the name, the time
        self.places, self.used = Places(), 0  # used: the bits of fields
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
            case ["declare-const", str(name), "Int"] if len(self.declared) == len(self.domains):
                self.declared.append(name)
            case ["set-info", [":", "variable"], [str(name), int(low), int(high), int(first)]]:
                right = [*self.domains, name] == self.declared and -MOST <= low <= first <= high < MOST
                demand(right, f"{name} is not declared just before, or has no such domain")
                self.domains[name] = low, high, first
                self.define(name, Term("", (low, high), 0, 1))
            case ["define-fun", str(name), [], "Int" | "Bool" as sort, body]:
                self.define(name, self.term(body, sort))
            case ["set-info", [":", "action"], [number, ['"', name], str(kind), guard]] if number == len(self.actions):
                demand(all(name != action.name for action in self.actions), f"two actions have the name {name}")
                self.actions.append(Action(number, name, kind, self.term(guard, "Bool"), {}))
            case ["set-info", [":", "next"], [str(name), value]] if self.actions and name in self.domains:
                demand(name not in self.actions[-1].updates, f"an action assigns {name} twice")
                self.actions[-1].updates[name] = self.term(value, "Int")
            case ["set-info", [":", "property" | "goal" as kind], [['"', name], term, witness]]:
                demand(name not in self.properties, f"two properties have the name {name}")
                self.properties[name] = self.term(term, "Bool"), self.term(witness, "Bool"), kind == "goal"
            case _:
                raise Refused("format", f"unexpected in a system: {command}")

    def read(self, command: Any) -> None:
        """Read a command of `certificate.txt`."""
        match command:
            case ["lemma", ['"', name]]:
                self.lemmas.append((name, []))
            case ["least" | "most" as side, ['"', name], int(time)] if self.lemmas:
                self.lemmas[-1][1].append((side, name, time))
            case ["field", str(name), int(bit)] if name in self.domains and name not in self.places:
                width = (self.domains[name][1] - self.domains[name][0]).bit_length()
                demand(0 <= bit < 64 * len(self.domains), f"the field of {name} stands outside a row")
                field = 2**width - 1 << bit
                right = bit % 64 + width <= 64 and not self.used & field
                demand(right, f"the field of {name} leaves its word, or overlaps another one")
                self.places[name], self.used = (bit, width), self.used | field
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
        is_free = name not in self.names and name not in OPERATORS and not RESERVED.fullmatch(name)
        demand(is_free, f"the name {name} is taken")
        place, self.bodies[name] = len(self.names), body.text
        self.names[name] = Term(f"x{place}", body.range, body.reads | 1 << place, body.level)

    def term(self, expression: Any, sort: str) -> Term:
        found = translate(expression, self.names)
        demand(sort == ("Int" if found.range else "Bool"), f"{expression} is no {sort}")
        return found

    def complete(self) -> None:
        """Refuse a part that lacks something, and compile its steps and conditions (rule `cone`)."""
        smaller = [one[:at] + one[at + 1 :] for one in self.sets for at in range(len(one))]
        demand({(), *smaller} <= self.sets.keys(), "a combination has no set that must have one")
        demand(self.claims and [*self.domains] == self.declared, "a part has no claim, or a variable no domain")
        twice = self.unlimited & {*self.covering, *self.covering.values()}
        demand(not twice, f"{twice} are unlimited and covered, or cover others")
        self.words = max((bit for bit, _ in self.places.values()), default=0) // 64 + 1
        self.initial = sum(self.domains[name][2] - self.domains[name][0] << at for name, (at, _) in self.places.items())
        self.ranked = any(self.properties[claim.name][2] for claim in self.claims)
        steps = []
        for action in self.actions:
            kept = {name: new for name, new in action.updates.items() if name in self.places}
            steps += [action._replace(updates=kept)] * bool(kept)
        self.kinds = {action.kind for action in steps if self.limits.get(action.kind)} - self.unlimited
        for claim in self.claims:
            term, witness, _ = self.properties[claim.name]
            steps += [Action(-1, claim.name, ":property", term, {}), Action(-1, claim.name, ":witness", witness, {})]
        self.moves = self.compiled(steps)

    def compiled(self, actions: list[Any]) -> Callable[[Iterable[int]], Iterator[tuple[int, Any, int | None]]]:
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
        for place, action in enumerate(actions):
            after, right, late = ["state"], ["True"], 0
            for name, new in action.updates.items():
                late |= self.names[name].reads | new.reads
                after.append(f"({new.text} - {self.names[name].text} << {self.places[name][0]})")
                right.append(f"{self.domains[name][0]} <= {new.text} <= {self.domains[name][1]}")
            read = {name for name in self.domains if (action.guard.reads | late) & self.names[name].reads}
            demand(read <= self.places.keys(), f"{action.name} reads a variable that the part does not keep", "cone")
            program += [f"  if {action.guard.text}:", *lines("   ", late & ~early)]
            program.append(f"   yield state, actions[{place}], {' + '.join(after)} if {' and '.join(right)} else None")
        scope: dict[str, Any] = {"actions": actions}
        exec("\n".join(program), scope)
        moves: Callable[[Iterable[int]], Iterator[tuple[int, Any, int | None]]] = scope["moves"]
        return moves

    def load(self, names: list[str]) -> dict[int, int]:
        """Return the states of a set with their ranks (rule `domain`); all ranks are 0 if the part has none."""
        states: dict[int, int] = {}
        fields = [(at, 2**width - 1, self.domains[name]) for name, (at, width) in self.places.items()]
        narrow = [(bit, mask, high - low) for bit, mask, (low, high, _) in fields if high - low < mask]
        for name in names:
            content, before = self.archive.read(name, 1), len(states)
            count, rest = divmod(len(content), 8 * self.words + 2 * self.ranked)
            demand(not rest, f"{name} does not have the size of whole rows")
            self.archive.take(count * (COST_OF_STATE + COST_OF_WORD * self.words), name)
            numbers = struct.unpack(f"<{count * self.words}Q{count * self.ranked}H", content)
            columns = [accumulate(numbers[count * word : count * (word + 1)], xor) for word in range(self.words)]
            ranks = numbers[count * self.words :] or (0,) * count
            rows = (struct.pack(f"<{self.words}Q", *row) for row in zip(*columns, strict=True))
            states.update((int.from_bytes(row, "little"), rank) for row, rank in zip(rows, ranks, strict=True))
            demand(len(states) == before + count, f"a row of {name} is in its set twice")
        for state in states:
            if state & ~self.used or any(state >> bit & mask > most for bit, mask, most in narrow):
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
        found = (one for one in self.sets if Counter(one) <= Counter(faults))
        return sorted(found, key=len, reverse=True)

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
        unions = [
            (rule, kind, [self.states[one] for one in self.within(into)])
            for rule, kind, into in targets
            if into in self.sets
        ]
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
                raise Refused(
                    rule, f"{action.name} of a trace is not enabled, leaves a domain, or changes nothing kept"
                )
            state, faults = after, faults + [action.kind] * (action.kind != "none")
        return tuple(sorted(faults)), state, {(action.kind, action.name) for _, action, _ in self.moves([state])}

    def stuck(self, name: str, last: int) -> None:
        """Refuse the end of a trace from which steps without a fault lead to a state with the goal (rule `stuck`)."""
        found, new = set[int](), {last}
        while new:
            self.archive.take(len(new) * (COST_OF_STATE + COST_OF_WORD * self.words), "the steps behind a trace")
            found, states, new = found | new, new, set[int]()
            for _, action, after in self.moves(states):
                is_goal = (action.kind, action.name) == (":property", name)
                demand(not is_goal, f"{name}: steps lead from the end of a trace to the goal", "stuck")
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
            right = is_goal or (":property", claim.name) in holding
            demand(right, f"the trace of {called(faults)} does not end in a violation", "trace")
        for trace in claim.witnesses:
            found, _, holding = self.run(trace, "witness")
            demand(self.is_meant(found, claim), f"the faults {called(found)} of a witness are too many", "witness")
            demand((":witness", claim.name) in holding, "the witness does not hold at the end of its trace", "witness")

    def claim(self, claim: Any) -> None:
        """Refuse a claim if a combination without a smallest fault set is not free of violations.

        The rule is `claim`, and for a goal `rank`. A covered combination can be free by its covering one.
        """
        sufficient, layer = [Counter(faults) for faults, _ in claim.smallest], {()}  # type: Any, set[Faults]
        while layer:
            wanted = (one for one in layer if self.is_meant(one, claim))
            layer = {one for one in wanted if not any(few <= Counter(one) for few in sufficient)}
            for faults in sorted(layer):
                covering = tuple(sorted(self.covering.get(kind, kind) for kind in faults))
                unions = [self.within(one) for one in (faults, covering) if one in self.sets]
                broken = [[one for one in union if self.broken[claim.name, one] is not None] for union in unions]
                if [] not in broken:
                    worst = next((one for union in broken for one in union), None)
                    state = "no set" if worst is None else self.told(self.broken[claim.name, worst])
                    rule = "claim" if worst is None or not self.properties[claim.name][2] else "rank"
                    raise Refused(rule, f"{claim.name} with {called(faults)}: {called(worst or ())} has {state}")
            layer = {plus(faults, kind) for faults in layer for kind in self.kinds}

    def check(self) -> None:
        """Refuse the part if it breaks a rule."""
        before = self.archive.left
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
        self.states, self.archive.left = {}, before


def plus(faults: Faults, kind: str) -> Faults:
    """Return a combination with one fault more."""
    return tuple(sorted((*faults, kind)))


def called(faults: Faults) -> str:
    return "{" + ", ".join(f"{number} {kind}" for kind, number in Counter(faults).items()) + "}"


def total(bounds: list[tuple[str, str, int]]) -> int:
    return sum(time if side == "most" else -time for side, _, time in bounds)


def check(file: BinaryIO, folder: Path | None, limit: int) -> Iterator[str]:
    """Yield a line for each claim of a certificate; raise `Refused` if it breaks a rule."""
    archive, limits, parts = Archive(file, limit), dict[str, int](), list[Part]()
    for command in expressions(archive.read("certificate.txt", COST_OF_TEXT)):
        match command:
            case ["about", str(word), ['"', text]]:
                yield f"about (not proved): {word} {text}"
            case ["limit", str(kind), int(most)] if kind not in limits and most >= 0:
                limits[kind] = most
                yield f"limit: {kind} {most}"
            case ["system", ['"', name]] if re.fullmatch(r"system(\.[1-9][0-9]*)?\.smt2", name):
                content = archive.read(name, COST_OF_TEXT)
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
            sets = ", ".join(called(faults) for faults, _ in claim.smallest) or "none"
            other = f"other faults, any number of {', '.join(sorted(part.unlimited))}" if part.unlimited else "faults"
            about = f"{claim.name} ({claim.id}) of {part.name}, up to {claim.total} {other}"
            yield f"accepted: {about}: smallest fault sets: {sets}"
    demand(not archive.unread, f"certificate.txt does not name {', '.join(archive.unread)}")


def size(text: str) -> int:
    """Return a number of bytes such as 4GiB."""
    found = re.fullmatch(r"([0-9]{1,15})(|KiB|MiB|GiB)", text)
    if not found:
        raise argparse.ArgumentTypeError("a number of bytes, KiB, MiB or GiB, such as 4GiB")
    return int(found[1]) << {"": 0, "KiB": 10, "MiB": 20, "GiB": 30}[found[2]]


def main(arguments: list[str] | None = None) -> int:
    """Check a file; return 0 if it is accepted, 1 if it is refused, 2 if it is no certificate."""
    parser = argparse.ArgumentParser(description="Check a certificate.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--version", action="version", version="certcheck.py 2.1.0 (certificates of version 3)")
    parser.add_argument("--systems", "--system", type=Path, help="the text of the system, or a folder with texts")
    parser.add_argument("--memory", type=size, default=4 << 30, help="memory to take at most (default: 4GiB)")
    options = parser.parse_args(arguments)
    try:
        demand(options.file.is_file() or not options.file.exists(), "no regular file")
        with options.file.open("rb") as file:
            lines = [*check(file, options.systems, options.memory)]
            status = 0
    except Refused as error:
        rule, reason = error.args
        status, lines = (
            (2, [f"not a certificate: {reason}"]) if rule == "format" else (1, [f"refused: {rule}: {reason}"])
        )
    except MemoryError:
        status, lines = 1, ["refused: memory: the memory of this machine is used up"]
    except OSError as error:
        status, lines = 2, [f"not a certificate: {error}"]
    for line in lines:  # without signs that a terminal obeys
        print(line[:1000].encode("unicode_escape").decode())
    return status


if __name__ == "__main__":
    sys.exit(main())
