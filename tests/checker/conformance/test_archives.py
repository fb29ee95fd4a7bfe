"""Recordings in files, folders and archives."""

from __future__ import annotations

import io
import lzma
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from proofka.checker.conformance import archives
from proofka.checker.conformance.archives import recordings_in, write_archive
from proofka.checker.conformance.errors import BadRecording
from proofka.checker.conformance.events import Recording, to_json
from proofka.checker.conformance.lab import Asked
from proofka.model.deployment import read_deployment
from proofka.model.deployment.deployment import Deployment
from tests.checker.conformance.test_coverage import sent

DEPLOYMENT = 'kafka: "4.1"\ntopic: {replicas: 3, min.insync.replicas: 2}\nproducer: {client: java, acks: all}\n'


@pytest.fixture
def deployment(tmp_path: Path) -> Path:
    file = tmp_path / "small-java-41.yaml"
    file.write_text(DEPLOYMENT, encoding="utf-8")
    return file


def recorded(deployment: Path, seed: int = 1, records: int = 1) -> Recording:
    """Return a recording of a run of the deployment that began at some time."""
    asked = Asked(read_deployment(deployment), (), records=records)
    begun = 1_790_000_000.25
    events = tuple(
        replace(event, opens=begun + event.opens / 1000, closes=begun + event.closes / 1000) for event in sent().events
    )
    return Recording(asked.modelled, events, {"seed": seed, "records": records})


def without_files(recording: Recording) -> Deployment:
    """Return the deployment without the places of its settings."""
    return replace(recording.deployment, settings=())


def test_an_archive_has_the_recordings_with_times_from_the_first_event(deployment: Path, tmp_path: Path) -> None:
    given = {f"run-{seed}.json": recorded(deployment, seed) for seed in (10, 9)}
    write_archive(tmp_path / "runs.tar.xz", deployment, given)
    found = list(recordings_in(tmp_path / "runs.tar.xz"))
    assert [name for name, _ in found] == ["run-9.json", "run-10.json"]
    for name, recording in found:
        assert without_files(recording) == without_files(given[name])
        assert recording.about == given[name].about
        first = given[name].events[0].opens
        assert [event.content for event in recording.events] == [event.content for event in given[name].events]
        for event, old in zip(recording.events, given[name].events, strict=True):
            assert event.opens == pytest.approx(old.opens - first, abs=1e-6)
            assert event.closes == pytest.approx(old.closes - first, abs=1e-6)


def test_the_deployment_of_an_archive_is_read_anew_with_the_bounds_of_the_run(deployment: Path, tmp_path: Path) -> None:
    """So a model that knows more of a deployment than the one that recorded can check the recordings."""
    write_archive(tmp_path / "runs.tar.xz", deployment, {"run-1.json": recorded(deployment, records=2)})
    ((_, recording),) = recordings_in(tmp_path / "runs.tar.xz")
    assert recording.deployment.bounds.records == 2
    with tarfile.open(tmp_path / "runs.tar.xz") as archive:
        assert archive.getnames() == ["small-java-41.yaml", "run-1.json"]
        content = archive.extractfile("run-1.json")
        assert content is not None and b"deployment" not in content.read()


def test_the_same_recordings_give_the_same_bytes(deployment: Path, tmp_path: Path) -> None:
    for name in ("a.tar.xz", "b.tar.xz"):
        write_archive(tmp_path / name, deployment, {"run-1.json": recorded(deployment)})
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()


def test_a_folder_can_have_files_and_archives(deployment: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    write_archive(folder / "b.tar.xz", deployment, {"run-1.json": recorded(deployment)})
    (folder / "a.json").write_text(to_json(recorded(deployment)), encoding="utf-8")
    (folder / "notes.txt").write_text("", encoding="utf-8")
    assert [name for name, _ in recordings_in(folder)] == ["a.json", "run-1.json"]


def archive_of(path: Path, *members: tuple[str, bytes]) -> Path:
    """Write an archive with these members."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    path.write_bytes(lzma.compress(whole.getvalue()))
    return path


def test_an_archive_with_another_member_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "x.tar.xz", ("notes.txt", b""))
    with pytest.raises(BadRecording, match=r"E03: .*notes\.txt is neither a deployment"):
        list(recordings_in(path))


def test_a_recording_before_the_deployment_is_refused(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "x.tar.xz", ("run-1.json", b"{}"))
    with pytest.raises(BadRecording, match=r"E03: .*put NAME\.yaml first"):
        list(recordings_in(path))


def test_a_member_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 10)
    path = archive_of(tmp_path / "x.tar.xz", ("d.yaml", b"#" * 11))
    with pytest.raises(BadRecording, match=r"E03: .*11 bytes; a member has 10 at most"):
        list(recordings_in(path))


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tar.xz").write_bytes(b"no archive")
    with pytest.raises(BadRecording, match=r"E03: .*cannot be read"):
        list(recordings_in(tmp_path / "x.tar.xz"))


@pytest.mark.parametrize("content", [b"{}", b"\xff", b'{"format": 1, "about": {}, "events": []}'])
def test_a_member_that_is_no_recording_is_refused(content: bytes, tmp_path: Path) -> None:
    path = archive_of(tmp_path / "x.tar.xz", ("d.yaml", DEPLOYMENT.encode()), ("run-1.json", content))
    with pytest.raises(BadRecording, match="E03: "):
        list(recordings_in(path))


def test_a_deployment_that_is_wrong_is_named_by_its_place_in_the_archive(tmp_path: Path) -> None:
    path = archive_of(tmp_path / "x.tar.xz", ("d.yaml", DEPLOYMENT.replace("kafka:", "kafkaa:", 1).encode()))
    with pytest.raises(BadRecording, match=r"x\.tar\.xz: d\.yaml:"):
        list(recordings_in(path))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecording, match=r"E03: .*none\.json: cannot be read"):
        list(recordings_in(tmp_path / "none.json"))


def test_an_archive_that_was_cut_off_is_refused(deployment: Path, tmp_path: Path) -> None:
    """A cut between two members looks like the end to a reader that stops at the last whole member."""
    path = tmp_path / "cut.tar.xz"
    write_archive(path, deployment, {f"{seed}.json": recorded(deployment, seed) for seed in range(1, 4)})
    whole = path.read_bytes()
    for left_out in (1, 20, 200):
        path.write_bytes(whole[:-left_out])
        with pytest.raises(BadRecording, match="cannot be read"):
            list(recordings_in(path))


@pytest.mark.parametrize("records", [0, -1, 99, 2.7, "x"])
def test_a_number_of_records_that_no_run_has_is_refused(deployment: Path, tmp_path: Path, records: object) -> None:
    path = tmp_path / "records.tar.xz"
    wrong = replace(recorded(deployment), about={"seed": 1, "records": records})
    write_archive(path, deployment, {"1.json": wrong})
    with pytest.raises(BadRecording, match="is no number from 1 to 3"):
        list(recordings_in(path))


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.json")
    with pytest.raises(BadRecording, match="is no file"):
        list(recordings_in(tmp_path / "fifo.json"))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "1" * 5000 + "}"])
def test_a_text_beyond_the_limits_of_json_is_no_recording(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadRecording, match="is no recording"):
        list(recordings_in(tmp_path / "bad.json"))
