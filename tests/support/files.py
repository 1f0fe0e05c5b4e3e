"""Whether optional files are there."""

from bench.datasets.source import DataAbsentError, located


def holds(name):
    try:
        return located(name, None).is_file()
    except DataAbsentError:
        return False
