"""Gates hold frames in order, and decide what becomes of each."""

from __future__ import annotations

import pytest

from proofka.checker.cluster.apis import UnknownApi
from proofka.checker.cluster.errors import NotSeen
from proofka.checker.cluster.gate import Gate, NotHeld, WrongSide
from proofka.checker.cluster.waiting import until
from tests.checker.cluster.network import LINK, Network
from tests.checker.cluster.wire import SECONDS, Client

FETCH, METADATA = 1, 3


def numbers(gate: Gate) -> list[int]:
    """Return the correlation ids of the frames that a gate holds."""
    return [frame.correlation for frame in gate.held]


def ask(client: Client, *correlations: int, key: int = METADATA, name: str = "c") -> None:
    """Send requests of one kind."""
    for correlation in correlations:
        client.send(key, 4, correlation, client=name)


def test_a_gate_is_closed_at_first_and_opens_for_held_and_later_frames(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1)
    assert gate.wait(what="a request", seconds=SECONDS).correlation == 1
    assert network.fates() == [("request", 1, "held")]
    gate.open()
    ask(client, 2)
    assert network.broker.connection().wait_requests(2) == [1, 2]
    assert network.fates()[1:] == [("request", 1, "released"), ("request", 2, "passed")]
    assert gate.held == ()
    gate.close()
    ask(client, 3)
    gate.wait(what="a request", seconds=SECONDS)
    assert network.broker.connection().correlations() == [1, 2]


def test_a_held_frame_holds_the_frames_behind_it_which_come_to_gates_in_order(network: Network) -> None:
    looked_at: list[int] = []
    gate = network.proxy.gate(LINK, when=lambda frame: not looked_at.append(frame.correlation))
    client = network.client()
    ask(client, 1, 2, 3)
    first = gate.wait(what="a request", seconds=SECONDS)
    assert (numbers(gate), looked_at) == ([1], [1])
    gate.release(first)
    gate.wait(lambda frame: frame.correlation == 2, what="the second request", seconds=SECONDS)
    assert (numbers(gate), looked_at) == ([2], [1, 2])
    assert network.broker.connection().wait_requests(1) == [1]
    gate.open()
    assert network.broker.connection().wait_requests(3) == [1, 2, 3]


def test_a_frame_that_does_not_match_waits_behind_a_held_frame(network: Network) -> None:
    gate = network.proxy.gate(LINK, apis={"Metadata"})
    client = network.client()
    ask(client, 1)
    ask(client, 2, key=FETCH)
    held = gate.wait(what="a request", seconds=SECONDS)
    until(lambda: network.proxy.seen, what="the first request", seconds=SECONDS)
    assert network.fates() == [("request", 1, "held")]
    gate.release(held)
    assert network.broker.connection().wait_requests(2) == [1, 2]
    assert network.fates()[2:] == [("request", 2, "passed")]


def test_other_connections_and_the_other_side_go_on_beside_a_held_frame(network: Network) -> None:
    client, other = network.client(), network.client()
    ask(client, 1)
    broker = network.broker.connection()
    broker.wait_requests(1)
    gate = network.proxy.gate(LINK, client="held")
    ask(client, 2, name="held")
    gate.wait(what="a request", seconds=SECONDS)
    broker.answer(1)
    assert client.receive() is not None
    ask(other, 3)
    assert network.broker.connection(1).wait_requests(1) == [3]


@pytest.mark.parametrize(
    "filters, held",
    [
        ({"link": "client->.", "apis": {"Fetch"}}, [2]),
        ({"link": "client->.", "client": "^b$"}, [3]),
        ({"link": "client->.", "when": lambda frame: frame.correlation == 1}, [1]),
        ({"link": "client", "apis": None}, []),
        ({"link": "client->.", "apis": set()}, []),
    ],
)
def test_a_gate_holds_the_frames_that_match_its_filter(
    network: Network, filters: dict[str, object], held: list[int]
) -> None:
    gate = network.proxy.gate(**filters)  # type: ignore[arg-type]
    for number, key, name in [(1, METADATA, "a"), (2, FETCH, "a"), (3, METADATA, "b")]:
        ask(network.client(), number, key=key, name=name)
    until(lambda: len(network.proxy.seen) == 3, what="three requests", seconds=SECONDS)
    assert numbers(gate) == held


def test_a_later_gate_holds_a_frame_that_an_earlier_one_releases(network: Network) -> None:
    early, late = network.proxy.gate(LINK), network.proxy.gate(LINK)
    ask(network.client(), 1)
    frame = early.wait(what="a request", seconds=SECONDS)
    assert late.held == ()
    early.release(frame)
    assert late.held == (frame,)
    late.release(frame)
    assert [fate for _, _, fate in network.fates()] == ["held", "held", "released"]


def test_a_gate_that_is_removed_lets_its_frames_go_and_holds_no_more(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1)
    gate.wait(what="a request", seconds=SECONDS)
    gate.remove()
    gate.close()
    ask(client, 2)
    assert network.broker.connection().wait_requests(2) == [1, 2]


def test_a_dropped_frame_ends_both_connections_and_drops_the_frames_behind(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1, 2)
    frame = gate.wait(what="a request", seconds=SECONDS)
    gate.drop(frame)
    assert client.receive() is None
    network.broker.connection().wait_end()
    assert network.broker.connection().frames == []
    assert network.fates()[:2] == [("request", 1, "held"), ("request", 1, "dropped")]
    assert set(network.fates()[2:]) <= {("request", 2, "dropped")}
    with pytest.raises(NotHeld):
        gate.release(frame)


