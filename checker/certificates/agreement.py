"""The comparison of a certificate with a result: the claims must be about the verdicts, and prove what these say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from proofka.checker.certificates.reading import Certificate, Claimed
from proofka.checker.tampered import TamperedDocument
from proofka.properties import certified

Document = Mapping[str, Any]


class CoversFewerFaults(TamperedDocument):
    """A certificate that proves a verdict for fewer faults than the verdict is about."""


def agree(read: Certificate, certificate: certified.Certificate, document: Document) -> tuple[str, ...]:
    """Compare a certificate with the result that cites the certificate; return a line for each kind of comparison.

    ``read``: the texts of the file. ``certificate``: the file. Raise TamperedDocument for the first difference: another
    file than the result names, another id, a claim that covers fewer faults, or other smallest fault sets.
    """
    named = document.get("certificate")
    if named is not None:
        said = certified.from_document(named)
        if (said.sha256, said.bytes) != (certificate.sha256, certificate.bytes):
            raise TamperedDocument(
                f"the result names a certificate with the SHA-256 {said.sha256}; this is another one"
            )
        if said.claims != certificate.claims or said.without_witness != certificate.without_witness:
            raise TamperedDocument("the result names other claims than its certificate has")
    claims_agree(read.claims, document)
    missing = [verdict["property"] for verdict in document["verdicts"] if verdict["property"] not in certificate.claims]
    lines = [f"certificate: its {len(read.claims)} claims are those of the verdicts: ids, faults, smallest fault sets"]
    return (*lines, *([f"not in the certificate: {', '.join(missing)}"] if missing else []))


def claims_agree(claims: Iterable[Claimed], document: Document) -> None:
    """Raise TamperedDocument for the first claim that is not what the verdict of a result says."""
    verdicts = {verdict["property"]: verdict for verdict in document["verdicts"]}
    for claim in claims:
        name, verdict = claim.property, verdicts.get(claim.property)
        if verdict is None:
            raise TamperedDocument(f"{name}: the certificate has a claim, and the result has no verdict")
        if verdict["id"] != claim.id:
            raise TamperedDocument(
                f"{name}: the claim of the certificate has another id than the verdict, so it answers another "
                "question: the certificate was written with other faults (--faults), sizes or settings"
            )
        if lacking := set(verdict["bounds"].get("any_number", ())) - claim.unlimited:
            told = f"the certificate is for a number of {', '.join(sorted(lacking))}, and the verdict for any number"
            raise CoversFewerFaults(f"{name}: {told}")
        covered = verdict["bounds"]["faults_complete_to"]
        if claim.up_to < covered:
            told = f"the certificate covers up to {claim.up_to} faults, and the verdict up to {covered}"
            raise CoversFewerFaults(f"{name}: {told}")
        told_sets = {tuple(sorted(one.items())) for one in verdict["cut_sets"] if sum(one.values()) <= covered}
        proved = {one for one in claim.smallest if sum(count for _, count in one) <= covered}
        if told_sets != proved:
            raise TamperedDocument(f"{name}: the certificate has other smallest fault sets than the verdict")


def verify_named(document: Document) -> str | None:
    """Return a line on the certificate that a result names, or None without one.

    Raise TamperedDocument if a claim has another id than the verdict.
    """
    named = document.get("certificate")
    if named is None:
        return None
    certificate = certified.from_document(named)
    ids = {verdict["property"]: verdict["id"] for verdict in document["verdicts"]}
    for name, of_claim in certificate.claims.items():
        if ids.get(name) != of_claim:
            raise TamperedDocument(
                f"{name}: the result names a certificate whose claim has another id than the verdict"
            )
    return f"certificate named in the result: {certificate.name} (SHA-256 {certificate.sha256})"
