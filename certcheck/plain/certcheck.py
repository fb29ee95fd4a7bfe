#!/usr/bin/env python3
"""Check a certificate by the rules of docs/certificates.md, version 2: `python3 certcheck.py FILE.cert`.

The program needs Python 3.9 or later and nothing else. Each rule is a function with the rule's code as its name;
`form` demands the rules of "The file". A state is one integer: word i of its row stands at bit 64 * i.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
import zlib
from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, repeat
from operator import xor
from pathlib import Path
from typing import Any, BinaryIO, Optional

Faults = frozenset[tuple[str, int]]  # a combination: kinds of faults, each with its number, which is greater than 0
Term = tuple[str, Optional[tuple[int, int]]]  # Python's text; the least and the greatest value, None for a truth value
Places = dict[str, tuple[int, int]]  # the first bit and the width of each variable
Action = namedtuple("Action", "number name kind guard updates")  # guard and updates are names of terms
Member = namedtuple("Member", "place packed size")  # where its content begins in the file; two numbers of bytes
Claim = namedtuple("Claim", "name id total witnesses smallest")  # smallest: pairs of faults and a trace

UNREAD = ("README.txt", "deployment.json", "times.json")
FIRST_LINE = b"proofka-certificate 2\n"
HEAD = re.compile(rb"([0-9A-Za-z._/-]{1,100}) (0|[1-9][0-9]{0,17}) (0|[1-9][0-9]{0,17})\n")  # name, packed size, size
NONE: Faults = frozenset()
DEEPEST, MOST, INLINE = 200, 2**31, 20  # levels of a term; numbers; levels of a term in one line of Python
COST_OF_TEXT, COST_OF_MEMBER, COST_OF_STATE, COST_OF_WORD = 1200, 600, 350, 30  # bytes of memory, rounded up
RESERVED = re.compile(
    "!|_|as|let|exists|forall|match|par|BINARY|DECIMAL|HEXADECIMAL|NUMERAL|STRING|Bool|Int|xor|div|mod|abs|assert"
    "|check-sat|define-fun|declare-const|exit|pop|push|set-info|set-logic"
)
SIGN = r"0-9A-Za-z~!@$%^&*_+=<>.?/-"
TOKEN = re.compile(
    rf'(?P<skip>[ \t\r\n]+|;[^\r\n]*)|(?P<open>\()|(?P<close>\))|(?P<text>(?:"[^"\0-\x08\x0b\x0c\x0e-\x1f\x7f]*")+)'
    rf"|(?P<numeral>(?:0|[1-9][0-9]{{0,17}})(?![:{SIGN}]))|(?P<name>2\.6(?![:{SIGN}])|(?![0-9]):?[{SIGN}]+)"
)
OPERATORS: dict[str, tuple[str, str]] = {  # the sorts of the parts (B: Bool, I: Int), and Python's text
    "and": ("BB+", "({})"), "or": ("BB+", "({})"), "not": ("B", "(not {})"), "=>": ("BB", "(not {} or {})"),
    "=": ("BB|II", "({} == {})"), "distinct": ("BB|II", "({} != {})"), "<": ("II", "({} < {})"),
    "<=": ("II", "({} <= {})"), ">": ("II", "({} > {})"), ">=": ("II", "({} >= {})"), "+": ("II+", "sum(({}))"),
    "-": ("I|II", "({})"), "*": ("II", "({} * {})"), "ite": ("BBB|BII", "({1} if {0} else {2})"),
}  # fmt: skip
JOINED = {"and": " and ", "or": " or ", "+": ", ", "-": " - "}
RANGE: dict[str, Callable[..., tuple[int, int]]] = {  # the interval of a number, from the intervals of the parts
    "+": lambda *parts: (sum(low for low, _ in parts), sum(high for _, high in parts)),
    "-": lambda one, other=None: (one[0] - other[1], one[1] - other[0]) if other else (-one[1], -one[0]),
    "*": lambda one, other: (min(x * y for x in one for y in other), max(x * y for x in one for y in other)),
    "ite": lambda one, other: (min(one[0], other[0]), max(one[1], other[1])),
}


class Refused(Exception):
    """A broken rule: its code and the reason."""


def demand(holds: object, rule: str, reason: str) -> None:
    """Refuse the file if a rule is broken."""
    if not holds:
        raise Refused(rule, reason)


def form(holds: object, reason: str) -> None:
    """Refuse the file if a rule of the page's section "The file" is broken."""
    demand(holds, "format", reason)


