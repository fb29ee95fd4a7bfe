"""The registry of forged certificates, and of changes that make no difference."""

from __future__ import annotations

from dataclasses import replace

from tests.certificates.forged_archive import ARCHIVES
from tests.certificates.forged_evidence import EARLY, EVIDENCE, LOSS, ONE_KILL, READABLE, state, with_states
from tests.certificates.forged_form import (
    CLAIM_TEXTS,
    CLAIMS,
    SYSTEM,
    SYSTEMS,
    nested,
    with_term,
)
from tests.certificates.forging import Forgery, of_certificate, of_members, with_claim, with_part, with_set
from tests.certificates.proving import PLACES, TOTAL, toy_certificate
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


def with_places(certificate: Certificate, **places: int) -> Certificate:
    """Return a certificate with other places of fields in its first part."""
    return with_part(certificate, LOSS, places={**PLACES, **places})


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


def spaced(text: bytes) -> bytes:
    """Return a text with other line breaks and parentheses that touch."""
    return text.replace(b"\n", b"\r\n\t ").replace(b") (", b")(")


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
    of_certificate("", "other words about the file", lambda c: replace(c, about='(a (b "c""d") 7) ()')),
    of_certificate("", "sets and rows in another order", turned),
    of_certificate("", "parts in another order", lambda c: replace(c, parts=c.parts[::-1])),
    of_certificate("", "a part with two claims", both_claims),
    of_certificate("", "a claim without a witness", lambda c: with_claim(c, LOSS, witness=None)),
    of_certificate("", "a claim with a smaller total", lambda c: with_claim(c, EARLY, up_to=TOTAL - 1)),
    of_certificate("", "a claim with the total 0", lambda c: with_claim(c, EARLY, up_to=0)),
    of_certificate("", "a part with an unused word", lambda c: with_places(c, up_a=191, answer=192, seen=61)),
    of_certificate("", "a part with other places", lambda c: with_places(c, log_a=190, seen=69)),
    of_certificate("", "a set in one member", lambda c: with_set(c, LOSS, ONE_KILL, split=0)),
    of_certificate("", "larger ranks", with_ranks_to_spare),
    of_certificate("", "a set with a state of a smaller set", with_state_of_a_smaller_set),
    of_certificate("", "a term of 200 levels", lambda c: with_term(c, nested(200), "Bool")),
    of_certificate("", "the greatest number", lambda c: with_term(c, ("-", 0, ("-", 2**31 - 1)))),
    of_certificate("", "the least number", lambda c: with_term(c, ("-", ("-", 2**31 - 1), "up_a"))),
    of_certificate("", "a sum of 3000 terms", lambda c: with_term(c, ("+", *["seen"] * 3000))),
    of_certificate("", "a disjunction of 3000 terms", lambda c: with_term(c, ("or", *["true"] * 3000), "Bool")),
)
"""Changes that make no difference: a checker accepts the file."""
