"""Every package says what to open first, and offers names without loading their modules."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

ROOTS = ("attacks", "bench", "mechanisms")
PACKAGES = sorted(
    [*ROOTS]
    + [
        found.name
        for root in ROOTS
        for found in pkgutil.walk_packages(importlib.import_module(root).__path__, f"{root}.")
        if found.ispkg
    ]
)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_says_what_to_open_first(name):
    package = importlib.import_module(name)
    assert " first" in package.__doc__
    offered = getattr(package, "__getattr__", None)
    for wanted in inspect.getclosurevars(offered).nonlocals["modules"] if offered else ():
        assert getattr(package, wanted).__name__ == wanted
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_importing_packages_loads_none_of_their_modules():
    code = (
        "import sys, attacks, bench.scenarios, bench.study, mechanisms.laws, mechanisms.noise\n"
        "print([m for m in sys.modules if m.partition('.')[0] in ('sklearn', 'mlflow', 'hydra')])\n"
        "print([m for m in sys.modules if m.startswith(('attacks.', 'bench.study.'))])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"
