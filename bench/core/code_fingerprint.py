"""Which code computes a cell: this project's packages, and private files of further components.

Whoever measures a cell compares this fingerprint with the one that the cell was listed with.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hydra.utils import get_object

PACKAGES = ("bench", "attacks", "mechanisms")
NUMERICAL = ("numpy", "scipy", "scikit-learn", "pandas", "POT")
INSTALLED = {"site-packages", "dist-packages"}

Stamp = tuple[str, int, int]


def fingerprint(spec: object, packages: str | None = None) -> str:
    """Return the hash of the code of a cell: the packages, and every ``_target_`` outside them.

    `packages` is a `code_version` that was computed before, for many cells at once.
    """
    foreign = sorted(foreign_sources(spec).items())
    parts = [code_version() if packages is None else packages, foreign]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def code_version() -> str:
    """Return the hash of the packages' sources and of the versions of what computes.

    A recorded cell is reused by the same code only. Files are looked at anew at every call, and
    read again where they changed.
    """
    return _hash_of(tuple(_stamp(path) for path in sorted(_package_files())))


def foreign_sources(spec: object) -> dict[str, str]:
    """Return a hash of the code of every ``_target_`` that lies outside the packages."""
    if isinstance(spec, Mapping):
        found = {}
        target = spec.get("_target_")
        if isinstance(target, str) and target.partition(".")[0] not in PACKAGES:
            found[target] = sources_hash(target)
        for value in spec.values():
            found |= foreign_sources(value)
        return found
    if isinstance(spec, list | tuple):
        return {k: v for value in spec for k, v in foreign_sources(value).items()}
    return {}


def sources_hash(target: str) -> str:
    """Return the hash of the files that a class is made from; empty where there is none.

    They are the file that defines it and, from there on, the files that each one imports, as far as
    these lie outside Python, installed packages and this project. Imports are followed by name,
    loaded or not, so that every process finds the same files.
    """
    try:
        start = inspect.getmodule(get_object(target))
    except (TypeError, OSError, ValueError):
        return ""
    path = getattr(start, "__file__", None)
    if start is None or path is None:
        return ""
    hashes: dict[str, str] = {}
    waiting = [(start.__name__, Path(path))]
    while waiting:
        name, file = waiting.pop()
        if name in hashes:
            continue
        package = name if file.name == "__init__.py" else name.rpartition(".")[0]
        hashes[name], imported = _read(_stamp(file), package)
        if _private(name, file):
            places = ((other, _file_of(other)) for other in imported if other not in hashes)
            waiting += [(n, f) for n, f in places if f is not None and _private(n, f)]
    return hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()[:12]


@functools.lru_cache(maxsize=2)
def _hash_of(stamps: tuple[Stamp, ...]) -> str:
    total = hashlib.sha256("".join(map(_version, NUMERICAL)).encode())
    roots = _roots()
    for path, _, _ in stamps:
        root = next(root for root in roots if Path(path).is_relative_to(root))
        total.update(Path(path).relative_to(root.parent).as_posix().encode())
        total.update(Path(path).read_bytes())
    return total.hexdigest()[:12]


def _package_files() -> Iterator[Path]:
    for root in _roots():
        yield from root.rglob("*.py")


@functools.cache
def _roots() -> tuple[Path, ...]:
    found = (importlib.util.find_spec(package) for package in PACKAGES)
    return tuple(Path(str(spec.origin)).parent for spec in found if spec is not None)


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def _stamp(path: Path) -> Stamp:
    told = path.stat()
    return (str(path), told.st_mtime_ns, told.st_size)


@functools.lru_cache(maxsize=256)
def _read(stamp: Stamp, package: str) -> tuple[str, tuple[str, ...]]:
    """Return the hash of a file and the names of modules that it imports."""
    source = Path(stamp[0]).read_bytes()
    return hashlib.sha256(source).hexdigest(), tuple(_imports(source, package))


def _imports(source: bytes, package: str) -> Iterator[str]:
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
            try:
                base = importlib.util.resolve_name(relative, package or None)
            except ImportError:
                continue  # beyond the top: it will not import either
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _file_of(name: str) -> Path | None:
    """Return the source file of a module without importing it, or None."""
    top, *rest = name.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not rest:
        origin = Path(spec.origin or "")
        return origin if origin.suffix == ".py" and origin.is_file() else None
    for location in spec.submodule_search_locations or ():
        base = Path(location).joinpath(*rest)
        for path in (base.with_name(f"{base.name}.py"), base / "__init__.py"):
            if path.is_file():
                return path
    return None


def _private(name: str, path: Path) -> bool:
    """Whether a module is neither Python's, nor installed, nor one of this project's packages."""
    if name.partition(".")[0] in PACKAGES or not INSTALLED.isdisjoint(path.parts):
        return False
    return not any(path.is_relative_to(folder) for folder in _python_folders())


@functools.cache
def _python_folders() -> tuple[str, ...]:
    return tuple(sysconfig.get_paths().values())  # takes a millisecond, and is asked for each file
