"""The values of records, which tell the calls of ``send()``."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.sends import ForeignValue, Send, send_of, sends_in
from tests.checker.cluster.segments import batch


@pytest.mark.parametrize(
    ("send", "value", "words"),
    [
        (Send(12), "record-12", "record 12"),
        (Send(1, 2), "record-1-send-2", "record 1 (send 2)"),
        (Send(0, 11), "record-0-send-11", "record 0 (send 11)"),
    ],
)
def test_the_value_of_a_record_tells_its_send(send: Send, value: str, words: str) -> None:
    assert (send.value, str(send)) == (value, words)
    assert send_of(value.encode()) == send


@pytest.mark.parametrize("value", [None, b"record-", b"record-1x", b"record-1-send-", b"a record-1"])
def test_a_value_that_no_client_program_sends_is_refused(value: bytes | None) -> None:
    with pytest.raises(ForeignValue, match="no value of a client program"):
        send_of(value)


def test_a_later_send_in_a_message_is_not_taken_for_the_first() -> None:
    first, later = Send(1), Send(1, 2)
    assert sends_in(batch(0, [later.value.encode()], epoch=-1)) == {later}
    assert sends_in(batch(0, [first.value.encode(), later.value.encode()], epoch=-1)) == {first, later}
