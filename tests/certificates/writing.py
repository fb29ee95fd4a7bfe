"""Certificates as values that a test can change, and the files that they stand for."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.certificates.toy import Combination, System, Term, Values

WORD = 64
"""The number of bits of a word."""

FIRST_LINE = b"proofka-certificate 4\n"
"""The first line of a certificate."""


@dataclass(frozen=True)
class Set:
    """A set of states, with their ranks or without; the first `split` rows are a member of their own."""

    faults: Combination
    states: Sequence[Values]
    ranks: Sequence[int] = ()
    split: int = 0


@dataclass(frozen=True)
class Smallest:
    """A smallest fault set with its trace."""

    faults: Combination
    trace: Sequence[int]


@dataclass(frozen=True)
class Claim:
    """A claim about a property."""

    name: str
    up_to: int
    smallest: Sequence[Smallest]
    witness: Sequence[int] | None = None
    id: str = "3f0c"


@dataclass(frozen=True)
class Part:
    """A part: the kept variables of each word of a row, covered and unlimited kinds, sets and claims."""

    layout: Sequence[Sequence[str]]
    sets: Sequence[Set]
    claims: Sequence[Claim]
    covered: Mapping[str, str] = field(default_factory=dict)
    unlimited: Sequence[str] = ()
    lemmas: str = ""
    system: str = "system.smt2"

    def places(self, system: System) -> dict[str, int]:
        """Return the first bit of each kept variable, in the order of the system."""
        found = {}
        for word, names in enumerate(self.layout):
            bit = WORD * word
            for name in names:
                low, high, _ = system.variables.get(name, (0, 0, 0))
                found[name] = bit
                bit += max(1, (high - low).bit_length())
        return {name: found[name] for name in system.variables if name in found}


@dataclass(frozen=True)
class Certificate:
    """A certificate; `limits` bounds the kinds of faults."""

    system: System
    limits: Mapping[str, int]
    parts: Sequence[Part]
    about: str = '(about deployment "toy") (about model "1")'


def written(term: Term) -> str:
    """Return a term as SMT-LIB text."""
    if isinstance(term, int):
        return str(term) if term >= 0 else f"(- {-term})"
    return term if isinstance(term, str) else f"({' '.join(written(part) for part in term)})"


def quoted(text: str) -> str:
    """Return a string of SMT-LIB."""
    return '"' + text.replace('"', '""') + '"'


def system_text(system: System) -> str:
    """Return `system.smt2`: each guard, update and property is a term with a name."""
    lines = ["(set-info :smt-lib-version 2.6)", "(set-logic QF_LIA)"]
    for name, domain in system.variables.items():
        lines.append(f"(declare-const {name} Int)")
        lines.append(f"(set-info :variable ({name} {' '.join(written(number) for number in domain)}))")
    terms = {name: (sort, term) for name, (sort, term) in system.terms.items()}
    heads = []
    for number, action in enumerate(system.actions):
        terms[f"g{number}"] = "Bool", action.guard
        terms |= {f"u{number}.{name}": ("Int", term) for name, term in action.updates.items()}
        heads.append(f"(set-info :action ({number} {quoted(action.name)} {action.kind} g{number}))")
        heads += [f"(set-info :next ({name} u{number}.{name}))" for name in action.updates]
    for number, one in enumerate(sorted(system.properties, key=lambda one: one.is_goal)):
        terms |= {f"p{number}": ("Bool", one.term), f"w{number}": ("Bool", one.witness)}
        key = "goal" if one.is_goal else "property"
        heads.append(f"(set-info :{key} ({quoted(one.name)} p{number} w{number}))")
    lines += [f"(define-fun {name} () {sort} {written(term)})" for name, (sort, term) in terms.items()]
    return "\n".join([*lines, *heads, ""])


def faults_text(faults: Combination) -> str:
    """Return a combination as text: each kind as often as its faults happen."""
    return "(" + " ".join(kind for kind, number in faults for _ in range(number)) + ")"


def rows(part: Part, system: System, states: Iterable[Values], ranks: Sequence[int]) -> bytes:
    """Return a member with states: word by word, each value XORed with the one before; then their ranks."""
    content = b""
    packed = [row(part, system, state) for state in states]
    for word in range(len(part.layout)):
        before = 0
        for words in packed:
            content += struct.pack("<Q", words[word] ^ before)
            before = words[word]
    return content + struct.pack(f"<{len(ranks)}H", *ranks)


def row(part: Part, system: System, state: Values) -> list[int]:
    """Return the words of a state; a value outside its domain spoils its neighbours, as a forger might have it."""
    words = [0] * len(part.layout)
    for value, (name, bit) in zip(state, part.places(system).items(), strict=True):
        word, shift = divmod(bit, WORD)
        if word == len(words):  # of fields that leave their word
            continue
        words[word] = (words[word] + (value - system.variables[name][0] << shift)) % 2**WORD
    return words


def members(certificate: Certificate) -> dict[str, bytes]:
    """Return the members of a certificate."""
    found = {"README.txt": b"Check this file with certcheck.\n", "deployment.json": b"{}\n", "times.json": b"{}\n"}
    found |= {part.system: system_text(certificate.system).encode() for part in certificate.parts}
    lines = [certificate.about, *(f"(limit {kind} {number})" for kind, number in certificate.limits.items())]
    for number, part in enumerate(certificate.parts):
        lines += [f'(system "{part.system}")', *([part.lemmas] if part.lemmas else [])]
        lines.append("\n(word)\n".join("\n".join(f"(field {name})" for name in names) for names in part.layout))
        lines += [f"(covered {kind} {other})" for kind, other in part.covered.items()]
        lines += [f"(unlimited {kind})" for kind in part.unlimited]
        for index, one in enumerate(part.sets):
            lines.append(f"(set {faults_text(one.faults)})")
            pieces = [(0, one.split), (one.split, len(one.states))] if one.split else [(0, len(one.states))]
            for piece, (begin, end) in enumerate(pieces):
                name = f"{number}/{index}.{piece}"
                found[name] = rows(part, certificate.system, one.states[begin:end], one.ranks[begin:end])
                lines.append(f'(rows "{name}")')
        for claim in part.claims:
            lines.append(f"(claim {quoted(claim.name)} {quoted(claim.id)} {claim.up_to})")
            if claim.witness is not None:
                lines.append(f"(witness {' '.join(map(str, claim.witness))})")
            for small in claim.smallest:
                lines.append(f"(smallest {faults_text(small.faults)} {' '.join(map(str, small.trace))})")
    found["certificate.txt"] = ("\n".join(lines) + "\n").encode()
    return found


def archive(contents: Mapping[str, bytes], levels: Sequence[int] = (6, 0)) -> bytes:
    """Return a file with some members, which are packed with some levels of compression by turns."""
    packed = [zlib.compress(content, levels[number % len(levels)]) for number, content in enumerate(contents.values())]
    return framed((name, one, len(contents[name])) for name, one in zip(contents, packed, strict=True))


def framed(packed: Iterable[tuple[str, bytes, int]]) -> bytes:
    """Return a file with packed members, each with its name and the size that its head says."""
    heads = ((f"{name} {len(content)} {size}\n".encode(), content) for name, content, size in packed)
    return FIRST_LINE + b"".join(head + content for head, content in heads)


def certificate_file(certificate: Certificate) -> bytes:
    """Return the file of a certificate."""
    return archive(members(certificate))