def shown(value: object) -> str:
    """Return a part of the file on one line, without signs that a terminal obeys."""
    return str(value)[:200].encode("unicode_escape").decode()


def spelt(value: object) -> str:
    """Return an expression of the file as the file spells it, on one line."""
    return shown(f"({' '.join(map(spelt, value))})" if isinstance(value, list) else str(value))


class Archive:
    """The members of the file, and the memory that their contents need."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self.file, self.limit, self.taken, self.listed = file, limit, 0, set(UNREAD)
        self.members: dict[str, Member] = {}
        end = file.seek(0, 2)
        file.seek(0)
        form(file.readline(len(FIRST_LINE)) == FIRST_LINE, "the first line is not that of a certificate of version 2")
        while head := file.readline(200):
            self.memory(COST_OF_MEMBER, "the list of members")
            found = HEAD.fullmatch(head)
            if not found or found[1].decode() in self.members:
                raise Refused("format", f"a member twice, or no head of a member: {shown(head.decode('latin-1'))}")
            member = Member(file.tell(), int(found[2]), int(found[3]))
            form(member.place + member.packed <= end, f"{found[1].decode()} is cut off")
            self.members[found[1].decode()] = member
            file.seek(member.packed, 1)

    def memory(self, amount: int, what: str) -> None:
        """Refuse what needs more memory than is left, before the memory is taken."""
        self.taken += amount
        demand(self.taken <= self.limit, "memory", f"{what} needs more than the {self.limit} bytes of --memory")

    def listing(self, name: str) -> str:
        """Return the name of a member that is listed once."""
        form(name in self.members and name not in self.listed, f"{shown(name)} is missing, or listed twice")
        self.listed.add(name)
        return name

    def read(self, name: str, cost: int) -> bytes:
        """Return a member's content, each byte of which needs `cost` bytes of memory."""
        member, inflater = self.members[name], zlib.decompressobj()
        self.memory(member.size * cost + member.packed, name)
        self.file.seek(member.place)
        try:
            content = inflater.decompress(self.file.read(member.packed), member.size + 1)
        except zlib.error:
            raise Refused("format", f"{name} is damaged") from None
        form(inflater.eof and not inflater.unused_data and len(content) == member.size, f"{name} has another size")
        return content


