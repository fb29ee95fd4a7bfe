"""A cluster as Kafka's own tools print it, beside client property files: a folder that an audit reads.

``lines`` knows the lines of ``kafka-topics.sh --describe`` and ``kafka-configs.sh --describe``, ``output`` reads a
file of them, ``cluster`` puts files together and says what holds for a topic, ``folder`` finds the files, and
``pipelines`` says which topic goes with which clients.
"""
