"""What a class of receivers' priors is."""

from __future__ import annotations

from typing import Protocol


class ReceiverClass(Protocol):
    """A class Q_x of priors on databases, which may depend on the database x."""

    @property
    def name(self) -> str:
        """How tables name the class."""

    def leaves_class(self, mechanism: object) -> str | None:
        """Return why a posterior can lie outside the class; None where it is conjugate."""
