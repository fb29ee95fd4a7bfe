"""The PDF for a design review: what a page of paper needs to stand alone."""

from reports.pdf.review import to_pdf

__all__ = ["to_pdf"]
