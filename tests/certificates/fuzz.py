"""Random changes of the toy's certificate, none of which a checker may accept wrongly.

``python -m tests.certificates.fuzz --count N`` tries the plain checker; with ``--checker PATH`` another program. With
``--against PATH`` another checker answers too, and each file that one of them accepts and the other refuses is wrong.

A changed file that is accepted needs an argument: the change makes no difference by its kind (order of rows, comments,
words about the file), or the contents of all members are the same (bytes of the archive), or the naive explorer finds
that all claims of the changed file are true.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.certificates.checkers import NO_LIMIT, Answer, Checker, plain, program
from tests.certificates.forging import with_claim, with_part, with_set, with_smallest
from tests.certificates.proving import KEPT, toy_certificate
from tests.certificates.reading import false_claims, members_of
from tests.certificates.toy import TOY, Combination, Values, more
from tests.certificates.writing import archive, certificate_file, members

Change = Callable[[random.Random], bytes]
TEXTS = ("certificate.txt", "system.smt2", "system.1.smt2")
UNREAD = ("README.txt", "deployment.json", "times.json")
TOKEN = re.compile(r'"(?:[^"]|"")*"|[()]|[^\s()";]+')
FIXED = re.compile(r"\A\(set-info :smt-lib-version 2\.6\)\n\(set-logic QF_LIA\)\n|\(- [0-9]+\)")
"""The first lines of a system, and negative numbers, in which nothing else can stand."""
ARGUMENTS = ("harmless by its kind", "the same contents", "all claims are true")


def random_state(dice: random.Random) -> Values:
    """Return a state within the domains."""
    return tuple(dice.randint(*TOY.variables[name][:2]) for name in KEPT)


def other_state(dice: random.Random, values: Values) -> Values:
    """Return a state that differs in one variable."""
    at = dice.randrange(len(KEPT))
    low, high, _ = TOY.variables[KEPT[at]]
    value = dice.choice([value for value in range(low, high + 1) if value != values[at]])
    return (*values[:at], value, *values[at + 1 :])


def changed_list(dice: random.Random, items: list[Any], fresh: Callable[[Any], Any]) -> list[Any]:
    """Return a list with an item dropped, added or changed; `fresh` makes an item, of another one if there is one."""
    kind, at = dice.choice(["drop", "add", "change"]), dice.randrange(len(items) or 1)
    if kind == "add" or not items:
        return [*items[:at], fresh(None), *items[at:]]
    return [*items[:at], *([fresh(items[at])] if kind == "change" else []), *items[at + 1 :]]


def changed_states(dice: random.Random, states: list[Values]) -> list[Values]:
    """Return states of which one is dropped, added or changed."""
    return changed_list(dice, states, lambda one: other_state(dice, one) if one else random_state(dice))


def changed_trace(dice: random.Random, trace: list[int]) -> list[int]:
    """Return a trace of which an action is dropped, added or changed."""
    return changed_list(dice, trace, lambda _: dice.randrange(len(TOY.actions)))


def changed_faults(dice: random.Random, faults: Combination) -> Combination:
    """Return a combination with a fault more or less."""
    kind = dice.choice(TOY.kinds)
    return more(faults, kind, -1 if dict(faults).get(kind) and dice.random() < 0.5 else 1)


def a_set(dice: random.Random) -> bytes:
    """Change a set: its states, their ranks, or its combination."""
    certificate = toy_certificate()
    part = dice.randrange(len(certificate.parts))
    index = dice.randrange(len(certificate.parts[part].sets))
    one = certificate.parts[part].sets[index]
    kind = dice.randrange(8)
    if kind == 0:
        one = replace(one, faults=changed_faults(dice, one.faults))
    elif kind == 1 and one.ranks:
        ranks = list(one.ranks)
        ranks[dice.randrange(len(ranks))] = dice.randrange(9)
        one = replace(one, ranks=ranks)
    else:
        known = dict(zip(one.states, one.ranks, strict=True)) if one.ranks else {}
        states = changed_states(dice, list(one.states))
        new = [known.get(state, dice.randrange(9)) for state in states] if one.ranks else ()
        one = replace(one, states=states, ranks=new, split=min(one.split, len(states)))
    return certificate_file(with_set(certificate, part, index, **vars(one)))


def several_states(dice: random.Random) -> bytes:
    """Add all states that agree with a random one in some variables, which are more often closed under steps."""
    certificate = toy_certificate()
    part, kept = dice.choice([0, 2]), dice.sample(range(len(KEPT)), 3)
    index = dice.randrange(len(certificate.parts[part].sets))
    found = {random_state(dice) for _ in range(500)}
    like = random_state(dice)
    states = certificate.parts[part].sets[index].states
    added = [one for one in found if one not in states and all(one[at] == like[at] for at in kept)]
    return certificate_file(with_set(certificate, part, index, states=[*states, *added]))


def a_part(dice: random.Random) -> bytes:
    """Change a part: its sets, covered or unlimited kinds, or its claim."""
    certificate = toy_certificate()
    part = dice.randrange(len(certificate.parts))
    one, claim = certificate.parts[part], certificate.parts[part].claims[0]
    kind = dice.randrange(7)
    if kind == 6:
        unlimited = dice.sample(TOY.kinds, dice.randrange(len(TOY.kinds)))
        return certificate_file(with_part(certificate, part, unlimited=unlimited))
    if kind == 0:
        at = dice.randrange(len(one.sets))
        return certificate_file(with_part(certificate, part, sets=[*one.sets[:at], *one.sets[at + 1 :]]))
    if kind == 1:
        covered = {dice.choice(TOY.kinds): dice.choice(TOY.kinds) for _ in range(dice.randrange(3))}
        return certificate_file(with_part(certificate, part, covered=covered))
    if kind == 2:
        return certificate_file(with_claim(certificate, part, up_to=dice.randrange(5)))
    if kind == 3:
        witness = changed_trace(dice, list(claim.witness or ()))
        return certificate_file(with_claim(certificate, part, witness=witness))
    if kind == 4:
        name = dice.choice(TOY.properties).name
        return certificate_file(with_claim(certificate, part, name=name))
    return certificate_file(with_claim(certificate, part, smallest=[*claim.smallest[1:], *claim.smallest[:0]]))


def a_smallest_set(dice: random.Random) -> bytes:
    """Change a smallest fault set: its faults, or its trace."""
    certificate, part = toy_certificate(), dice.choice([0, 1])
    one = certificate.parts[part].claims[0].smallest[0]
    kind = dice.randrange(2)
    if kind == 0:
        one = replace(one, faults=changed_faults(dice, one.faults))
    if kind == 1 or dice.random() < 0.3:
        one = replace(one, trace=changed_trace(dice, list(one.trace)))
    return certificate_file(with_smallest(certificate, part, **vars(one)))


def limits(dice: random.Random) -> bytes:
    """Change the limit of a kind."""
    certificate = toy_certificate()
    return certificate_file(
        replace(certificate, limits={**certificate.limits, dice.choice(TOY.kinds): dice.randrange(4)})
    )


def a_token(dice: random.Random) -> bytes:
    """Drop, repeat, replace, or exchange tokens of a text."""
    found, name = members(toy_certificate()), dice.choice(TEXTS)
    text = found[name].decode()
    tokens = list(TOKEN.finditer(text))
    one, other = dice.choice(tokens), dice.choice(tokens)
    kind = dice.randrange(5)
    new = {0: "", 1: f"{one.group()} {one.group()}", 2: other.group(), 3: other.group(), 4: other.group()}[kind]
    if one.group().isdigit() and dice.random() < 0.8:
        new = str(max(0, int(one.group()) + dice.choice([-2, -1, 1, 2])))
    elif dice.random() < 0.5:
        alike = [token.group() for token in tokens if is_alike(token.group(), one.group())]
        new = dice.choice(alike or [new])
    changed = text[: one.start()] + new + text[one.end() :]
    return archive({**found, name: changed.encode()})


def is_alike(one: str, other: str) -> bool:
    """Tell whether two different tokens could stand in each other's place."""
    return one != other and [one.isdigit(), one.isalpha(), one[0]] == [other.isdigit(), other.isalpha(), other[0]]


