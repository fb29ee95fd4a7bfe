"""Certifying: the certificate of a finished check is written, read again, and described as a part of the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proofka.checker.archive import sha256_of_file
from proofka.checker.certificates.claims_in_words import proved
from proofka.checker.certificates.reading import Claimed, described, read_certificate
from proofka.checker.certificates.writing import write_certificate
from proofka.checker.check import Run
from proofka.model.input.input_error import InputError
from proofka.properties.certified import Certificate, not_covered
from proofka.properties.verdict import Result, Status


class NotCertified(InputError):
    """No certificate was written, because nothing is proved."""


@dataclass(frozen=True)
class Certified:
    """A written certificate: its description, and for each property without a claim the reason.

    ``claims``: as the file states them, within ``limits`` of each kind of fault. ``states``: number of states in all
    sets. ``unproved``: the verdicts that hold, but whose witness is not in the file.
    """

    certificate: Certificate
    claims: tuple[Claimed, ...]
    limits: Mapping[str, int]
    left_out: Mapping[str, str]
    states: int
    unproved: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Tell whether the certificate proves all that the verdicts say."""
        return not self.left_out and not self.unproved

    def lines(self, file: Path) -> Iterator[str]:
        """Yield what was written to ``file`` and proved, and all that is not proved."""
        one = self.certificate
        each = one.bytes / max(self.states, 1)
        yield f"{file}: {one.bytes:,} bytes, {self.states:,} states, {each:.2f} bytes a state, SHA-256 {one.sha256}"
        for claim in self.claims:
            yield f"proved: {proved(claim, self.limits)}"
        for name, reason in self.left_out.items():
            yield f"not proved: {name}: {reason}"
        for name in one.without_witness:
            yield not_covered(name) + ("" if name in self.unproved else "; the verdict is vacuous, too")
        yield f"check it with: certcheck {file}"


def certify(run: Run, result: Result, file: Path) -> Certified:
    """Write the certificate of a finished check, from the states of its explorations.

    Raise OSError, and :class:`NotCertified`; then no file is left.
    """
    written = write_certificate(run, file, tool=f"Proofka {result.versions['proofka']}")
    if not written.certified:
        file.unlink()
        reasons = dict.fromkeys(written.left_out.values())
        raise NotCertified(f"no property is proved: {'; '.join(reasons)}")
    read = read_certificate(file)
    certificate = described(read, file.name, size=file.stat().st_size, sha256=sha256_of_file(file))
    holds = {verdict.property for verdict in result.verdicts if verdict.status is Status.HOLDS}
    unproved = tuple(name for name in read.without_witness if name in holds)
    return Certified(certificate, read.claims, read.limits, written.left_out, written.states, unproved)
