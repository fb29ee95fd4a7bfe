"""A live cluster: read through an admin client, and described as Kafka's own tools would print it.

``command_config`` reads the file that Kafka's tools take as ``--command-config``. ``admin`` asks the cluster through
kafka-python. ``reading`` reads what a check needs, ``facts`` are the results, and ``printed`` prints them as the tools
do. ``snapshot`` puts the outputs and the clients' files together: in memory for a check, or in a folder.
"""
