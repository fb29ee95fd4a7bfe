"""Existing configuration files of clients, frameworks, operators and tools.

The reader of a dialect separates a file into components (``component.py``), and accounts for each of its values.
"""
