"""Flume: sinks, sources and channels of Kafka, in properties that begin with the name of the agent.

The fate of events that an agent has taken and not passed on depends on its channel: a channel in memory is lost with
the process, a channel in files is not. A channel in Kafka is itself a producer and a consumer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proofka.model.deployment.dialects.accounts import Accounts
from proofka.model.deployment.dialects.agent import Agent, component_of
from proofka.model.deployment.dialects.component import Component, Role
from proofka.model.deployment.dialects.said import Said
from proofka.model.deployment.release import JAVA

SINK = Agent("flume", Role.PRODUCER, JAVA)
SOURCE = Agent("flume-consumer", Role.CONSUMER, JAVA)
WRITES = Agent("flume-channel", Role.PRODUCER, JAVA)
READS = Agent("flume-channel-consumer", Role.CONSUMER, JAVA)
NOTES = ("interpreted as in Flume 1.7 and later, whose sink uses Kafka's Java producer",)
_KINDS: Mapping[str, tuple[Agent, ...]] = {
    "org.apache.flume.sink.kafka.kafkasink": (SINK,),
    "org.apache.flume.source.kafka.kafkasource": (SOURCE,),
    "org.apache.flume.channel.kafka.kafkachannel": (WRITES, READS),
}


def is_flume(keys: Mapping[str, str]) -> bool:
    """Tell whether the file has a type that is for Kafka."""
    return any(key.endswith(".type") and value.strip().lower() in _KINDS for key, value in keys.items())


def components(values: list[Said], accounts: Accounts, file: str) -> Iterator[Component]:
    """Yield the clients of each sink, source and channel for Kafka."""
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
    """Return the channels that a source writes to, or the one that a sink reads."""
    agent = name.split(".")[0]
    said = f"{keys.get(f'{name}.channel', '')} {keys.get(f'{name}.channels', '')}"
    return [f"{agent}.channels.{channel}" for channel in said.split()]


def _channel(name: str, keys: Mapping[str, str], types: Mapping[str, str]) -> str:
    """Return ``memory`` if one of the channels is in memory, ``file`` if all are in files; otherwise empty, for
    unknown."""
    kinds = {types.get(channel, "") for channel in _channels(name, keys)}
    return "memory" if "memory" in kinds else "file" if kinds == {"file"} else ""


def _is_used(name: str, agent: Agent, keys: Mapping[str, str]) -> bool:
    """Tell whether a source writes to a channel, or a sink reads it. If nothing uses it, both can be elsewhere."""
    users = {
        part: any(name in _channels(key.rpartition(".")[0], keys) for key in keys if f".{part}." in key)
        for part in ("sources", "sinks")
    }
    return users["sources" if agent is WRITES else "sinks"] or not any(users.values())