def text_of(content: bytes) -> str:
    """Return a text in UTF-8."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise Refused("format", "a text is not UTF-8") from None


def expressions(content: bytes) -> list[Any]:
    """Return the S-expressions of a text as lists, integers, and texts (strings with their quotes), last one first."""
    text, stack, at = text_of(content), [[]], 0  # type: tuple[str, list[list[Any]], int]
    while at < len(text):
        found = TOKEN.match(text, at)
        if not found or len(stack) > DEEPEST + 9 or (found.lastgroup == "close" and len(stack) == 1):
            raise Refused("format", f"unknown token or wrong parenthesis: {shown(text[at : at + 40])}")
        at, kind, token = found.end(), found.lastgroup, found.group()
        if kind == "open":
            stack.append([])
        elif kind == "close":
            stack[-2].append(stack.pop())
        elif kind != "skip":
            stack[-1].append(int(token) if kind == "numeral" else token)
    form(len(stack) == 1, "a parenthesis is missing")
    return stack[0][::-1]


def parts(expression: Any, *pattern: Any) -> list[Any]:
    """Return the parts of a list for which a pattern has a type (`bytes`: a string); a last `...` is the rest."""
    wanted = [want for want in pattern if want is not ...]
    right = isinstance(expression, list) and (len(expression) == len(wanted) or ... in pattern[: len(expression) + 1])
    form(right, f"a list of {len(wanted)} was expected: {shown(expression)}")
    found: list[Any] = []
    for part, want in zip(expression, wanted):
        if want in (str, bytes):
            right = isinstance(part, str) and (part[0] == '"' if want is bytes else part[0] not in '":2')
        else:
            right = isinstance(part, want) if isinstance(want, type) else part == want
        form(right, f"unexpected: {shown(expression)}")
        found += [part[1:-1].replace('""', '"') if want is bytes else part] if isinstance(want, type) else []
    return [*found, expression[len(wanted) :]] if ... in pattern else found


def leading(rest: list[Any], *head: str) -> Iterator[list[Any]]:
    """Yield the lists that begin so, without this beginning, from the end of a reversed list, while there are any."""
    while rest and isinstance(rest[-1], list) and rest[-1][: len(head)] == list(head):
        yield rest.pop()[len(head) :]


def single(rest: list[Any], *head: str) -> list[Any]:
    """Return the only list that begins so, without this beginning."""
    found = [*leading(rest, *head)]
    form(len(found) == 1, f"no list begins with {' '.join(head)}, or several do")
    return found[0]


def signed(number: Any) -> int:
    """Return the value of a numeral, or of a negative number such as `(- 1)`."""
    return number if isinstance(number, int) else -int(parts(number, "-", int)[0])


def translate(term: Any, known: dict[str, Term], lines: list[str], level: int = 1) -> Term:
    """Return a term in Python and its interval; a deep term adds lines for its parts. A leaf has level 1."""
    form(level <= DEEPEST, "a term is nested too deep")
    if isinstance(term, str):
        form(term in known, f"unknown name: {shown(term)}")
        return known[term]
    if isinstance(term, int):
        text, interval = str(term), (term, term)
    else:
        form(term and isinstance(term[0], str) and term[0] in OPERATORS, f"no term: {shown(term)}")
        operator, (sorts, python) = term[0], OPERATORS[term[0]]
        found = [translate(part, known, lines, level + 1) for part in term[1:]]
        texts, numbers = [text for text, _ in found], [interval for _, interval in found if interval]
        given = "".join("I" if interval else "B" for _, interval in found)
        form(re.fullmatch(sorts, given), f"wrong sorts or number of parts: {shown(term)}")
        form(
            operator != "*"
            or any(isinstance(one, int) or (one[0] == "-" and type(one[-1]) is int) for one in term[1:]),
            f"a product of two terms: {shown(term)}",
        )
        text = python.format(*([JOINED[operator].join(texts)] if operator in JOINED else texts))
        text = text if given != "I" else f"(-{texts[0]})"
        if level % INLINE == 0:
            lines.append(f"x{len(lines)} = {text}")
            text = f"x{len(lines) - 1}"
        if operator not in RANGE or not numbers:
            return text, None
        interval = RANGE[operator](*numbers)
    form(interval[0] >= -MOST and interval[1] < MOST, f"a number leaves 32 bits: {shown(term)}")
    return text, interval


class System:
    """A system that a text describes."""

    def __init__(self, content: bytes) -> None:
        self.domains: dict[str, tuple[int, int, int]] = {}  # the lowest, the highest and the initial value
        self.known: dict[str, Term] = {"true": ("True", None), "false": ("False", None)}
        self.terms: dict[str, tuple[Any, list[str]]] = {}  # as written, and as lines of Python
        self.actions: list[Action] = []
        self.properties: dict[str, tuple[str, str, bool]] = {}  # term, witness, whether the term is a goal
        self.programs: dict[
            tuple[str, str], Callable[[Iterable[int]], Iterator[Any]]
        ] = {}  # compiled, by text and rule
        rest = expressions(content)
        head = single(rest, "set-info", ":smt-lib-version") + single(rest, "set-logic")
        form(head == ["2.6", "QF_LIA"], "a system is not SMT-LIB 2.6 of the logic QF_LIA")
        for command in leading(rest, "declare-const"):
            name = self.new(parts(command, str, "Int")[0])
            (domain,) = parts(rest.pop() if rest else 0, "set-info", ":variable", list)
            low, high, first = (signed(number) for number in parts(domain, name, object, object, object))
            form(-MOST <= low <= first <= high < MOST, f"{name} has no such domain")
            self.known[name], self.domains[name] = (f"v{len(self.domains)}", (low, high)), (low, high, first)
        for command in leading(rest, "define-fun"):
            name, sort, body = parts(command, str, [], str, object)
            lines: list[str] = []
            text, interval = translate(body, self.known, lines)
            form(sort == ("Int" if interval else "Bool"), f"{name} has another sort")
            self.known[self.new(name)], self.terms[name] = (f"t{len(self.terms)}", interval), (body, lines)
            lines.append(f"{self.known[name][0]} = {text}")
        for command in leading(rest, "set-info", ":action"):
            number, name, kind, guard, updates = parts(parts(command, list)[0], int, bytes, str, str, list)
            pairs = {
                variable: self.named(value, "Int") for variable, value in (parts(one, str, str) for one in updates)
            }
            right = number == len(self.actions) and len(pairs) == len(updates) and {*pairs} <= {*self.domains}
            form(right, f"action {number} has a wrong number, or assigns wrongly")
            self.actions.append(Action(number, name, kind, self.named(guard, "Bool"), pairs))
        form(len({action.name for action in self.actions}) == len(self.actions), "two actions share a name")
        for key in (":property", ":goal"):
            for command in leading(rest, "set-info", key):
                name, term, seen = parts(parts(command, list)[0], bytes, str, str)
                form(name not in self.properties, f"two properties share the name {shown(name)}")
                self.properties[name] = self.named(term, "Bool"), self.named(seen, "Bool"), key == ":goal"
        form(not rest, f"unexpected in a system: {shown(rest[-1:])}")
        self.places = {name: (32 * number, 32) for number, name in enumerate(self.domains)}

    def new(self, name: str) -> str:
        """Return a name that can be given to a variable or a term."""
        form(not RESERVED.fullmatch(name) and name not in OPERATORS and name not in self.known, f"{name} is taken")
        return name

    def named(self, name: str, sort: str) -> str:
        """Return the name of a term of this sort."""
        form(name in self.terms and bool(self.known[name][1]) == (sort == "Int"), f"{shown(name)} is no {sort}")
        return name

    def read(self, roots: Iterable[str]) -> set[str]:
        """Return the names that some terms read, directly or through other terms."""
        found, todo = set[str](), [*roots]  # type: set[str], list[Any]
        while todo:
            one = todo.pop()
            if isinstance(one, list):
                todo += one
            elif one in self.known and one not in found:
                found.add(one)
                todo += [self.terms[one][0]] if one in self.terms else []
        return found

    def moves(
        self, places: Places, actions: list[Action], states: Iterable[int], rule: str = "outside"
    ) -> Iterator[Any]:
        """Return (state, number of action, state after) for each step; an action without updates tests its guard."""

        def outside(number: int, name: str, value: int) -> None:
            raise Refused(rule, f"action {number} gives {name} the value {value}, which is outside its domain")

        early = self.read(action.guard for action in actions)
        used = early | self.read(one for action in actions for pair in action.updates.items() for one in pair)
        fields = [(name, *places[name], self.domains[name][0]) for name in self.domains if name in used]
        lines = [f"{self.known[name][0]} = (s >> {bit} & {2**width - 1}) + {low}" for name, bit, width, low in fields]
        lines += [line for name in self.terms if name in early for line in self.terms[name][1]]
        for action in actions:
            late, after = self.read(action.updates.values()) - early, "s"
            lines.append(f"if {self.known[action.guard][0]}:")
            lines += [f" {line}" for name in self.terms if name in late for line in self.terms[name][1]]
            for name, value in action.updates.items():
                old, new, (low, high, _) = self.known[name][0], self.known[value][0], self.domains[name]
                lines.append(f" if not {low} <= {new} <= {high}: outside({action.number}, {name!r}, {new})")
                after += f" + ({new} - {old} << {places[name][0]})"
            lines.append(f" yield s, {action.number}, {after}")
        program = "def run(states):\n for s in states:\n  if 0: yield\n" + "".join(f"  {line}\n" for line in lines)
        if (program, rule) not in self.programs:
            scope: dict[str, Any] = {"outside": outside}
            exec(program, scope)
            self.programs[program, rule] = scope["run"]
        return self.programs[program, rule](states)

    def where(self, term: str, places: Places, states: Iterable[int]) -> Iterator[int]:
        """Yield the states in which a term holds."""
        return (state for state, _, _ in self.moves(places, [Action(0, "", "none", term, {})], states))

    def values(self, places: Places, state: int) -> dict[str, int]:
        """Return the values of the variables that have a place."""
        return {name: (state >> bit & 2**width - 1) + self.domains[name][0] for name, (bit, width) in places.items()}

    def packed(self, places: Places, values: dict[str, int] | None = None) -> int:
        """Return the state in which the variables that have a place have these values (None: the initial ones)."""
        all_values = values or {name: first for name, (_, _, first) in self.domains.items()}
        return sum(all_values[name] - self.domains[name][0] << bit for name, (bit, _) in places.items())

    def run(self, trace: list[int], rule: str) -> tuple[int, Faults]:
        """Return the last state of a trace of the whole system, and the faults of its actions."""
        state, faults = self.packed(self.places), NONE
        for action in (self.actions[number] for number in trace):
            steps = [*self.moves(self.places, [action], [state], rule)]
            demand(steps, rule, f"action {action.number} of a trace is not enabled")
            state, faults = steps[0][2], faults if action.kind == "none" else more(faults, action.kind)
        return state, faults


def contained(one: Faults, other: Faults) -> bool:
    """Tell whether a combination is contained in another one."""
    return all(dict(other).get(kind, 0) >= number for kind, number in one)


def more(faults: Faults, kind: str, number: int = 1) -> Faults:
    """Return a combination with more faults of a kind."""
    counts = {**dict(faults), kind: dict(faults).get(kind, 0) + number}
    return frozenset((one, count) for one, count in counts.items() if count)


def called(faults: Faults) -> str:
    """Return a combination in words."""
    return "{" + ", ".join(f"{number} {kind}" for kind, number in sorted(faults)) + "}"


class Part:
    """A part of `certificate.txt`, with the rules."""

    def __init__(self, system: System, archive: Archive, limits: dict[str, int], rest: list[Any]) -> None:
        self.system, self.archive, self.limits = system, archive, limits
        self.places: Places = {}
        self.members: dict[Faults, tuple[int, list[str]]] = {}  # of each set, with the number of its states
        self.states: dict[Faults, dict[int, int]] = {}  # of each set, the states with their ranks
        self.proved: set[tuple[str, Faults]] = set()
        self.lemmas = []  # the name, the sum of the bounds, and the sum that is claimed
        for name, bounds in (parts(one, bytes, ...) for one in leading(rest, "lemma")):
            (total,) = parts(bounds.pop() if bounds else 0, "sum", object)
            times = [parts(one, str, bytes, object) for one in bounds]
            form({kind for kind, _, _ in times} <= {"least", "most"}, "a bound of a lemma is neither least nor most")
            bound = sum(signed(time) * (1 if kind == "most" else -1) for kind, _, time in times)
            self.lemmas.append((name, bound, signed(total)))
        self.used, layout = 0, single(rest, "layout")  # used: the bits of fields
        for name, bit in (parts(one, str, int) for one in layout):
            form(name in system.domains and name not in self.places, f"no variable {shown(name)}, or two fields of it")
            width = (system.domains[name][1] - system.domains[name][0]).bit_length()
            form(bit < 64 * len(layout) and bit % 64 + width <= 64, f"the field of {name} leaves its word, or the row")
            field = 2**width - 1 << bit
            form(not self.used & field, f"the field of {name} overlaps another one")
            self.places[name], self.used = (bit, width), self.used | field
        self.words = max((bit for bit, _ in self.places.values()), default=0) // 64 + 1
        cut = [(one, {v: t for v, t in one.updates.items() if v in self.places}) for one in system.actions]
        self.actions = [action._replace(updates=updates) for action, updates in cut if updates]
        self.harmless = [action for action in self.actions if action.kind == "none"]
        pairs = [parts(one, str, str) for one in leading(rest, "covered")]
        self.covering = dict(pairs)
        right = len(self.covering) == len(pairs) and {kind for pair in pairs for kind in pair} <= {*limits}
        form(right and all(kind != other for kind, other in pairs), "a kind is unknown, covered twice, or by itself")
        for counts, total, names in (parts(one, list, int, ...) for one in leading(rest, "set")):
            faults = self.combination(counts)
            form(names and faults not in self.members, f"{called(faults)} has two sets, or a set without a member")
            self.members[faults] = total, [archive.listing(*parts([name], bytes)) for name in names]
        right = (
            all(more(one, kind, -1) in self.members for one in self.members for kind, _ in one) and NONE in self.members
        )
        form(right, "a combination has no set that must have one")
        self.claims = [self.read_claim(*parts(claim, bytes, list, list, ...)) for claim in leading(rest, "claim")]
        self.ranked = any(system.properties[claim.name][2] for claim in self.claims)
        form(self.claims and not rest, f"a part without a claim, or unexpected: {shown(rest[-1:])}")

    def read_claim(self, name: str, given: list[Any], total: list[Any], rest: list[Any]) -> Claim:
        """Return a claim of `certificate.txt`."""
        form(name in self.system.properties, f"no property {shown(name)}")
        rest.reverse()
        witnesses = [*leading(rest, "witness")]
        smallest = [parts(one, list, list) for one in leading(rest, "smallest")]
        form(len(witnesses) < 2 and not rest, f"the claim {shown(name)} has unexpected parts")
        found = [(self.combination(counts), parts(trace, "trace", ...)[0]) for counts, trace in smallest]
        for number in (number for trace in (*witnesses, *(trace for _, trace in found)) for number in trace):
            form(isinstance(number, int) and number < len(self.system.actions), f"no action {shown(number)}")
        return Claim(name, parts(given, "id", bytes)[0], parts(total, "up-to", int)[0], witnesses, found)

    def combination(self, counts: list[Any]) -> Faults:
        """Return the combination with these numbers of faults."""
        pairs = [parts(one, str, int) for one in counts]
        right = all(kind in self.limits and number for kind, number in pairs) and len(dict(pairs)) == len(pairs)
        form(right, f"no combination: {shown(counts)}")
        return frozenset((kind, number) for kind, number in pairs)

    def count(self, name: str) -> int:
        """Return the number of rows of a member: each has its words, and a rank if a claim is about a goal."""
        count, more = divmod(int(self.archive.members[name].size), 8 * self.words + 2 * self.ranked)
        form(not more, f"{name} does not have the size of whole rows")
        return count

    def load(self, name: str) -> dict[int, int]:
        """Return the states of a member with their ranks; all ranks are 0 if the part has none."""
        count = self.count(name)
        self.archive.memory(count * (COST_OF_STATE + COST_OF_WORD * self.words) + 600 * self.words, name)
        content = memoryview(self.archive.read(name, 1))
        words = [content[8 * count * word : 8 * count * (word + 1)] for word in range(self.words)]
        columns = [accumulate((word for (word,) in struct.iter_unpack("<Q", one)), xor) for one in words]
        rows = (int.from_bytes(struct.pack(f"<{self.words}Q", *row), "little") for row in zip(*columns))
        ranks = struct.iter_unpack("<H", content[8 * count * self.words :]) if self.ranked else repeat((0,))
        return {row: rank for row, (rank,) in zip(rows, ranks)}

    def union(self, faults: Faults) -> list[dict[int, int]]:
        """Return T(faults): the sets of a combination, which comes first, and of the combinations that it contains."""
        size = {one: sum(dict(one).values()) for one in self.states if contained(one, faults)}
        return [self.states[one] for one in sorted(size, key=lambda one: -size[one])]

    def described(self, state: int) -> str:
        """Return a state in words."""
        return " ".join(f"{name}={value}" for name, value in self.system.values(self.places, state).items())

    def within(self, faults: Faults, claim: Claim) -> bool:
        """Tell whether a combination is within the limits and the total of a claim."""
        return sum(dict(faults).values()) <= claim.total and all(count <= self.limits[kind] for kind, count in faults)

    # The rules

    def cone(self) -> None:
        """Refuse a term of the part that reads a variable which the part does not keep."""
        roots = [name for action in self.actions for name in (action.guard, *action.updates.values())]
        roots += [name for claim in self.claims for name in self.system.properties[claim.name][:2]]
        lost = sorted(self.system.read(roots) & self.system.domains.keys() - self.places.keys())
        demand(not lost, "cone", f"the part reads variables that it does not keep: {', '.join(lost)}")

    def domain(self, states: Iterable[int]) -> None:
        """Refuse a state with a value outside its domain, or with an unused bit."""
        fields = [(bit, 2**width - 1, self.system.domains[name]) for name, (bit, width) in self.places.items()]
        narrow = [(bit, mask, high - low) for bit, mask, (low, high, _) in fields if high - low < mask]
        for state in states:
            if state & ~self.used or any(state >> bit & mask > most for bit, mask, most in narrow):
                raise Refused("domain", f"a value outside its domain, or an unused bit: {self.described(state)}")

    def initial(self) -> None:
        """Refuse a part whose set of no faults lacks the initial state."""
        right = self.system.packed(self.places) in self.states[NONE]
        demand(right, "initial", "the set of no faults lacks the initial state")

    def step(self) -> None:
        """Refuse a step without a fault that leads from a set out of the union of its combination."""
        self.leads("step", lambda faults, kind: faults if kind == "none" else None)

    def fault(self) -> None:
        """Refuse a fault that leads from a set out of the union of the combination with this fault more."""
        self.leads("fault", lambda faults, kind: more(faults, kind) if self.limits.get(kind) else None)

    def covered(self) -> None:
        """Refuse a covered fault that leads out of the union of the combination with the covering fault more."""
        self.leads("covered", lambda faults, kind: more(faults, self.covering[kind]) if kind in self.covering else None)

    def leads(self, rule: str, into: Callable[[Faults, str], Faults | None]) -> None:
        """Refuse an action that leads from a set out of the union of the combination `into`, if this one has a set."""
        for faults, states in self.states.items():
            targets = {action.number: into(faults, action.kind) for action in self.actions}
            unions = {number: self.union(target) for number, target in targets.items() if target in self.states}
            actions = [action for action in self.actions if action.number in unions]
            for state, number, after in self.system.moves(self.places, actions, states):
                if not any(after in one for one in unions[number]):
                    name, ends = self.system.actions[number].name, f"{self.described(state)} -> {self.described(after)}"
                    raise Refused(rule, f"from {called(faults)}, {shown(name)} leads out of the sets: {ends}")

    def claim(self, claim: Claim) -> None:
        """Refuse a claim if a combination without a smallest fault set is not shown to suffice for no violation."""
        kinds = sorted({action.kind for action in self.actions if self.limits.get(action.kind)})

        def larger(faults: Faults, first: int) -> Iterator[tuple[Faults, int]]:
            return ((more(faults, kinds[at]), at) for at in range(first, len(kinds)))

        stack = [iter([(NONE, 0)])]
        while stack:
            faults, first = next(stack[-1], (NONE, -1))
            if first < 0:
                stack.pop()
            elif self.within(faults, claim) and not any(contained(one, faults) for one, _ in claim.smallest):
                self.safe(faults, claim)
                stack.append(larger(faults, first))

    def safe(self, faults: Faults, claim: Claim) -> None:
        """Refuse a combination if neither its union nor the union that covers it is free of violations."""
        term, _, is_goal = self.system.properties[claim.name]
        covering, broken = NONE, Refused("claim", f"{shown(claim.name)}: {called(faults)} has no set")
        for kind, count in faults:
            covering = more(covering, self.covering.get(kind, kind), count)
        for one in (faults, covering):
            if one in self.states:
                try:
                    return self.rank(term, one) if is_goal else self.unviolated(term, one)
                except Refused as error:
                    broken = error
        raise broken

    def unviolated(self, term: str, faults: Faults) -> None:
        """Refuse a union with a state that violates a property."""
        for part, states in self.states.items():
            if contained(part, faults) and (term, part) not in self.proved:
                for state in self.system.where(term, self.places, states):
                    raise Refused("claim", f"a state of {called(part)} violates the property: {self.described(state)}")
                self.proved.add((term, part))

    def rank(self, goal: str, faults: Faults) -> None:
        """Refuse a union with a state that neither has rank 0 and is a goal, nor has a step to a smaller rank."""
        for part, states in self.states.items():
            if contained(part, faults) and (goal, part) not in self.proved:
                union = self.union(part)
                reached = {*self.system.where(goal, self.places, states)}
                due = {state for state, rank in states.items() if rank != 0 or state not in reached}
                for state, _, after in self.system.moves(self.places, self.harmless, [*due]):
                    if any(one.get(after, MOST) < states[state] for one in union):
                        due.discard(state)
                for state in due:
                    raise Refused("rank", f"no step to a smaller rank in {called(part)}: {self.described(state)}")
                self.proved.add((goal, part))

    def trace(self, claim: Claim) -> None:
        """Refuse a trace that is no run, that has other faults, or that ends without a violation."""
        term, _, is_goal = self.system.properties[claim.name]
        for faults, numbers in claim.smallest:
            last, found = self.system.run(numbers, "trace")
            demand(found == faults, "trace", f"the trace of {called(faults)} has the faults {called(found)}")
            if is_goal:
                self.stuck(term, last)
            elif not [*self.system.where(term, self.system.places, [last])]:
                raise Refused("trace", f"the trace of {called(faults)} does not end in a violation")

    def stuck(self, goal: str, last: int) -> None:
        """Refuse the end of a trace from which steps without a fault lead to a state with the goal."""
        before, found = self.archive.taken, set[int]()
        new = {self.system.packed(self.places, self.system.values(self.system.places, last))}
        while new:
            self.archive.memory(len(new) * (COST_OF_STATE + COST_OF_WORD * self.words), "the steps behind a trace")
            for state in self.system.where(goal, self.places, new):
                raise Refused("stuck", f"steps lead from the end of a trace to the goal: {self.described(state)}")
            found |= new
            new = {after for _, _, after in self.system.moves(self.places, self.harmless, new)} - found
        self.archive.taken = before

    def witness(self, claim: Claim) -> None:
        """Refuse the trace of a witness that is no run, has too many faults, or ends without the witness."""
        for numbers in claim.witnesses:
            last, faults = self.system.run(numbers, "witness")
            demand(self.within(faults, claim), "witness", f"the faults {called(faults)} of a witness are too many")
            seen = [*self.system.where(self.system.properties[claim.name][1], self.system.places, [last])]
            demand(seen, "witness", "the witness does not hold at the end of its trace")

    def smallest(self, claim: Claim) -> None:
        """Refuse smallest fault sets of which one contains another one, or exceeds the limits or the total."""
        sets = [faults for faults, _ in claim.smallest]
        for one in sets:
            right = self.within(one, claim) and sum(contained(other, one) for other in sets) == 1
            demand(right, "smallest", f"{called(one)} contains another one, or exceeds the limits or the total")

    def lemma(self) -> None:
        """Refuse a lemma with a wrong sum, or with a sum that is not below 0."""
        for _, total, claimed in self.lemmas:
            demand(total == claimed < 0, "lemma", f"the sum of the bounds is {total}, and {claimed} is claimed")

    def check(self) -> None:
        """Refuse the part if it breaks a rule."""
        before = self.archive.taken
        self.lemma()
        self.cone()
        for claim in self.claims:
            self.smallest(claim)
        for faults, (total, names) in self.members.items():
            form(sum(map(self.count, names)) == total, f"the set of {called(faults)} has another number of states")
            self.states[faults] = {state: rank for name in names for state, rank in self.load(name).items()}
            form(len(self.states[faults]) == total, f"the set of {called(faults)} has a row twice")
            self.domain(self.states[faults])
        for rule in (self.initial, self.step, self.fault, self.covered):
            rule()
        for claim in self.claims:
            self.trace(claim)
            self.witness(claim)
            self.claim(claim)
        self.states, self.archive.taken = {}, before


def system(contents: dict[str, bytes], folder: Path | None) -> None:
    """Refuse a certificate with a system that is not the file of its name in the folder, or the given file."""
    for name, content in contents.items() if folder else ():
        given = folder if folder is None or folder.is_file() else folder / name
        right = given is not None and given.is_file() and given.read_bytes() == content
        demand(right, "system", f"{name} is not the file of this name in {folder}")


def check(file: BinaryIO, folder: Path | None, limit: int) -> Iterator[str]:
    """Yield a line for each claim of a certificate; raise `Refused` if it breaks a rule."""
    archive = Archive(file, limit)
    rest = expressions(archive.read(archive.listing("certificate.txt"), COST_OF_TEXT))
    yield f"about (not proved): {' '.join(map(spelt, single(rest, 'about')))}"
    pairs = [parts(one, str, int) for one in single(rest, "limits")]
    limits = dict(pairs)
    yield f"limits: {', '.join(f'{kind} {most}' for kind, most in limits.items())}"
    found = [one[::-1] for one in leading(rest, "part")]
    form(found and not rest, f"no part, or unexpected in certificate.txt: {shown(rest[-1:])}")
    names = [parts(single(one, "system"), bytes)[0] for one in found]
    form(all(re.fullmatch(r"system(\.[1-9][0-9]*)?\.smt2", name) for name in names), "a system has another name")
    contents = {name: archive.read(archive.listing(name), COST_OF_TEXT) for name in dict.fromkeys(names)}
    systems = {name: System(content) for name, content in contents.items()}
    kinds = {action.kind for one in systems.values() for action in one.actions} - {"none"}
    form(len(limits) == len(pairs) and {*limits} == kinds, "the limits do not name each kind of fault once")
    members = [Part(systems[name], archive, limits, one) for name, one in zip(names, found)]
    form(archive.members.keys() <= archive.listed, "a member is not listed in certificate.txt")
    system(contents, folder)
    for part in members:
        part.check()
    for lemma, total, _ in (lemma for part in members for lemma in part.lemmas):
        yield f"lemma: {spelt(lemma)}: the sum is {total} ms"
    for name, claim in ((name, claim) for name, part in zip(names, members) for claim in part.claims):
        sets = ", ".join(called(faults) for faults, _ in claim.smallest) or "none"
        about = f"{shown(claim.name)} ({shown(claim.id)}) of {name}, up to {claim.total} faults"
        yield f"accepted: {about}: smallest fault sets: {sets}"


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
    parser.add_argument("--version", action="version", version="certcheck.py 1.0.0 (certificates of version 2)")
    parser.add_argument(
        "--systems", "--system", type=Path, help="the text that the system must be, or a folder with texts"
    )
    parser.add_argument("--memory", type=size, default=4 << 30, help="memory to take at most (default: 4GiB)")
    options = parser.parse_args(arguments)
    try:
        form(options.file.is_file() or not options.file.exists(), "no regular file")
        with options.file.open("rb") as file:
            print("\n".join([*check(file, options.systems, options.memory)]))
            return 0
    except Refused as error:
        rule, reason = error.args
    except MemoryError:
        rule, reason = "memory", "the memory of this machine is used up"
    except OSError as error:
        rule, reason = "format", shown(error)
    print(f"not a certificate: {reason}" if rule == "format" else f"refused: {rule}: {reason}")
    return 2 if rule == "format" else 1


if __name__ == "__main__":
    sys.exit(main())
