"""Bad input to ``proofka verify``: each file ends with a line of its own and its status, before memory is taken."""

from __future__ import annotations

import json
import re
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from proofka.checker import cli
from proofka.checker.certificates.reading import TooMuchMemory, expressions, is_certificate, read_certificate
from proofka.checker.certificates.writing import write_certificate
from proofka.model.input.strict_json import read_json
from tests.certificates.reading import members_of
from tests.certificates.writing import FIRST_LINE, archive, framed
from tests.checker.asking import deployment_of, run
from tests.checker.test_verify import DEPLOYMENT

pytestmark = pytest.mark.usefixtures("no_fast_checker")

MEBIBYTE = 1 << 20
MEMORY = 64 * MEBIBYTE


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")
    write_certificate(run(deployment_of(DEPLOYMENT, folder), ["no-acked-loss"]), folder / "a.cert", tool="a test")
    return (folder / "a.cert").read_bytes()


def member(name: str, content: bytes | Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Return the change of a certificate that writes a member anew."""

    def change(good: bytes) -> bytes:
        members = members_of(good)
        return archive({**members, name: content if isinstance(content, bytes) else content(members[name])})

    return change


def text(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return the change of a certificate that replaces a part of ``certificate.txt``."""

    def change(content: bytes) -> bytes:
        changed, times = re.subn(old, new, content.decode(), count=1)
        assert times, old
        return changed.encode()

    return member("certificate.txt", change)


def without(name: str) -> Callable[[bytes], bytes]:
    return lambda good: archive({one: content for one, content in members_of(good).items() if one != name})


def with_packed(name: str, packed: Callable[[bytes], bytes], size: int | None = None) -> Callable[[bytes], bytes]:
    """Return the change of a certificate that changes the packed bytes of a member, or the size that its head says."""

    def change(good: bytes) -> bytes:
        found = members_of(good)
        all_packed = {one: zlib.compress(content) for one, content in found.items()}
        all_packed[name] = packed(all_packed[name])
        sizes = {one: len(content) for one, content in found.items()} | ({} if size is None else {name: size})
        return framed((one, content, sizes[one]) for one, content in all_packed.items())

    return change


def twice(good: bytes) -> bytes:
    """Return a certificate that has its first text again at its end."""
    again = archive({"certificate.txt": members_of(good)["certificate.txt"]})
    return good + again.removeprefix(FIRST_LINE)


NO_CERTIFICATE, REFUSED, NOT_VERIFIED = 2, 1, 3
KINDS: dict[str, tuple[Callable[[bytes], bytes], int, str]] = {
    "nothing": (lambda good: b"", NO_CERTIFICATE, "first line"),
    "text": (lambda good: b"(about)\n", NO_CERTIFICATE, "first line"),
    "format 3": (
        lambda good: good.replace(b"certificate 4\n", b"certificate 3\n", 1),
        NO_CERTIFICATE,
        "proofka certify",
    ),
    "cut in half": (lambda good: good[: len(good) // 2], NO_CERTIFICATE, "is cut off"),
    "last byte cut": (lambda good: good[:-1], NO_CERTIFICATE, "is cut off"),
    "a byte behind": (lambda good: good + b"\0", NO_CERTIFICATE, "head of none"),
    "line ends converted": (lambda good: good.replace(b"\n", b"\r\n"), NO_CERTIFICATE, "is no certificate"),
    "another archive": (lambda good: archive({"a.txt": b"a"}), NO_CERTIFICATE, "certificate.txt"),
    "no deployment": (without("deployment.json"), NO_CERTIFICATE, "deployment.json"),
    "no times": (without("times.json"), NO_CERTIFICATE, "times.json"),
    "no system": (without("system.smt2"), NO_CERTIFICATE, "system.smt2"),
    "a member twice": (twice, NO_CERTIFICATE, "twice"),
    "a wrong checksum": (with_packed("system.smt2", lambda old: old[:-4] + bytes(4)), NO_CERTIFICATE, "is damaged"),
    "no checksum": (with_packed("system.smt2", lambda old: old[:-4]), NO_CERTIFICATE, "another size"),
    "bytes behind a stream": (with_packed("times.json", lambda old: old + b"\0"), NO_CERTIFICATE, "another size"),
    "a smaller size": (with_packed("times.json", lambda old: old, 1), NO_CERTIFICATE, "another size"),
    "no UTF-8": (member("certificate.txt", b"\xff"), NO_CERTIFICATE, "cannot be read"),
    "an open list": (member("certificate.txt", b"(part"), NO_CERTIFICATE, "without an end"),
    "a list more": (member("certificate.txt", lambda old: old + b"(x)"), NO_CERTIFICATE, "unexpected"),
    "no model": (text(r"\(about model [^)]*\)", ""), NO_CERTIFICATE, "cannot be read"),
    "a system outside": (text("system\\.smt2", "../system.smt2"), NO_CERTIFICATE, "another name"),
    "5,000 digits": (text(r'(\(claim "[^"]*" "\w+") 1', rf"\1 {'9' * 5000}"), NO_CERTIFICATE, "cannot be read"),
    "10^17 rows": (
        with_packed("0/0.0", lambda old: old, 10**17),
        NOT_VERIFIED,
        "too many for the checker in Python",
    ),
    "signs in the model": (text(r'\(about model "\d+"', '(about model "\u202e"'), NOT_VERIFIED, "not compared"),
    "deep JSON": (member("deployment.json", b"[" * 100_000), NO_CERTIFICATE, "is no certificate"),
    "JSON that is a list": (member("times.json", b"[]"), NO_CERTIFICATE, "is no object"),
    "bounds of 10^9 records": (
        member("deployment.json", lambda old: re.sub(rb'"records": \d+', b'"records": 1000000000', old)),
        NO_CERTIFICATE,
        "bounds.records",
    ),
    "an id of another question": (text(r'(\(claim "[^"]*") "\w+"', r'\1 "00"'), REFUSED, "the id of the claim"),
    "a changed row": (member("0/0.0", lambda old: bytes([old[0] ^ 1]) + old[1:]), REFUSED, "refused: "),
    "8 MB of a text": (member("certificate.txt", b"(" + b"()" * 4_000_000 + b")"), REFUSED, "refused: memory: "),
    "60 MB of a system": (member("system.smt2", b" " * 60_000_000), REFUSED, "refused: memory: "),
    "100 MB of a system": (member("system.smt2", b" " * 100_000_000), NO_CERTIFICATE, "larger than 64 MB"),
    "8 MB of JSON": (member("deployment.json", b"[" + b"[]," * 2_700_000 + b"0]"), REFUSED, "refused: memory: "),
    "120,000 members": (
        lambda good: archive(members_of(good) | {f"{'x' * 40}{number}": b"" for number in range(120_000)}),
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
    for name in ("8 MB of a text", "60 MB of a system", "8 MB of JSON", "120,000 members"):
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
    from proofka.checker.certificates.reading import FOR_A_BYTE

    assert taken(expressions, f"({unit * 20_000})") < FOR_A_BYTE


@pytest.mark.parametrize("unit", ["[]", "{}", "[[]]", '{"a":{}}', "1", "9.1", '""', '"ab"', "[1]"])
def test_json_takes_at_most_the_counted_memory(unit: str) -> None:
    from proofka.checker.certificates.reading import FOR_A_BYTE

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
    assert expressions("(a ; comment \r (b)\n)") == [["a", ["b"]]]


def test_a_result_is_no_certificate(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps({}), encoding="utf-8")
    assert not is_certificate(file)
