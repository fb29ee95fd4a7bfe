"""Configurations where they really live: files of clients, frameworks, operators and tools.

A reader of a dialect takes a file apart into components (``component.py``), and accounts for each of its values.
"""
