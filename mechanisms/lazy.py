"""Names that a package offers without importing their modules beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module ``__getattr__`` that imports a name's module when it is first asked for.

    Parameters
    ----------
    package : str
        Dotted name of the package, its ``__name__``.
    modules : mapping of name to module
        Module within the package (``"mechanisms.noise"`` asks for ``"laplace"``).

    Examples
    --------
    >>> lazy_names("mechanisms.noise", {"LaplaceNoise": "laplace"})("LaplaceNoise").__name__
    'LaplaceNoise'
    """

    def find(name: str) -> Any:  # noqa: ANN401
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return find
