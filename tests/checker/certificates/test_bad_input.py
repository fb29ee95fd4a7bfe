"""Bad input to ``proofka verify``: each file ends with a line of its own and its status, before memory is taken."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from checker import cli
from checker.certificates.reading import TooMuchMemory, expression, is_certificate, read_certificate
from checker.certificates.writing import write_certificate
from checker.zip_members import CENTRAL_MARK, LOCAL_MARK
from model.input.strict_json import read_json
from tests.checker.asking import deployment_of, run
from tests.checker.test_verify import DEPLOYMENT

pytestmark = pytest.mark.usefixtures("no_fast_checker")

MEBIBYTE = 1 << 20
MEMORY = 64 * MEBIBYTE
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    write_certificate(run(deployment_of(DEPLOYMENT, folder), ["no-acked-loss"]), folder / "a.cert", tool="a test")
    return (folder / "a.cert").read_bytes()


def members_of(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Members, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return written.getvalue()


def member(name: str, content: bytes | Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Return the change of a certificate that writes a member anew."""

    def change(good: bytes) -> bytes:
        members = members_of(good)
        return zipped({**members, name: content if isinstance(content, bytes) else content(members[name])})

    return change


def text(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return the change of a certificate that replaces a part of ``certificate.txt``."""

    def change(content: bytes) -> bytes:
        changed, times = re.subn(old, new, content.decode(), count=1)
        assert times, old
        return changed.encode()

    return member("certificate.txt", change)


def without(name: str) -> Callable[[bytes], bytes]:
    return lambda good: zipped({one: content for one, content in members_of(good).items() if one != name})


def in_directory(place: int, value: int) -> Callable[[bytes], bytes]:
    """Return the change of a number of 32 bits in the first entry of the directory."""

    def change(good: bytes) -> bytes:
        at = good.index(CENTRAL_MARK) + place
        return good[:at] + struct.pack("<I", value) + good[at + 4 :]

    return change


def encrypted(good: bytes) -> bytes:
    content = bytearray(good)
    for mark, place in ((LOCAL_MARK, 6), (CENTRAL_MARK, 8)):
        for found in re.finditer(re.escape(mark), good):
            content[found.start() + place] |= 1
    return bytes(content)


def twice(good: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning, match="Duplicate"):
        for name, content in [*members_of(good).items(), ("certificate.txt", members_of(good)["certificate.txt"])]:
            archive.writestr(name, content)
    return written.getvalue()


NO_CERTIFICATE, REFUSED, NOT_VERIFIED = 2, 1, 3
KINDS: dict[str, tuple[Callable[[bytes], bytes], int, str]] = {
    "nothing": (lambda good: b"", NO_CERTIFICATE, "no ZIP archive"),
    "text": (lambda good: b"(proofka-certificate 1)\n", NO_CERTIFICATE, "no ZIP archive"),
    "cut in half": (lambda good: good[: len(good) // 2], NO_CERTIFICATE, "no ZIP archive"),
    "last byte cut": (lambda good: good[:-1], NO_CERTIFICATE, "no ZIP archive"),
    "a byte behind": (lambda good: good + b"\0", NO_CERTIFICATE, "bytes behind its end"),
    "line ends converted": (lambda good: good.replace(b"\n", b"\r\n"), NO_CERTIFICATE, "is no certificate"),
    "another archive": (lambda good: zipped({"a.txt": b"a"}), NO_CERTIFICATE, "certificate.txt"),
    "no deployment": (without("deployment.json"), NO_CERTIFICATE, "deployment.json"),
    "no times": (without("times.json"), NO_CERTIFICATE, "times.json"),
    "no system": (without("system.smt2"), NO_CERTIFICATE, "system.smt2"),
    "encrypted": (encrypted, NO_CERTIFICATE, "encrypted"),
    "another compression": (
        lambda good: zipped(members_of(good), zipfile.ZIP_BZIP2),
        NO_CERTIFICATE,
        "not a certificate",
    ),
    "a member twice": (twice, NO_CERTIFICATE, "twice"),
    "a place beyond the file": (in_directory(42, 0x7FFFFFFF), NO_CERTIFICATE, "certificate"),
    "a wrong checksum": (in_directory(16, 0), NO_CERTIFICATE, "certificate"),
    "a directory elsewhere": (
        lambda good: good[:-6] + struct.pack("<I", 0xFFFFFFF0) + good[-2:],
        NO_CERTIFICATE,
        "before its beginning",
    ),
    "no UTF-8": (member("certificate.txt", b"\xff"), NO_CERTIFICATE, "cannot be read"),
    "an open list": (member("certificate.txt", b"(proofka-certificate 1"), NO_CERTIFICATE, "without an end"),
    "two lists": (member("certificate.txt", lambda old: old + b"(x)"), NO_CERTIFICATE, "not one list"),
    "another format": (text("proofka-certificate 1", "proofka-certificate 2"), NO_CERTIFICATE, "not a certificate"),
    "no model": (text(r" \(model [^)]*\)", ""), NO_CERTIFICATE, "cannot be read"),
    "a system outside": (text("system\\.smt2", "../system.smt2"), NO_CERTIFICATE, "another name"),
    "5,000 digits": (text(r"up-to 1", f"up-to {'9' * 5000}"), NO_CERTIFICATE, "cannot be read"),
    "10^17 rows": (
        text(r"\(set \(\) \d+ (\(rows \S+) \d+", rf"(set () {10**17} \1 {10**17}"),
        NOT_VERIFIED,
        "too many for the checker in Python",
    ),
    "signs in the model": (text(r'\(model "\d+"', '(model "\u202e"'), NOT_VERIFIED, "not compared"),
    "deep JSON": (member("deployment.json", b"[" * 100_000), NO_CERTIFICATE, "is no certificate"),
    "JSON that is a list": (member("times.json", b"[]"), NO_CERTIFICATE, "is no object"),
    "bounds of 10^9 records": (
        member("deployment.json", lambda old: re.sub(rb'"records": \d+', b'"records": 1000000000', old)),
        NO_CERTIFICATE,
        "bounds.records",
    ),
    "an id of another question": (text(r'\(id "\w+"', '(id "00"'), REFUSED, "the id of the claim"),
    "a changed row": (member("0/0.0.rows", lambda old: bytes([old[0] ^ 1]) + old[1:]), REFUSED, "refused: "),
    "8 MB of a text": (member("certificate.txt", b"(" + b"()" * 4_000_000 + b")"), REFUSED, "refused: memory: "),
    "60 MB of a system": (member("system.smt2", b" " * 60_000_000), REFUSED, "refused: memory: "),
    "100 MB of a system": (member("system.smt2", b" " * 100_000_000), NO_CERTIFICATE, "larger than 64 MB"),
    "8 MB of JSON": (member("deployment.json", b"[" + b"[]," * 2_700_000 + b"0]"), REFUSED, "refused: memory: "),
    "60,000 members": (
        lambda good: zipped(members_of(good) | {f"{'x' * 40}{number}": b"" for number in range(60_000)}),
        REFUSED,
        "refused: memory: ",
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_bad_input_ends_with_its_status_and_its_reason(certificate: bytes, name: str, tmp_path: Path) -> None:
    change, status, words = KINDS[name]
    file = tmp_path / "bad.cert"
    file.write_bytes(change(certificate))
    found = CliRunner().invoke(cli.app, ["verify", str(file), "--memory", "64M"])
    assert (found.exit_code, found.exception is None or isinstance(found.exception, SystemExit)) == (status, True)
    assert words in found.output
    assert ("checked by" in found.output) == (words == "not compared")
    assert not {"\x1b", "\u202e"} & {*found.output}


def test_reading_takes_no_more_memory_than_allowed(certificate: bytes, tmp_path: Path) -> None:
    for name in ("8 MB of a text", "60 MB of a system", "8 MB of JSON", "60,000 members"):
        file = tmp_path / "bad.cert"
        file.write_bytes(KINDS[name][0](certificate))
        tracemalloc.start()
        try:
            with pytest.raises(TooMuchMemory):
                read_certificate(file, MEMORY)
            assert tracemalloc.get_traced_memory()[1] < MEMORY, name
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("unit", ["()", "(())", "a ", "ab ", '""', '"a"', "0 ", ";\n"])
def test_an_expression_takes_at_most_the_counted_memory(unit: str) -> None:
    from checker.certificates.reading import FOR_A_BYTE

    assert taken(expression, f"({unit * 20_000})") < FOR_A_BYTE


@pytest.mark.parametrize("unit", ["[]", "{}", "[[]]", '{"a":{}}', "1", "9.1", '""', '"ab"', "[1]"])
def test_json_takes_at_most_the_counted_memory(unit: str) -> None:
    from checker.certificates.reading import FOR_A_BYTE

    assert taken(read_json, f"[{','.join([unit] * 20_000)}]") < FOR_A_BYTE


def taken(read: Callable[[str], object], whole: str) -> float:
    """Return the bytes of memory that reading a text takes, for each character."""
    tracemalloc.start()
    try:
        value = read(whole)
        assert value is not None
        return tracemalloc.get_traced_memory()[1] / len(whole)
    finally:
        tracemalloc.stop()


def test_a_claim_behind_a_carriage_return_is_no_comment() -> None:
    assert expression("(a ; comment \r (b)\n)") == ["a", ["b"]]


def test_a_result_is_no_certificate(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps({}), encoding="utf-8")
    assert not is_certificate(file)