def a_term(dice: random.Random) -> bytes:
    """Replace a list in the system by one of its parts, by a truth value, or by another list of the system."""
    found = members(toy_certificate())
    text = found["system.smt2"].decode()
    pieces = [match for match in re.finditer(r"\([^()]*\)", text) if match.group()[1] in "aino=<>+-*d"]
    one, other = dice.choice(pieces), dice.choice(pieces)
    new = dice.choice(["true", "false", other.group(), f"(not {one.group()})", *one.group()[1:-1].split()[1:]])
    changed = text[: one.start()] + new + text[one.end() :]
    return archive({**found, "system.smt2": changed.encode()})


def a_member(dice: random.Random) -> bytes:
    """Change the content of a member, with the right check sum; or drop, exchange or add members."""
    found = members(toy_certificate())
    name, other = dice.sample([one for one in found if one not in UNREAD], 2)
    content, kind = found[name], dice.randrange(8)
    at = dice.randrange(len(content))
    if kind < 4:
        found[name] = content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :]
    elif kind == 4:
        found[name] = content[:at]
    elif kind == 5:
        found[name] = content + bytes([dice.randrange(256)]) * dice.randrange(1, 20)
    elif kind == 6:
        found[name], found[other] = found[other], content
    else:
        found.update({f"{name}.": content})
        del found[dice.choice([name, f"{name}.", other])]
    return archive(found)


