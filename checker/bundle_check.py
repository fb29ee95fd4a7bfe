"""Check a bundle again by repeating the computations behind its content; hashes alone cannot show that the content is
right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from proofka.checker.archive import sha256
from proofka.checker.bundle import (
    CERTIFICATE,
    DEPLOYMENT,
    README,
    RESULT,
    Bundle,
    System,
    json_bytes,
    readme,
    systems_of,
)
from proofka.checker.certificates.agreement import verify_named
from proofka.checker.outcomes_check import verify_outcomes
from proofka.checker.tampered import TamperedDocument
from proofka.checker.verify import Verification, counted, verify
from proofka.model.deployment import from_document
from proofka.model.pipeline import VERSION
from proofka.properties.sealing import SEAL, seal

OWN = (README, RESULT, DEPLOYMENT)
"""The members that every bundle has."""


def is_of_this_model(document: Mapping[str, Any]) -> bool:
    """Tell whether this version of the model wrote a result; only then are ids, traces and systems the same."""
    return bool(document["versions"].get("model") == VERSION)


def of_another_model(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the statements about a result that another version of the model wrote, one line each.

    Raise TamperedDocument.
    """
    versions = document["versions"]
    outcomes, certificate = verify_outcomes(document), verify_named(document)
    if document[SEAL] != seal(document):
        raise TamperedDocument("its checksum does not match its content")
    model, proofka = (str(versions.get(name, "unknown"))[:40] for name in ("model", "proofka"))
    return (
        "the checksum of the result is correct",
        *([outcomes] if outcomes else []),
        *([certificate] if certificate else []),
        f"not verified: ids, traces, systems and counts, which belong to model {model}; this is model {VERSION}",
        f"to verify these: proofka {proofka} with model {model}; the systems/ of a bundle need no Proofka",
    )


def recheck(bundle: Bundle) -> Verification:
    """Replay the traces, and compute ids and systems again. Raise TamperedDocument for the first difference."""
    fits_its_result(bundle)
    if bundle.members[README] != readme():
        raise TamperedDocument(f"{README}: is not what this version writes")
    replayed = verify(bundle.document)
    systems, texts = systems_of(from_document(bundle.document["deployment"]), bundle.document)
    _same_systems(bundle, systems, texts)
    what = f"{counted(len(systems), 'system')} computed again"
    compared = f"systems: {what}, with {len(texts)} files that are equal byte by byte"
    return replace(replayed, lines=(*replayed.lines, compared))


def fits_its_result(bundle: Bundle) -> None:
    """Raise TamperedDocument if a bundle has another deployment than its result, or a certificate that its result does
    not name.
    """
    certificate, named = bundle.members.get(CERTIFICATE), bundle.document.get("certificate")
    if certificate is not None and (named is None or named["sha256"] != sha256(certificate)):
        raise TamperedDocument(f"{CERTIFICATE}: is not the certificate that {RESULT} names")
    if bundle.members[DEPLOYMENT] != json_bytes(bundle.document["deployment"]):
        raise TamperedDocument(f"{DEPLOYMENT}: is not the deployment that {RESULT} is about")


def _same_systems(bundle: Bundle, systems: tuple[System, ...], texts: Mapping[str, str]) -> None:
    for one in bundle.members.keys() - texts.keys() - {*OWN, CERTIFICATE}:
        raise TamperedDocument(f"{one}: the model has no such system")
    for name, text in texts.items():
        if name not in bundle.members:
            raise TamperedDocument(f"{name}: is missing")
        said = bundle.members[name].decode("utf-8", "replace").split("\n")
        for number, (line, is_so) in enumerate(zip_longest(said, text.split("\n")), start=1):
            if line != is_so:
                raise TamperedDocument(f"{name}:{number}: is not what the model gives")
    if bundle.systems != systems:
        raise TamperedDocument("manifest.json: does not assign the properties to the systems correctly")
