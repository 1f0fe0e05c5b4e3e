"""The layout of text in the Bayesian Interchange Format: comments, blocks, statements, lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

KINDS = ("network", "variable", "probability")
OPEN, CLOSE = "([{", ")]}"


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the kind, head and body of every block; comments are left out.

    Raises
    ------
    ValueError
        If there is anything but blocks, or a brace or quote does not close.
    """
    text = _without_comments(text)
    place = 0
    while rest := text[place:].lstrip():
        place = len(text) - len(rest)
        kind = re.match(r"\w+", rest)
        if kind is None or kind[0] not in KINDS:
            raise ValueError(f"text must hold blocks of {', '.join(KINDS)}, got {rest[:40]!r}.")
        opened = _find(text, "{", place)
        closed = _closing(text, opened)
        head = text[place + len(kind[0]) : opened].strip()
        if kind[0] == "probability":
            if not (head.startswith("(") and head.endswith(")")):
                raise ValueError(f"probability must name its variables in brackets, got {head!r}.")
            head = head[1:-1]
        yield kind[0], head, text[opened + 1 : closed]
        place = closed + 1


def statements(body: str) -> list[str]:
    """Return the statements of a block, which end in semicolons outside quotes."""
    return [part.strip() for part in _split(body, ";", nested=False) if part.strip()]


def parts(text: str, separators: str) -> list[str]:
    """Return what stands between separators outside quotes and brackets.

    Intervals such as ``(18,65]`` open with one bracket and close with another.

    Examples
    --------
    >>> parts('[0,18], (18,65]', ",")
    ['[0,18]', '(18,65]']
    >>> parts('"a b"  c', " ")
    ['"a b"', 'c']
    """
    return [part.strip() for part in _split(text, separators, nested=True) if part.strip()]


def strip_quotes(text: str) -> str:
    """Return a name without blanks and quotes around it."""
    name = text.strip()
    quoted = len(name) > 1 and name[0] == name[-1] == '"'
    return name[1:-1] if quoted else name


def _without_comments(text: str) -> str:
    # Quoted text is passed over as a whole: an address in it holds two slashes.
    return re.sub(
        r'("[^"]*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or " ", text, flags=re.DOTALL
    )


def _split(text: str, separators: str, *, nested: bool) -> Iterator[str]:
    start = depth = 0
    inside = False
    for place, letter in enumerate(text):
        if letter == '"':
            inside = not inside
        elif not inside and nested and letter in OPEN:
            depth += 1
        elif not inside and nested and letter in CLOSE:
            depth -= 1
        elif not inside and depth <= 0 and letter in separators:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _find(text: str, letter: str, start: int) -> int:
    inside = False
    for place in range(start, len(text)):
        if text[place] == '"':
            inside = not inside
        elif text[place] == letter and not inside:
            return place
    raise ValueError(f"text must have {letter!r} after {text[start : start + 40].strip()!r}.")


def _closing(text: str, opened: int) -> int:
    depth, inside = 0, False
    for place in range(opened, len(text)):
        letter = text[place]
        if letter == '"':
            inside = not inside
        elif not inside and letter in "{}":
            depth += 1 if letter == "{" else -1
            if depth == 0:
                return place
    raise ValueError(f"text must close the brace after {text[:opened].strip()[-40:]!r}.")
