"""The commands as a user types them: in a process of their own, or (bad input) in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW")}
    return kept | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def start(folder, *arguments, module="bench"):
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=folder, env=environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip


def bench(folder, *arguments, module="bench"):
    """Run a command in a process of its own; return its exit code, output and errors."""
    process = start(folder, *arguments, module=module)
    out, error = process.communicate(timeout=240)
    return process.returncode, out, error


def one_line(code, error):
    """Return the one line with which a command refused its input."""
    assert code == 2, (code, error)
    lines = [line for line in error.splitlines() if line.strip()]
    assert len(lines) == 1, error
    return lines[0]


class InProcess:
    """Calls the commands' `main` in this process, in a folder, and reads what they refuse.

    Bad input is refused before anything runs, so that a process of its own proves nothing more.
    """

    def __init__(self, monkeypatch, capfd):
        self._monkeypatch, self._capfd = monkeypatch, capfd

    def __call__(self, folder, *arguments, module="bench"):
        main = import_module(f"{module}.__main__").main
        with self._monkeypatch.context() as patch:
            patch.chdir(folder)
            for name in [name for name in os.environ if name.startswith("MLFLOW")]:
                patch.delenv(name)
            patch.setenv("HYDRA_FULL_ERROR", "1")  # main sets it
            patch.setattr(sys, "argv", [f"python -m {module}", *arguments])
            self._capfd.readouterr()
            code = main() if module == "bench" else main(list(arguments))
        return one_line(code, self._capfd.readouterr().err)
