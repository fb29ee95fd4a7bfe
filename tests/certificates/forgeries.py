"""The registry of forged certificates, and of changes that make no difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.certificates.forged_archive import ARCHIVES
from tests.certificates.forged_evidence import EARLY, EVIDENCE, LOSS, ONE_KILL, READABLE, state, with_states
from tests.certificates.forged_form import (
    CLAIM_TEXTS,
    CLAIMS,
    SYSTEM,
    SYSTEMS,
    nested,
    with_chain,
    with_term,
)
from tests.certificates.forging import (
    Forgery,
    edited,
    of_certificate,
    of_members,
    of_text,
    with_claim,
    with_part,
    with_set,
)
from tests.certificates.proving import LAYOUT, TOTAL, toy_certificate
from tests.certificates.toy import TOY
from tests.certificates.writing import Certificate, archive, certificate_file, members, system_text

FORGERIES: tuple[Forgery, ...] = (*EVIDENCE, *ARCHIVES, *SYSTEMS, *CLAIM_TEXTS)
"""Forged certificates."""


def turned(certificate: Certificate) -> Certificate:
    """Return a certificate with sets, and rows with their ranks, in the opposite order."""
    parts = [
        replace(
            part,
            sets=[replace(one, states=one.states[::-1], ranks=one.ranks[::-1], split=0) for one in part.sets[::-1]],
        )
        for part in certificate.parts
    ]
    return replace(certificate, parts=parts)


def both_claims(certificate: Certificate) -> Certificate:
    """Return a certificate whose first part has the claim of the third part too, up to one fault."""
    claims = [certificate.parts[LOSS].claims[0], replace(certificate.parts[EARLY].claims[0], up_to=1)]
    return with_part(certificate, LOSS, claims=claims)


def with_layout(certificate: Certificate, *layout: Sequence[str]) -> Certificate:
    """Return a certificate with another layout of rows in its first part."""
    return with_part(certificate, LOSS, layout=layout)


def with_ranks_to_spare(certificate: Certificate) -> Certificate:
    """Return a certificate with all ranks of non-goals larger by 1000."""
    sets = [
        replace(one, ranks=[rank and rank + 1000 for rank in one.ranks]) for one in certificate.parts[READABLE].sets
    ]
    return with_part(certificate, READABLE, sets=sets)


def with_state_of_a_smaller_set(certificate: Certificate) -> Certificate:
    """Return a certificate in which a set has a state of the set of no faults."""
    return with_states(certificate, LOSS, ONE_KILL, [state()])


def with_line_breaks(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with other spaces in the texts."""
    return {name: spaced(content) if name in (CLAIMS, SYSTEM) else content for name, content in all_members.items()}


def with_late_property(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members with a system whose first property stands at the end."""
    line = b'(set-info :property ("no-loss" p0 w0))\n'
    assert line in all_members[SYSTEM]
    return {**all_members, SYSTEM: all_members[SYSTEM].replace(line, b"") + line}


def with_shared_rows(all_members: dict[str, bytes]) -> dict[str, bytes]:
    """Return members of which one is listed by two parts."""
    text = edited(all_members[CLAIMS], {'"2/0.0"': '"0/0.0"'})
    assert all_members["2/0.0"] == all_members["0/0.0"]
    return {name: content for name, content in {**all_members, CLAIMS: text}.items() if name != "2/0.0"}


HEAD = b"(set-info :smt-lib-version 2.6)\n(set-logic QF_LIA)\n"
"""The first lines of a system."""


def spaced(text: bytes) -> bytes:
    """Return a text with other line breaks and parentheses that touch; the first lines of a system are fixed."""
    return text[: len(HEAD)] + text[len(HEAD) :].replace(b"\n", b"\r\n\t ").replace(b") (", b")(")


HARMLESS: tuple[Forgery, ...] = (
    of_members("", "the file as it is", lambda found: found),
    of_members("", "members in another order", lambda found: dict(sorted(found.items(), reverse=True))),
    of_members(
        "",
        "comments",
        lambda found: {**found, CLAIMS: b"; a (\n" + found[CLAIMS], SYSTEM: found[SYSTEM] + b";\xe2\x82\xac"},
    ),
    of_members("", "another README", lambda found: {**found, "README.txt": b"\xff\0"}),
    of_members(
        "",
        "no README and no deployment",
        lambda found: {name: found[name] for name in found if name not in ("README.txt", "deployment.json")},
    ),
    of_members("", "other spaces and line breaks", with_line_breaks),
    Forgery("every member is packed well", "", lambda: archive(members(toy_certificate()), [9])),
    Forgery("no member is compressed", "", lambda: archive(members(toy_certificate()), [0])),
    Forgery("the system", "", lambda: certificate_file(toy_certificate()), system=system_text(TOY).encode()),
    of_certificate("", "other words about the file", lambda c: replace(c, about='(about a "b ""c""")')),
    of_certificate("", "sets and rows in another order", turned),
    of_certificate("", "parts in another order", lambda c: replace(c, parts=c.parts[::-1])),
    of_certificate("", "a part with two claims", both_claims),
    of_certificate("", "a claim without a witness", lambda c: with_claim(c, LOSS, witness=None)),
    of_certificate("", "a claim with a smaller total", lambda c: with_claim(c, EARLY, up_to=TOTAL - 1)),
    of_certificate("", "a claim with the total 0", lambda c: with_claim(c, EARLY, up_to=0)),
    of_certificate("", "a part with unused words", lambda c: with_layout(c, [], *LAYOUT, [])),
    of_certificate("", "a part with a single word", lambda c: with_layout(c, sum(LAYOUT, ()))),
    of_certificate("", "a part with other places", lambda c: with_layout(c, *LAYOUT[::-1])),
    of_certificate("", "a set in one member", lambda c: with_set(c, LOSS, ONE_KILL, split=0)),
    of_certificate("", "larger ranks", with_ranks_to_spare),
    of_certificate("", "a set with a state of a smaller set", with_state_of_a_smaller_set),
    of_certificate("", "99 open parentheses of a term", lambda c: with_term(c, nested(100), "Bool")),
    of_certificate("", "a term of 2000 levels by its names", lambda c: with_chain(c, 2000)),
    of_text("", "a guard is true", SYSTEM, {"none g9)": "none true)"}),
    of_text("", "a next value is a numeral", SYSTEM, {"(drift u9.drift)": "(drift (- 1))"}),
    of_members("", "a property stands behind a goal", with_late_property),
    of_certificate("", "a certificate without words about the file", lambda c: replace(c, about="")),
    of_members("", "a member is listed by two parts", with_shared_rows),
    of_certificate("", "the greatest number of 16 bits", lambda c: with_term(c, ("-", 0, ("-", 2**15 - 1)))),
    of_certificate("", "the least number of 16 bits", lambda c: with_term(c, ("-", ("-", 2**15 - 1), "up_a"))),
    of_certificate("", "a sum of 3000 terms", lambda c: with_term(c, ("+", *["seen"] * 3000))),
    of_certificate("", "a disjunction of 3000 terms", lambda c: with_term(c, ("or", *["true"] * 3000), "Bool")),
)
"""Changes that make no difference: a checker accepts the file."""
