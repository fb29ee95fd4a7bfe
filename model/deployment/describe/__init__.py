"""A cluster as Kafka's own tools print it, beside client property files: a folder that an audit reads.

``lines`` reads the lines of ``kafka-topics.sh --describe`` and ``kafka-configs.sh --describe``. ``output`` reads a file
of them. ``cluster`` combines files and finds the settings of a topic. ``folder`` finds the files, and ``pipelines``
finds which topic goes with which clients.
"""
