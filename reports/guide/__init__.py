"""The guide behind ``proofka help``: descriptions of properties, settings, faults, assumptions, rules and statuses.

The package contains the tables. ``scripts/write_guide.py`` writes ``properties``, ``claims``, ``rules``, ``sections``
and ``terms`` from the properties, the claims and the documents; the other tables are written by hand.
"""
