"""The guide behind ``proofka help``: what each property, setting, fault, assumption, rule and status is.

Its tables are shipped with the package. ``settings``, ``dialects``, ``statuses`` and ``bounds`` are written by hand;
the others are written by ``scripts/write_guide.py`` from the properties, the claims and the documentation.
"""
