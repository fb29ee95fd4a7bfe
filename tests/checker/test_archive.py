"""A bundle as a file: the same bytes for the same content, and a changed byte anywhere is found and named."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofka.checker import archive
from proofka.checker.archive import MANIFEST, Archive, DamagedBundle, read_archive, write_archive

MEMBERS = {"b.json": b'{"a": 1}\n' * 9, "a/first.txt": b"text of the first", "c": b""}
CONTENT = write_archive(MEMBERS, {"said": "besides"})
NAMES = [*sorted(MEMBERS), MANIFEST]
CENTRAL, END = CONTENT.index(b"PK\x01\x02"), CONTENT.index(b"PK\x05\x06")


def problems(content: bytes) -> tuple[str, ...]:
    with pytest.raises(DamagedBundle) as damaged:
        read_archive(content)
    return damaged.value.problems


def part_at(place: int) -> str:
    """Return the name of the byte at a place of the file, by the zip reader of Python's library."""
    if place >= END:
        return "comment" if place >= END + 22 else "record at the end"
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as read:
        infos = read.infolist()
    if place >= CENTRAL:
        for info in infos:
            place -= 46 + len(info.filename)
            if place < CENTRAL:
                return f"entry of {info.filename}"
    owner = [info for info in infos if info.header_offset <= place][-1]
    return f"member {owner.filename}"


def test_read_back() -> None:
    read = read_archive(CONTENT)
    assert isinstance(read, Archive)
    assert read.members == MEMBERS
    assert read.manifest["said"] == "besides"
    assert [one["name"] for one in read.manifest["members"]] == NAMES[:-1]


def test_zip_programs_read_a_bundle() -> None:
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as read:
        assert read.namelist() == NAMES
        assert read.testzip() is None
        assert {name: read.read(name) for name in MEMBERS} == MEMBERS
        assert read.comment.decode().endswith(archive.sha256(read.read(MANIFEST)))


def test_the_same_bytes_in_whatever_order() -> None:
    backwards = dict(reversed(MEMBERS.items()))
    assert write_archive(backwards, {"said": "besides"}) == CONTENT


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_bit_anywhere_is_found_and_named(bit: int) -> None:
    for place in range(len(CONTENT)):
        changed = bytearray(CONTENT)
        changed[place] ^= 1 << bit
        found = problems(bytes(changed))
        assert any(part_at(place) in problem for problem in found), (place, part_at(place), found)


@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
@settings(max_examples=300)
def test_a_changed_byte_is_found_and_named(place: int, mask: int) -> None:
    changed = bytearray(CONTENT)
    changed[place] ^= mask
    assert any(part_at(place) in problem for problem in problems(bytes(changed)))


def test_cut_short_anywhere() -> None:
    for length in range(len(CONTENT)):
        assert problems(CONTENT[:length])


def test_bytes_before_and_after() -> None:
    assert problems(CONTENT + b"x") == ("1 bytes stand after the end of the file",)
    assert problems(b"x" + CONTENT)


def test_unused_bits_of_packed_data() -> None:
    """The last bits of a deflated member mean nothing; its bytes are covered all the same."""
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as read:
        info = read.getinfo("a/first.txt")
    last = info.header_offset + 30 + len(info.filename) + info.compress_size - 1
    changed = bytearray(CONTENT)
    changed[last] ^= 0x80
    with zipfile.ZipFile(io.BytesIO(bytes(changed))) as read:
        assert read.read("a/first.txt") == MEMBERS["a/first.txt"], "the test needs a bit that is not used"
    assert problems(bytes(changed)) == ("member a/first.txt: its content was changed",)


def appended(name: str, content: bytes) -> bytes:
    stream = io.BytesIO(CONTENT)
    with zipfile.ZipFile(stream, "a") as changed, pytest.warns(UserWarning) if name in NAMES else _nothing():
        changed.writestr(name, content)
    return stream.getvalue()


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


def test_a_member_added() -> None:
    assert "member z.txt: was added" in problems(appended("z.txt", b"more"))


def test_a_member_renamed() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(stream, "w") as new:
        new.comment = old.comment
        for info in old.infolist():
            content = old.read(info)
            info.filename = info.filename.replace("b.json", "bb.json")
            new.writestr(info, content)
    assert {"member bb.json: was added", "member b.json: is missing"} <= set(problems(stream.getvalue()))


