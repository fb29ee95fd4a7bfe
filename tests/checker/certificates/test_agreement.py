"""A certificate beside a result: each difference between claims and verdicts is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofka.checker.certificates.agreement import CoversFewerFaults, agree, claims_agree, verify_named
from proofka.checker.certificates.reading import Certificate, Claimed, described
from proofka.checker.tampered import TamperedDocument
from proofka.properties.certified import to_document

KILL = (("kill", 1),)
CLAIM = Claimed("system.smt2", "no-loss", "00aa", 1, (KILL,), has_witness=True)
READ = Certificate({}, {}, {}, "0", {}, (CLAIM,), 5, 1)
FILE = described(READ, "a.cert", size=7, sha256="0" * 64)


def document(**bounds: Any) -> dict[str, Any]:
    """Return the parts of a result that a certificate is compared with."""
    verdict = {"property": "no-loss", "id": "00aa", "bounds": {"faults_complete_to": 1}, "cut_sets": [{"kill": 1}]}
    other = {"property": "no-skip", "id": "00bb", "bounds": {"faults_complete_to": 1}, "cut_sets": []}
    return {"verdicts": [{**verdict, **bounds}, other], "certificate": to_document(FILE)}


def test_an_equal_certificate_agrees() -> None:
    lines = agree(READ, FILE, document())
    assert lines[0].startswith("certificate: its 1 claims are those of the verdicts")
    assert lines[1] == "not in the certificate: no-skip"
    assert verify_named(document()) == f"certificate named in the result: a.cert (SHA-256 {'0' * 64})"
    assert verify_named({"verdicts": []}) is None


def test_a_claim_for_more_faults_agrees() -> None:
    larger = replace(CLAIM, up_to=2, smallest=(KILL, (("cut-off", 2),)))
    claims_agree([larger], document())


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        (replace(CLAIM, property="no-other"), "the result has no verdict"),
        (replace(CLAIM, id="00ab"), "another id"),
        (replace(CLAIM, smallest=()), "other smallest fault sets"),
        (replace(CLAIM, smallest=(KILL, (("cut-off", 1),))), "other smallest fault sets"),
        (replace(CLAIM, smallest=((("kill", 2),),), up_to=2), "other smallest fault sets"),
        (replace(CLAIM, up_to=0), "covers up to 0 faults, and the verdict up to 1"),
    ],
)
def test_a_difference_of_a_claim_is_named(claim: Claimed, named: str) -> None:
    with pytest.raises(TamperedDocument, match=named):
        agree(replace(READ, claims=(claim,)), FILE, document())


def test_fewer_faults_are_no_contradiction() -> None:
    with pytest.raises(CoversFewerFaults):
        claims_agree([replace(CLAIM, up_to=0)], document())


def test_another_file_than_the_named_one_is_refused() -> None:
    for other in (replace(FILE, sha256="1" * 64), replace(FILE, bytes=8)):
        with pytest.raises(TamperedDocument, match="this is another one"):
            agree(READ, other, document())
    named = {**document(), "certificate": to_document(replace(FILE, claims={"no-loss": "00aa", "no-skip": "00bb"}))}
    with pytest.raises(TamperedDocument, match="names other claims"):
        agree(READ, FILE, named)


def test_a_named_certificate_of_another_verdict_is_refused() -> None:
    with pytest.raises(TamperedDocument, match=r"no-loss: .* another id"):
        verify_named(document(id="00ff"))
