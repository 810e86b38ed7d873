"""What is wrong with a content, and where."""

from __future__ import annotations

from .light import NamedTuple


class Violation(NamedTuple):
    """One thing that is wrong with a request.

    ``path`` is dotted (``content.tags.*``): property names that the schema declares, ``*`` for
    array positions and for every name that came with the content.
    """

    code: str
    path: str
    message: str