def test_a_detached_request_is_delivered_later_and_its_response_is_discarded(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1)
    frame = gate.wait(what="a request", seconds=SECONDS)
    gate.detach(frame)
    assert client.receive() is None
    assert gate.held == (frame,)
    broker = network.broker.connection()
    assert not broker.has_ended
    gate.deliver(frame)
    assert broker.wait_requests(1) == [1]
    assert not broker.has_ended
    assert network.proxy.outstanding(LINK, "Metadata") == 1
    broker.answer(1)
    broker.wait_end()
    assert network.fates() == [
        ("request", 1, "held"),
        ("request", 1, "detached"),
        ("request", 1, "released"),
        ("response", 1, "dropped"),
    ]


def test_requests_behind_a_detached_one_come_to_the_gate_after_it(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1, 2)
    frame = gate.wait(what="a request", seconds=SECONDS)
    gate.release(frame)
    second = gate.wait(what="a request", seconds=SECONDS)
    gate.detach(second)
    network.broker.connection().answer(1)
    network.wait_fate("response", 1, "dropped")
    gate.deliver(second)
    assert network.broker.connection().wait_requests(2) == [1, 2]


def test_a_request_is_detached_where_its_client_ends_the_connection(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1)
    frame = gate.wait(what="a request", seconds=SECONDS)
    client.socket.close()
    network.wait_fate("request", 1, "detached")
    network.proxy.cut(LINK)
    gate.deliver(frame)
    assert network.broker.connection().wait_requests(1) == [1]


def test_a_detached_request_can_be_dropped(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    ask(network.client(), 1)
    frame = gate.wait(what="a request", seconds=SECONDS)
    gate.detach(frame)
    gate.drop(frame)
    network.broker.connection().wait_end()
    assert network.broker.connection().frames == []
    assert gate.held == ()


def test_only_detached_requests_are_delivered_and_only_requests_are_detached(network: Network) -> None:
    gate, answers = network.proxy.gate(LINK), network.proxy.gate(LINK, "response")
    ask(network.client(), 1)
    frame = gate.wait(what="a request", seconds=SECONDS)
    with pytest.raises(NotHeld, match="detach"):
        gate.deliver(frame)
    gate.release(frame)
    network.broker.connection().wait_requests(1)
    network.broker.connection().answer(1)
    answer = answers.wait(what="a response", seconds=SECONDS)
    with pytest.raises(WrongSide):
        answers.detach(answer)


def test_held_responses_die_with_their_broker(network: Network) -> None:
    gate = network.proxy.gate(LINK, "response")
    client = network.client()
    ask(client, 1, 2)
    broker = network.broker.connection()
    broker.wait_requests(2)
    broker.answer(1)
    held = gate.wait(what="a response", seconds=SECONDS)
    assert network.proxy.outstanding(LINK, "Metadata") == 1
    broker.answer(2)
    until(lambda: not network.proxy.outstanding(LINK, "Metadata"), what="the other response", seconds=SECONDS)
    network.broker.stop()
    assert client.receive() is None
    assert gate.held == ()
    assert network.fates()[3:] == [("response", 1, "dropped"), ("response", 2, "dropped")]
    with pytest.raises(NotHeld):
        gate.release(held)


def test_held_requests_die_with_their_broker_also_where_the_client_stays(network: Network) -> None:
    network.proxy.keep_open(LINK, True)
    gate = network.proxy.gate(LINK)
    client = network.client()
    ask(client, 1)
    gate.wait(what="a request", seconds=SECONDS)
    network.broker.stop()
    network.wait_fate("request", 1, "dropped")
    assert gate.held == ()
    assert client.is_silent()


def test_a_released_response_is_at_the_client(network: Network) -> None:
    gate = network.proxy.gate(LINK, "response")
    client = network.client()
    ask(client, 1)
    network.broker.connection().wait_requests(1)
    network.broker.connection().answer(1, b"x")
    frame = gate.wait(what="a response", seconds=SECONDS)
    assert client.is_silent()
    gate.release(frame)
    answer = client.receive()
    assert answer is not None and answer.endswith(b"x")


def test_waiting_for_a_frame_that_does_not_come_is_an_error(network: Network) -> None:
    gate = network.proxy.gate(LINK)
    with pytest.raises(NotSeen, match="a request of nobody"):
        gate.wait(what="a request of nobody", seconds=0)


def test_a_wrong_name_of_a_request_or_side_is_an_error(network: Network) -> None:
    with pytest.raises(UnknownApi, match="produce"):
        network.proxy.gate(LINK, apis={"produce"})
    with pytest.raises(WrongSide, match="req"):
        network.proxy.gate(LINK, "req")


def test_held_responses_are_dropped_and_requests_stay_where_their_client_ends_the_connection(network: Network) -> None:
    requests = network.proxy.gate(LINK, apis={"Fetch"})
    responses = network.proxy.gate(LINK, "response")
    client = network.client()
    ask(client, 1)
    ask(client, 2, key=FETCH)
    network.broker.connection().wait_requests(1)
    network.broker.connection().answer(1)
    responses.wait(what="a response", seconds=SECONDS)
    request = requests.wait(what="a request", seconds=SECONDS)
    client.socket.close()
    network.wait_fate("response", 1, "dropped")
    assert responses.held == ()
    assert requests.held == (request,)
    requests.drop(request)
    network.broker.connection().wait_end()


def test_a_kept_link_keeps_no_connection_that_has_neither_client_nor_broker(network: Network) -> None:
    network.proxy.keep_open(LINK, True)
    gate = network.proxy.gate(LINK)
    ask(network.client(), 1)
    gate.detach(gate.wait(what="a request", seconds=SECONDS))
    network.broker.stop()
    network.wait_fate("request", 1, "dropped")
    (link,) = network.proxy._links.values()
    until(lambda: not link._connections, what="the end of the connection", seconds=SECONDS)
