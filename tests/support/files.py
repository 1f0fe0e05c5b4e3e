"""Whether optional files are there."""

from bench.datasets.source import DataAbsentError, locate


def holds(name):
    try:
        return locate(name, None).is_file()
    except DataAbsentError:
        return False
