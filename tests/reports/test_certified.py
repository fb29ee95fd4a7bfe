"""The certificate in reports: named with its hash, and called checked only where its own check is at hand."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

from proofka.properties.certified import Certificate, CheckedBy
from proofka.properties.verdict import Result
from proofka.reports.certified import OF_OTHERS, citation, lines
from proofka.reports.citation import bibtex, paragraph
from proofka.reports.document import result_from_document, to_document
from proofka.reports.formats import Answer
from proofka.reports.html import to_html
from proofka.reports.markdown import escaped, to_markdown
from proofka.reports.schema import problem
from tests.reports import samples

SHA256 = "0123456789abcdef" * 4
CHECK = CheckedBy("certcheck 1.0.0", "fedcba9876543210" * 4, 3.2, "2026-11-27")
IDS = {verdict.property: verdict.id for verdict in samples.RESULT.verdicts}
FIRST = next(iter(IDS))
CERTIFICATE = Certificate("orders.cert", 510_123, SHA256, 1, {FIRST: IDS[FIRST]}, ())


def result(certificate: Certificate | None) -> Result:
    """Return a result with a certificate."""
    return replace(samples.RESULT, certificate=certificate)


UNCHECKED, CHECKED = result(CERTIFICATE), result(replace(CERTIFICATE, checked=CHECK))
OF_ANOTHER = result(replace(CERTIFICATE, checked=CHECK, claims={FIRST: "another id"}))


def html(one: Result) -> str:
    return to_html(samples.DEPLOYMENT, one, command=samples.COMMAND)


def test_the_check_is_told_with_program_duration_and_day() -> None:
    said = "Checked by certcheck 1.0.0 in 3 s on 2026-11-27"
    assert any(said in line for line in lines(CHECKED))
    assert said in html(CHECKED)
    assert escaped(said) in to_markdown(samples.DEPLOYMENT, CHECKED, command=samples.COMMAND)


@pytest.mark.parametrize("one", [UNCHECKED, samples.RESULT, OF_ANOTHER])
def test_no_report_says_checked_without_a_check_of_these_verdicts(one: Result) -> None:
    texts = [
        *lines(one),
        html(one),
        to_markdown(samples.DEPLOYMENT, one, command=samples.COMMAND),
        bibtex(samples.DEPLOYMENT, one, command=samples.COMMAND),
    ]
    assert not [text for text in texts if "hecked by" in text]


def test_the_citation_names_size_hash_version_and_command() -> None:
    said = citation(CHECKED)
    assert said is not None
    for part in ("510,123 bytes", f"SHA-256 {SHA256}", "checked by certcheck 1.0.0", "certcheck orders.cert"):
        assert part in said
        assert part in paragraph(samples.DEPLOYMENT, CHECKED, command=samples.COMMAND)
    assert SHA256 in bibtex(samples.DEPLOYMENT, UNCHECKED, command=samples.COMMAND)
    assert "2026" not in said, "a citation has no date"


def test_a_certificate_of_other_verdicts_is_not_cited() -> None:
    assert citation(OF_ANOTHER) is None
    assert [*lines(OF_ANOTHER)] == [OF_OTHERS]
    assert SHA256 not in html(OF_ANOTHER)


def test_claims_that_the_certificate_lacks_are_named() -> None:
    told = [*lines(result(replace(CERTIFICATE, without_witness=(FIRST,))))]
    others = [name for name in IDS if name != FIRST]
    assert f"Not in the certificate: {', '.join(others)}." in told
    assert any(line.startswith(f"Not proved: {FIRST} is not vacuous") for line in told)
    assert others[0] in str(citation(UNCHECKED))


def test_a_result_without_a_certificate_has_no_section() -> None:
    assert not [*lines(samples.RESULT)]
    assert 'id="certificate"' not in html(samples.RESULT)
    assert 'id="certificate"' in html(UNCHECKED)


def test_json_has_the_certificate_without_its_check() -> None:
    document = json.loads(json.dumps(to_document(samples.DEPLOYMENT, CHECKED, command=samples.COMMAND)))
    assert problem(document) is None
    assert result_from_document(document).certificate == CERTIFICATE
    assert "checked" not in document["certificate"]
    document["certificate"]["checked"] = {}
    assert problem(document) is not None


def test_the_name_of_the_file_breaks_no_report() -> None:
    hostile = result(replace(CERTIFICATE, name=f"<script>{samples.HOSTILE}.cert"))
    assert "<script>[bold" not in html(hostile)
    assert "\x1b" not in "".join(lines(hostile))
    assert all("\n" not in line for line in lines(hostile))


def test_the_pdf_has_the_certificate() -> None:
    pytest.importorskip("reportlab")
    pypdf = pytest.importorskip("pypdf")
    from proofka.reports.pdf import to_pdf

    content = to_pdf([Answer(samples.DEPLOYMENT, CHECKED, samples.COMMAND)])
    text = " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)
    assert "Checked by certcheck 1.0.0 in 3 s on 2026-11-27" in " ".join(text.split())
