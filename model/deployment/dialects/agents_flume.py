"""Flume: sinks, sources and channels of Kafka, in properties that begin with the name of the agent.

What becomes of events that an agent has taken and not yet passed on depends on the channel between: one in memory is
gone with the process, one in files is not. A channel in Kafka is a producer and a consumer by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from model.deployment.dialects.accounts import Accounts
from model.deployment.dialects.agent import Agent, component_of
from model.deployment.dialects.component import Component, Role
from model.deployment.dialects.said import Said
from model.deployment.release import JAVA

SINK = Agent("flume", Role.PRODUCER, JAVA)
SOURCE = Agent("flume-consumer", Role.CONSUMER, JAVA)
WRITES = Agent("flume-channel", Role.PRODUCER, JAVA)
READS = Agent("flume-channel-consumer", Role.CONSUMER, JAVA)
NOTES = ("read as Flume 1.7 and later do, whose sink has the producer of Kafka's Java clients",)
_KINDS: Mapping[str, tuple[Agent, ...]] = {
    "org.apache.flume.sink.kafka.kafkasink": (SINK,),
    "org.apache.flume.source.kafka.kafkasource": (SOURCE,),
    "org.apache.flume.channel.kafka.kafkachannel": (WRITES, READS),
}


def is_flume(keys: Mapping[str, str]) -> bool:
    """Something in it is of a type that is for Kafka."""
    return any(key.endswith(".type") and value.strip().lower() in _KINDS for key, value in keys.items())


def components(values: list[Said], accounts: Accounts, file: str) -> Iterator[Component]:
    """The clients of each sink, source and channel for Kafka."""
    keys = {said.key: said.value.strip() for said in values}
    types = {key.removesuffix(".type"): value.lower() for key, value in keys.items() if key.endswith(".type")}
    clients = {name: _KINDS[kind] for name, kind in types.items() if kind in _KINDS}
    for said in values:
        if not any(said.key.startswith(f"{name}.") for name in clients):
            accounts.ignore(said)
    for name, agents in clients.items():
        own = [(said.key.removeprefix(f"{name}."), said) for said in values if said.key.startswith(f"{name}.")]
        for agent in agents:
            if agent in (SINK, SOURCE) or _is_used(name, agent, keys):
                around = {"channel": _channel(name, keys, types)}
                yield component_of(agent, name, own, accounts, file, own[0][1].line, around)


def _channels(name: str, keys: Mapping[str, str]) -> list[str]:
    """The channels that a sink reads from (one), or a source writes to."""
    agent = name.split(".")[0]
    said = f"{keys.get(f'{name}.channel', '')} {keys.get(f'{name}.channels', '')}"
    return [f"{agent}.channels.{channel}" for channel in said.split()]


def _channel(name: str, keys: Mapping[str, str], types: Mapping[str, str]) -> str:
    """``memory`` if one of its channels is, ``file`` if all of them are; else nothing is known."""
    kinds = {types.get(channel, "") for channel in _channels(name, keys)}
    return "memory" if "memory" in kinds else "file" if kinds == {"file"} else ""


def _is_used(name: str, agent: Agent, keys: Mapping[str, str]) -> bool:
    """Whether something writes to a channel, or reads from it; where nothing does either, both may be elsewhere."""
    users = {
        part: any(name in _channels(key.rpartition(".")[0], keys) for key in keys if f".{part}." in key)
        for part in ("sources", "sinks")
    }
    return users["sources" if agent is WRITES else "sinks"] or not any(users.values())
