"""Which source files a component from outside is made from."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from hydra.utils import get_object

PACKAGES = ("bench", "attacks", "mechanisms")


@functools.cache
def sources_hash(target: str) -> str:
    """Return the hash of the files that a class is made from; empty where there is none.

    They are the file that defines it and, from there on, the files that each one imports, as far as
    these lie outside Python, installed packages and this project.
    """
    try:
        start = inspect.getmodule(get_object(target))
    except (TypeError, OSError, ValueError):
        return ""
    files: dict[str, bytes] = {}
    waiting = [start]
    while waiting:
        module = waiting.pop()
        path = getattr(module, "__file__", None)
        if module is None or path is None or module.__name__ in files:
            continue
        private = _private(module.__name__, Path(path))
        if private or module is start:
            files[module.__name__] = Path(path).read_bytes()
        if private:
            names = _imports(module, files[module.__name__])
            waiting += [sys.modules.get(name) for name in names]
    return hashlib.sha256(b"".join(files[name] for name in sorted(files))).hexdigest()[:12]


def _imports(module: ModuleType, source: bytes) -> Iterator[str]:
    """Yield the names of modules that a source imports; some may be names inside them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return  # compiled
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            relative = "." * node.level + (node.module or "")
            base = importlib.util.resolve_name(relative, module.__package__)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _private(name: str, path: Path) -> bool:
    """Whether a module is neither Python's, nor installed, nor one of this project's packages."""
    folders = sysconfig.get_paths().values()
    installed = any(path.is_relative_to(folder) for folder in folders)
    return not installed and name.partition(".")[0] not in PACKAGES
