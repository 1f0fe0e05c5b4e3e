"""A study whose cells do what they are told: end, die, hang, or tell what cannot be sent."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from bench.core.cell import FINISHED, Cell, CellResult, row
from bench.core.code_fingerprint import fingerprint

HOURS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a cell does, with a folder to leave traces in."""

    act: str
    number: int
    folder: str = ""
    components: tuple = ()


@dataclass(frozen=True, kw_only=True)
class Obedient:
    """Lists one cell an act; an act is "end" unless another one is named at its place."""

    size: int
    acts: dict = field(default_factory=dict)
    folder: str = ""

    def cells(self, session=None):
        code = fingerprint(())
        return [
            Cell(
                name=f"c{i}", labels={"scenario": "", "mechanism": f"m{i}"}, digest="", code=code,
                spec=Told(act=self.acts.get(i, "end"), number=i, folder=self.folder),
            )
            for i in range(self.size)
        ]  # fmt: skip

    def run_cell(self, cell, session):
        getattr(self, cell.spec.act)(cell.spec)
        number = float(cell.spec.number)
        rows = [row("m", value=number, lower=number, upper=number)]
        facts = {"told": lambda: 1} if cell.spec.act == "tell_a_function" else {}
        return CellResult(status=FINISHED, rows=rows, facts=facts)

    def end(self, spec):
        """Do nothing more."""

    def tell_a_function(self, spec):
        """End, with a result that cannot be sent."""

    def die(self, spec):
        """End the process."""
        os._exit(9)

    def die_once(self, spec):
        """End the process the first time."""
        trace = Path(spec.folder, f"died{spec.number}")
        if not trace.exists():
            trace.touch()
            os._exit(9)

    def leave(self, spec):
        """Leave Python as a component should not."""
        sys.exit(3)

    def hang(self, spec):
        """Wait for hours."""
        Path(spec.folder, f"pid{spec.number}").write_text(str(os.getpid()))
        time.sleep(HOURS)

    def hang_below(self, spec):
        """Wait for hours for a process of one's own."""
        below = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({HOURS})"])
        Path(spec.folder, f"pid{spec.number}").write_text(str(below.pid))
        below.wait()

    def hang_in_c(self, spec):
        """Compute for hours in code that lets no other thread run."""
        Path(spec.folder, f"pid{spec.number}").write_text(str(os.getpid()))
        re.match(r"(a+)+$", "a" * 60 + "b")
