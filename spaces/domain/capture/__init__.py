"""Capture: what is said in passing becomes a memory only by rule, and where a space wants it so by a person's word."""

from spaces.domain.capture.capturing import Captured, Outcome, Said, capture
from spaces.domain.capture.reviewing import drop_captures, keep_capture, list_captures

__all__ = [
    "Captured",
    "Outcome",
    "Said",
    "capture",
    "drop_captures",
    "keep_capture",
    "list_captures",
]
