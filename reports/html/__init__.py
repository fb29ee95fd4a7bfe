"""The HTML report: one self-contained file, with a diagram of each trace to step through."""

from proofka.reports.html.page import to_html

__all__ = ["to_html"]
