"""The certificate of a result as plain values: the file, its claims, and the check of the file by a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from proofka.properties.verdict import Verdict


@dataclass(frozen=True)
class CheckedBy:
    """The check that accepted a certificate.

    ``program``: the checker's name and version. ``sha256``: of the checker's file. ``seconds``: duration of the check.
    ``on``: the day of the check, as YYYY-MM-DD.
    """

    program: str
    sha256: str
    seconds: float
    on: str

    def __str__(self) -> str:
        """Return the check in words, such as ``certcheck 1.0.0 in 3 s on 2026-11-27``."""
        seconds = f"{self.seconds:,.0f}" if self.seconds >= 1 else f"{max(self.seconds, 0.1):.1f}"
        return f"{self.program} in {seconds} s on {self.on}"


@dataclass(frozen=True)
class Certificate:
    """A certificate: name, size in bytes and SHA-256 of the file, and the id of each claim by property.

    ``without_witness``: the claims without a witness, which do not prove that a pass is not vacuous. ``format``: the
    version of the format. ``checked``: the check of this file by the running command; None if no check took place.
    """

    name: str
    bytes: int
    sha256: str
    format: int
    claims: Mapping[str, str]
    without_witness: tuple[str, ...]
    checked: CheckedBy | None = None


def to_document(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as JSON, without its check: a later reader of the JSON has not seen the check."""
    document = asdict(certificate)
    del document["checked"]
    return {**document, "claims": dict(certificate.claims), "without_witness": list(certificate.without_witness)}


def from_document(document: Mapping[str, Any]) -> Certificate:
    """Return the certificate that JSON describes, unchecked. The JSON must satisfy the schema of results."""
    claims, without = dict(document["claims"]), tuple(document["without_witness"])
    return Certificate(**{**document, "claims": claims, "without_witness": without})


def is_of(certificate: Certificate, verdicts: Iterable[Verdict]) -> bool:
    """Tell whether each claim of a certificate has the id of the verdict on its property."""
    ids = {verdict.property: verdict.id for verdict in verdicts}
    return all(ids.get(name) == of_claim for name, of_claim in certificate.claims.items())


def not_covered(name: str) -> str:
    """Return a line on a passed property whose witness is not in the certificate."""
    return f"not proved: {name} is not vacuous: the certificate has no run to its witness"
