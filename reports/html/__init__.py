"""The HTML report: one file that needs nothing else, with each trace as a diagram to step through."""

from reports.html.page import to_html

__all__ = ["to_html"]
