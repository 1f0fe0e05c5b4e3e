"""Addresses of stores: what MLflow is given, and what is shown, stored and printed instead."""

from __future__ import annotations

import base64
import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

HIDDEN = "***"
FILES = ("sqlite:", "file:")
SECRET_NAMES = re.compile(r"pass|pwd|secret|token|key|connect", re.IGNORECASE)
USERINFO = re.compile(r"(?<=://)[^\s/@'\"]+@")
VARIABLES = ("MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")
USERNAME, PASSWORD = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A tracking address whose user, password and keys are never shown.

    Parameters
    ----------
    uri : str
        Any MLflow tracking address, as the user gave it.
    """

    uri: str

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    @property
    def _parts(self) -> tuple[str, str, str, str]:
        """Scheme with its slashes, user and password, place, query."""
        found = re.fullmatch(r"([\w+.-]{2,}:/*)(.*)", self.uri, re.DOTALL)
        if found is None or found[1].startswith(FILES):
            return "", "", self.uri, ""
        userinfo, _, place = found[2].rpartition("@")
        place, _, query = place.partition("?")
        return found[1], userinfo, place, query

    @property
    def shown(self) -> str:
        """The address with ``***`` in place of what must not be told."""
        scheme, userinfo, place, query = self._parts
        pairs = (pair.partition("=") for pair in query.split("&") if pair)
        told = "&".join(
            f"{name}{mark}{HIDDEN if SECRET_NAMES.search(name) else value}"
            for name, mark, value in pairs
        )
        return "".join(
            (scheme, f"{HIDDEN}@" if userinfo else "", place, f"?{told}" if told else "")
        )

    @property
    def page(self) -> str:
        """The address of a server's web page, without user and password."""
        scheme, _, place, _ = self._parts
        return scheme + place.rstrip("/")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be told, as the address spells it."""
        _, userinfo, _, query = self._parts
        user, colon, password = userinfo.partition(":")
        pairs = (pair.partition("=") for pair in query.split("&"))
        named = [value for name, _, value in pairs if SECRET_NAMES.search(name)]
        header = base64.b64encode(":".join(self._login).encode()).decode() if self._login else ""
        return tuple(s for s in (password if colon else user, header, *named) if s)

    def check(self) -> None:
        """Refuse a user or password that MLflow and its drivers would cut at the wrong place."""
        _, userinfo, _, _ = self._parts
        if re.search(r"[/?#\[\]@\s]", userinfo):
            raise ValueError(
                "in a tracking address, write / ? # [ ] @ and blanks of a user or password as "
                f"%2F %3F %23 %5B %5D %40 %20, and any other @ as %40; got {self.shown}."
            )

    def scrub(self, text: str) -> str:
        """Return a text without the address's secrets, however they are spelt in it."""
        return scrub(text, self.secrets)

    @contextlib.contextmanager
    def given_to_mlflow(self) -> Iterator[None]:
        """Pass a server's user and password beside the address while MLflow is called.

        MLflow writes the address of a server into its lines and errors.
        """
        given = {USERNAME: self._login[0], PASSWORD: self._login[1]} if self._login else {}
        before = {name: os.environ.get(name) for name in given}
        os.environ.update(given)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    @property
    def for_mlflow(self) -> str:
        """The address that MLflow is given: without a server's user and password."""
        if not self._login:
            return self.uri
        scheme, _, place, query = self._parts
        return f"{scheme}{place}{'?' if query else ''}{query}"

    @property
    def _login(self) -> tuple[str, str] | None:
        scheme, userinfo, _, _ = self._parts
        user, _, password = map(unquote, userinfo.partition(":"))
        return (user, password) if scheme.startswith("http") and user and password else None


def known_secrets(words: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the secrets of addresses in words of a command and in MLflow's own variables."""
    asked = [word.partition("=")[2].strip("'\" ") for word in words if "://" in word]
    found = [secret for uri in asked for secret in Address(uri).secrets]
    for name in VARIABLES:
        value = os.environ.get(name, "")
        found += Address(value).secrets if name.endswith("URI") else [value]
    return tuple(s for s in found if s)


def scrub(text: str, secrets: Iterable[str] = ()) -> str:
    """Return a text without these secrets and without the user and password of any address."""
    spelt = {way for secret in secrets for way in _spellings(secret)}
    for way in sorted(spelt, key=len, reverse=True):
        text = re.sub(re.escape(way), HIDDEN, text, flags=re.IGNORECASE)
    return USERINFO.sub(f"{HIDDEN}@", text)


def hide_addresses(value: Any) -> Any:  # noqa: ANN401
    """Return plain data without the user and password of any address in it."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {key: hide_addresses(held) for key, held in value.items()}
    return [hide_addresses(held) for held in value] if isinstance(value, list) else value


def _spellings(secret: str) -> Iterator[str]:
    """Yield how a secret may stand in a text: encoded, decoded, escaped, in a header."""
    for plain in {secret, unquote(secret), unquote_plus(secret)}:
        yield from (plain, quote(plain, safe=""), quote(plain), quote_plus(plain))
        yield repr(plain)[1:-1]
        yield plain.replace("\\", "\\\\").replace('"', '\\"')
