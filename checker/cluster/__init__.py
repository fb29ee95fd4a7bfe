"""A throw-away Apache Kafka cluster on this machine, and what steers and observes it.

The folder imports only Python's standard library and itself, and runs with Python 3.9: `proofka reproduce --script`
copies it into an archive that runs without Proofka.
"""
