"""The mode of brokers, ZooKeeper or KRaft, if their release has both and no file says which."""

from __future__ import annotations

from model.deployment.era import FIRST_KRAFT, ZOOKEEPER
from model.deployment.given import Given, Settings
from model.deployment.release import Release, ReleaseError, parse_release
from model.deployment.setting import Origin

UNCLEAN = "unclean.leader.election.enable"
OF_KRAFT = ("process.roles", "controller.quorum.", "controller.listener.names", "node.id")
"""Prefixes of the settings that only brokers in KRaft mode have."""
LAST_WITH_ZOOKEEPER = Release(3, 9)


def with_mode(release: Given, topic: Settings, broker: Settings) -> Settings:
    """Return the broker settings, with ZooKeeper added if no file says the mode and unclean election is on.

    From 3.3 to 3.8, brokers with ZooKeeper honour unclean election, and brokers in KRaft mode ignore it (rule B09). The
    function chooses the mode that can lose more.
    """
    try:
        line = parse_release(release.value).line
    except ReleaseError:
        return broker
    said = [settings[UNCLEAN] for settings in (topic, broker) if UNCLEAN in settings]
    unclean = bool(said) and said[0].value.strip().lower() == "true"
    told = any(key == ZOOKEEPER or key.startswith(OF_KRAFT) for key in broker)
    if told or not unclean or not FIRST_KRAFT <= line <= LAST_WITH_ZOOKEEPER.line:
        return broker
    why = "no file gives the mode, and unclean election needs ZooKeeper mode"
    return {**broker, ZOOKEEPER: Given(ZOOKEEPER, "some", Origin("assumption", why))}
