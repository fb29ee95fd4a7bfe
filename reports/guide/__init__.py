"""The guide behind ``proofka help``: descriptions of properties, settings, faults, assumptions, rules and statuses.

The package contains the tables. ``settings``, ``dialects``, ``statuses``, ``bounds``, ``other_names``, ``jepsen`` and
``kafka_sections`` are written by hand; the others are written by ``scripts/write_guide.py`` from the properties, the
claims and the documentation.
"""
