"""The mode of brokers, ZooKeeper or KRaft, if their release has both and no file says which."""

from __future__ import annotations

from proofka.model.deployment.era import FIRST_KRAFT, ZOOKEEPER
from proofka.model.deployment.given import Given, Settings
from proofka.model.deployment.release import Release, ReleaseError, parse_release
from proofka.model.deployment.setting import Origin
from proofka.model.deployment.vendor_releases import vendor_release

UNCLEAN = "unclean.leader.election.enable"
OF_KRAFT = ("process.roles", "controller.quorum.", "controller.listener.names", "node.id")
"""Prefixes of the settings that only brokers in KRaft mode have."""
LAST_WITH_ZOOKEEPER = Release(3, 9)
WITH_ZOOKEEPER = "zookeeper"
"""The mode of a vendor's release that has no KRaft mode."""


def with_mode(release: Given, topic: Settings, broker: Settings) -> Settings:
    """Return the broker settings, with ZooKeeper added if no file says the mode and unclean election is on, or a
    vendor's release says ZooKeeper.

    From 3.3 to 3.8, brokers with ZooKeeper honour unclean election, and brokers in KRaft mode ignore it (rule B09). The
    function chooses the mode that can lose more.
    """
    if not _is_open(release, broker):
        return broker
    if (vendors := vendor_release(release.value)) is not None and vendors.mode:
        return with_mode_of_vendor(release, broker)
    said = [settings[UNCLEAN] for settings in (topic, broker) if UNCLEAN in settings]
    if not said or said[0].value.strip().lower() != "true":
        return broker
    return _in_zookeeper_mode(broker, "no file gives the mode, and unclean election needs ZooKeeper mode")


def with_mode_of_vendor(release: Given, broker: Settings) -> Settings:
    """Return the broker settings, with ZooKeeper added if no file says the mode and a vendor's release says
    ZooKeeper."""
    vendors = vendor_release(release.value)
    if vendors is None or vendors.mode != WITH_ZOOKEEPER or not _is_open(release, broker):
        return broker
    return _in_zookeeper_mode(broker, f"{release.value.strip()} of {vendors.vendor} runs in ZooKeeper mode")


def _is_open(release: Given, broker: Settings) -> bool:
    """Tell whether the release has both modes and no setting says which."""
    try:
        line = parse_release(release.value).line
    except ReleaseError:
        return False
    told = any(key == ZOOKEEPER or key.startswith(OF_KRAFT) for key in broker)
    return not told and FIRST_KRAFT <= line <= LAST_WITH_ZOOKEEPER.line


def _in_zookeeper_mode(broker: Settings, why: str) -> Settings:
    return {**broker, ZOOKEEPER: Given(ZOOKEEPER, "some", Origin("assumption", why))}
