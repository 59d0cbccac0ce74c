"""Numbers with their nouns, for all that is told to people."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 file``, ``1,000 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
