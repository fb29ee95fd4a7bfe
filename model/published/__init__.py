"""Published replication protocols of Kafka, as transition systems in this project's own language.

The protocols are those of the public TLA+ specifications in ``hachikuji/kafka-specification`` on GitHub (Apache 2.0),
described in own words: truncation to the high watermark (before 0.11), KIP-101, KIP-279, the first attempt at KIP-320,
and KIP-320. Others counted their state spaces with another checker, so these protocols test an engine from outside.
There is one replicated log, and there are no clocks, crashes, fetch messages, consumers or acknowledgements: a follower
reads its leader's log directly, and a dead broker is one that takes no step.
"""
