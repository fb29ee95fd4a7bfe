"""Client programs for the libraries of Python. Each runs as a process of its own: ``python -m``."""