def bytes_of_the_file(dice: random.Random) -> bytes:
    """Flip, drop, add or copy bytes of the archive."""
    content = certificate_file(toy_certificate())
    at, kind = dice.randrange(len(content)), dice.randrange(6)
    if kind < 3:
        return content[:at] + bytes([content[at] ^ 1 << dice.randrange(8)]) + content[at + 1 :]
    if kind == 3:
        return content[:at] + content[at + dice.randrange(1, 30) :]
    if kind == 4:
        return content[:at] + dice.randbytes(dice.randrange(1, 30)) + content[at:]
    other = dice.randrange(len(content))
    piece = content[other : other + dice.randrange(1, 60)]
    return content[:at] + piece + content[at + len(piece) :]


def order_of_rows(dice: random.Random) -> bytes:
    """Change the order of the rows of all sets, together with their ranks."""
    certificate = toy_certificate()
    for part, one in enumerate(certificate.parts):
        for index, of_set in enumerate(one.sets):
            order = dice.sample(range(len(of_set.states)), len(of_set.states))
            states = [of_set.states[at] for at in order]
            ranks = [of_set.ranks[at] for at in order] if of_set.ranks else ()
            certificate = with_set(certificate, part, index, states=states, ranks=ranks, split=dice.randrange(15))
    return certificate_file(certificate)


def comments(dice: random.Random) -> bytes:
    """Put a comment between two tokens of a text, but not into a part that the page spells to the letter."""
    found, name = members(toy_certificate()), dice.choice(TEXTS)
    text = found[name].decode()
    spelt = [place for one in FIXED.finditer(text) for place in range(one.start() + 1 if one.start() else 0, one.end())]
    at = dice.choice([token.start() for token in TOKEN.finditer(text) if token.start() not in spelt])
    words = "".join(dice.choice('()";| aé\\0') for _ in range(dice.randrange(20)))
    return archive({**found, name: f"{text[:at]};{words}\n{text[at:]}".encode()})


