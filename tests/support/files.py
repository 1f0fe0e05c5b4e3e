"""Whether optional files are there."""

import os
from pathlib import Path

from bench.datasets.source import DataAbsentError, locate


def holds(name):
    try:
        return locate(name, None).is_file()
    except DataAbsentError:
        return False


def beside(name):
    """Return a folder beside the one named by BENCH_DATA."""
    return Path(os.environ.get("BENCH_DATA", ".")).resolve().parent / name
