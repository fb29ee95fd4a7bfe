"""A judge of accepted files: reads the system and the claims, and explores the system naively.

The judge shares nothing with a checker, and reads only texts that a checker accepted.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from tests.certificates.toy import (
    Action,
    Property,
    Runs,
    System,
    Term,
    explore,
    smallest_sets,
)

TOKEN = re.compile(r'"(?:[^"]|"")*"|;[^\r\n]*|[()]|[^\s()";]+')


def members_of(content: bytes, unread: Collection[str] = ()) -> dict[str, bytes]:
    """Return the members of a file but those in `unread`. Raise ValueError or zlib.error for another file."""
    first, _, rest = content.partition(b"\n")
    if first != b"proofka-certificate 4":
        raise ValueError("another first line")
    found: dict[str, bytes] = {}
    while rest:
        head, _, rest = rest.partition(b"\n")
        name, packed, size = head.decode("ascii").split(" ")
        content, rest = rest[: int(packed)], rest[int(packed) :]
        if name in unread:
            continue
        unpacked = zlib.decompress(content)
        if len(unpacked) != int(size) or name in found:
            raise ValueError(f"{name}: another size, or a member twice")
        found[name] = unpacked
    return found


def lists(text: str) -> list[Any]:
    """Return the S-expressions of a text as tuples, integers and strings; a quoted string keeps its quotes."""
    stack: list[list[Any]] = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            stack[-2].append(tuple(stack.pop()))
        elif not token.startswith(";"):
            stack[-1].append(int(token) if token.isdigit() else token)
    return stack[0]


def number(expression: Any) -> int:
    """Return a number, which may be negative."""
    return -expression[1] if isinstance(expression, tuple) else int(expression)


def read_system(text: str) -> System:
    """Return the system of `system.smt2`."""
    variables: dict[str, tuple[int, int, int]] = {}
    terms: dict[str, tuple[str, Term]] = {}
    actions: list[Action] = []
    properties: list[Property] = []
    for command in lists(text):
        if command[0] == "define-fun":
            terms[command[1]] = command[3], command[4]
        elif command[1] == ":variable":
            name, low, high, first = command[2]
            variables[name] = number(low), number(high), number(first)
        elif command[1] == ":action":
            _, name, kind, guard = command[2]
            actions.append(Action(name, kind, guard, {}))
        elif command[1] == ":next":
            name, term = command[2]
            actions[-1] = replace(actions[-1], updates={**actions[-1].updates, name: term})
        elif command[1] in (":property", ":goal"):
            name, term, witness = command[2]
            properties.append(Property(name, term, witness, command[1] == ":goal"))
    return System(variables, terms, actions, properties)


def false_claims(content: bytes) -> list[str]:
    """Return the claims of a file that the naive explorer contradicts, in words."""
    found = members_of(content)
    texts = {name: text.decode() for name, text in found.items() if name.endswith(".smt2")}
    limits: dict[str, int] = {}
    claims: list[tuple[str, tuple[Any, ...], list[tuple[Any, ...]], list[str], list[str]]] = []
    system, kept, unlimited = "", list[str](), list[str]()
    for head, *words in lists(found["certificate.txt"].decode()):
        if head == "limit":
            limits[words[0]] = words[1]
        elif head == "system":
            system, kept, unlimited = texts[words[0][1:-1]], [], []
        elif head == "field":
            kept.append(words[0])
        elif head == "unlimited":
            unlimited.append(words[0])
        elif head == "claim":
            claims.append((system, tuple(words), [], kept, unlimited))
        elif head in ("witness", "smallest"):
            claims[-1][2].append((head, *words))
    return [
        wrong
        for text, claim, more, names, kinds in claims
        for wrong in contradictions(finite(read_system(text), names), limits, claim, more, kinds)
    ]


def finite(system: System, kept: list[str]) -> System:
    """Return the system of the variables that a part keeps: a change can let other variables grow without end.

    A guard, an update or a property that reads another variable has no value then, and raises KeyError.
    """
    actions = [
        replace(one, updates={name: term for name, term in one.updates.items() if name in kept})
        for one in system.actions
    ]
    variables = {name: domain for name, domain in system.variables.items() if name in kept}
    return replace(system, variables=variables, actions=actions)


def contradictions(
    system: System,
    limits: dict[str, int],
    claim: tuple[Any, ...],
    more: list[tuple[Any, ...]],
    unlimited: list[str],
) -> Iterator[str]:
    """Yield where a claim differs from what the naive explorer finds."""
    name, _, total = claim
    (one,) = [one for one in system.properties if one.name == name]
    claimed = {tuple(sorted(Counter(words[1]).items())) for words in more if words[0] == "smallest"}
    runs = explore(system, limits, total, unlimited)
    found = set(smallest_sets(system, one, runs))
    if found != claimed:
        yield f"{name}: {sorted(found)}, and not {sorted(claimed)}"
    if any(words[0] == "witness" for words in more) and not is_reached(system, runs, one.witness):
        yield f"{name}: no run reaches the witness"


def is_reached(system: System, runs: Runs, term: Term) -> bool:
    """Tell whether a term holds in a state of some runs."""
    return any(system.holds(term, values) for reached in runs.values() for values in reached)
