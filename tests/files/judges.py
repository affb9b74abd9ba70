"""Judges of files for tests that are not about them."""

import os
from pathlib import Path


def any_file(path: Path, status: os.stat_result) -> None:
    """Refuses none."""