def test_a_member_twice() -> None:
    assert problems(appended("b.json", b"other")) == ("member b.json: occurs 2 times",)


def test_a_member_missing() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(stream, "w") as new:
        new.comment = old.comment
        for info in old.infolist():
            if info.filename != "b.json":
                new.writestr(info, old.read(info))
    assert "member b.json: is missing" in problems(stream.getvalue())


def test_another_content_with_every_header_right() -> None:
    """Packed anew by a zip program, CRC and sizes and all: the manifest still says otherwise."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(stream, "w") as new:
        new.comment = old.comment
        for info in old.infolist():
            new.writestr(info, b"another" if info.filename == "b.json" else old.read(info))
    assert "member b.json: its content was changed" in problems(stream.getvalue())


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "a\\b", "a//b", "a\x1b[31m", "", "..", "a/../b", "x" * 200])
def test_names_that_lead_out(name: str) -> None:
    found = problems(write_archive({name: b""}, {}))
    assert any("no member of a bundle has this name" in problem for problem in found)
    assert all(problem.isprintable() and len(problem) < 200 for problem in found)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    at_most, one_more = (write_archive({"a": bytes(size)}, {}) for size in (100_000, 100_001))
    together = write_archive({"a": bytes(80_000), "b": bytes(80_000)}, {})
    monkeypatch.setattr(archive, "MAX_MEMBER", 100_000)
    assert read_archive(at_most)
    asked: list[int] = []
    unpack = zlib.decompressobj

    def unpacker(*arguments: int) -> object:
        asked.append(1)
        return unpack(*arguments)

    monkeypatch.setattr(archive.zlib, "decompressobj", unpacker)
    assert problems(one_more) == ("member a: its header gives 100,001 bytes, too many",)
    assert not asked
    monkeypatch.setattr(archive, "MAX_TOTAL", 150_000)
    assert "together" in problems(together)[0]
    monkeypatch.setattr(archive, "MAX_MEMBERS", 2)
    assert problems(CONTENT) == ("has more than 2 members",)


@pytest.mark.parametrize("limit", ["MAX_MEMBER", "MAX_TOTAL", "MAX_MEMBERS", "MAX_FILE"])
def test_archive_that_cannot_be_read_is_not_written(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(archive, limit, 3)
    with pytest.raises(archive.BundleTooLarge):
        write_archive(MEMBERS, {})


def test_a_bomb_that_says_that_it_is_small() -> None:
    """Its header says 9 bytes: no more than 10 are unpacked."""
    content = write_archive({"a": bytes(10_000_000)}, {}).replace((10_000_000).to_bytes(4, "little"), b"\x09\0\0\0")
    assert "member a: its content was changed" in problems(content)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip", b"PK\x03\x04", b"PK\x05\x06" + bytes(200), bytes(500)])
def test_files_that_are_no_bundles_are_refused(content: bytes) -> None:
    assert problems(content)


def test_another_zip(tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    with zipfile.ZipFile(file, "w") as other:
        other.writestr("a.txt", "text")
    assert any(MANIFEST in problem for problem in problems(file.read_bytes()))


@given(st.binary(max_size=400))
@settings(max_examples=200)
def test_any_bytes(content: bytes) -> None:
    assert problems(b"PK\x03\x04" + content)


@pytest.mark.parametrize("manifest", [b"[]", b"{}", b'{"members": [1]}', b'{"members": [{"name": 1}]}', b"[" * 9999])
def test_manifests_that_are_none(manifest: bytes) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        new.comment = f"{archive._WORDS}{archive.sha256(manifest)}".encode()
        new.writestr(MANIFEST, manifest)
    assert any("cannot be read" in problem for problem in problems(stream.getvalue()))


def test_a_later_format(monkeypatch: pytest.MonkeyPatch) -> None:
    content = write_archive(MEMBERS, {"format": 2})
    assert json.loads(zipfile.ZipFile(io.BytesIO(content)).read(MANIFEST))["format"] == 2
    assert problems(content) == (f"member {MANIFEST}: this version reads format 1 only",)