def words_about_the_file(dice: random.Random) -> bytes:
    """Change `about`, and the members that no checker reads."""
    certificate = replace(toy_certificate(), about=f'(about deployment "{dice.random()}")')
    return archive({**members(certificate), **{name: dice.randbytes(30) for name in UNREAD}})


HARMLESS: tuple[Change, ...] = (order_of_rows, comments, words_about_the_file)
CHANGES: tuple[Change, ...] = (
    *(a_set, several_states, a_part, a_smallest_set, limits, a_token, a_token, a_term, a_member, bytes_of_the_file),
    *HARMLESS,
)


def contents(file: bytes) -> dict[str, bytes] | None:
    """Return the contents that a checker reads; None if this is no certificate."""
    try:
        return members_of(file, UNREAD)
    except (ValueError, zlib.error):
        return None


def argument_for(change: Change, file: bytes) -> str | None:
    """Return why an accepted file may be accepted; None if a claim of the file is false."""
    if change in HARMLESS:
        return ARGUMENTS[0]
    if contents(file) == contents(certificate_file(toy_certificate())):
        return ARGUMENTS[1]
    try:
        return None if false_claims(file) else ARGUMENTS[2]
    except Exception:  # no text of a certificate, or a system that is too large: there is no argument
        return None


def asked(checker: Checker, file: Path) -> Answer:
    """Return what a checker says about a file."""
    return checker([str(file), "--memory", NO_LIMIT if checker is plain else "256MiB"])


def is_too_large(text: str) -> bool:
    """Tell whether a checker refuses a file for a limit of its own, before it has looked for other reasons."""
    return text.startswith(("refused: limits:", "refused: memory:"))


def tries(
    count: int, seed: int, checker: Checker, folder: Path, other: Checker | None = None
) -> Iterator[tuple[str, str, int]]:
    """Yield for each changed file the name of the change, the outcome, and the seed; `WRONG` begins a wrong outcome.

    `other`: a checker whose exit status must be the same, unless a file is too large for one of the two.
    """
    file = folder / "changed.cert"
    honest = certificate_file(toy_certificate())
    for number in range(seed, seed + count):
        dice = random.Random(number)
        change = dice.choice(CHANGES)
        content = change(dice)
        file.write_bytes(content)
        status, text = asked(checker, file)
        if status == 0:
            argument = "unchanged" if content == honest else argument_for(change, content)
            outcome = f"accepted: {argument}" if argument else "WRONG: accepted, and a claim is false"
        elif change in HARMLESS:
            outcome = f"WRONG: refused, and the change is harmless: {text}"
        elif status == 1 and text.startswith("refused: ") and text.count("\n") == 1:
            outcome = f"refused: {text.split(':')[1].strip()}"
        elif status == 2 and text.startswith("not a certificate: ") and text.count("\n") == 1:
            outcome = "refused: format"
        else:
            outcome = f"WRONG: status {status}: {text}"
        yield change.__name__, outcome, number
        if other is not None:
            found = asked(other, file)
            if found.status != status and not is_too_large(text) and not is_too_large(found.text):
                yield (
                    change.__name__,
                    f"WRONG: status {status}, the other checker's {found.status}: {text}{found.text}",
                    number,
                )


def main() -> int:
    """Try as often as the options say, and print how many files were accepted or refused, and why."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="number of changed files (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first file (default: 0)")
    parser.add_argument("--checker", type=Path, help="a program (default: the plain checker, in this process)")
    parser.add_argument("--against", type=Path, help="another program, which must answer the same")
    options = parser.parse_args()
    outcomes: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        checker = program(options.checker) if options.checker else plain
        other = program(options.against) if options.against else None
        for name, outcome, seed in tries(options.count, options.seed, checker, Path(folder), other):
            if outcome.startswith("WRONG"):
                wrong += 1
                print(f"seed {seed}: {name}: {outcome}")
            outcomes[outcome.partition("\n")[0] if wrong else outcome] += 1
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:8} {outcome}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
