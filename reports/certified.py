"""The certificate of a result in words: the file, what the file proves, its check, and how to check the file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from proofka.properties.certified import Certificate, is_of, not_covered
from proofka.properties.verdict import Result
from proofka.reports import wording

OF_OTHERS = "The result names a certificate of other verdicts, which is not cited."


def citation(result: Result) -> str | None:
    """Return the certificate as a sentence without a date, or None without a certificate of these verdicts."""
    certificate = result.certificate
    if certificate is None or not is_of(certificate, result.verdicts):
        return None
    checked = "" if certificate.checked is None else f", checked by {certificate.checked.program}"
    missing = _missing(result, certificate)
    without = f" The certificate does not prove {', '.join(missing)}." if missing else ""
    return f"Certificate: {_file(certificate)}{checked}; to check the file: {command(certificate)}.{without}"


def lines(result: Result) -> Iterator[str]:
    """Yield the lines of a report on the certificate: the file, its claims, its check, and the command to check it."""
    certificate = result.certificate
    if certificate is None:
        return
    if not is_of(certificate, result.verdicts):
        yield OF_OTHERS
        return
    yield f"{_file(certificate)}."
    yield f"Proves: {', '.join(certificate.claims) or 'nothing'}."
    missing = _missing(result, certificate)
    if missing:
        yield f"Not in the certificate: {', '.join(missing)}."
    for name in certificate.without_witness:
        told = not_covered(name)
        yield f"{told[0].upper()}{told[1:]}."
    yield _checked(certificate)
    yield f"To check the file: {command(certificate)}"


def _missing(result: Result, certificate: Certificate) -> list[str]:
    """Return the properties that a certificate has no claim on."""
    return [verdict.property for verdict in result.verdicts if verdict.property not in certificate.claims]


def _file(certificate: Certificate) -> str:
    size = f"{certificate.bytes:,} bytes"
    return f"{wording.plain(certificate.name)}, {size}, SHA-256 {certificate.sha256}, format {certificate.format}"


def _checked(certificate: Certificate) -> str:
    checked = certificate.checked
    if checked is None:
        return "The command that wrote this report did not check the certificate."
    return f"Checked by {checked}, by the program with the SHA-256 {checked.sha256}."


def command(certificate: Certificate) -> str:
    """Return the command that checks a certificate."""
    return wording.plain(shlex.join(["certcheck", certificate.name]))
