"""Output: the width of a terminal, colours if rich is installed, a progress line, pipes that may close, annotations."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, TextIO

from onnx_infer.tools.cli.arguments import WrongCall
from symdim.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STYLES = {
    r"(?m)^(error|defect): .*$": "bold red",
    r"(?m)^warning: .*$": "yellow",
    r"(?m)^\S.*:$": "bold",
}
"""The lines of a report that are coloured: errors, warnings, headings."""


def width(fallback: int) -> int:
    """The columns of the terminal, or the value of COLUMNS, or else the fallback."""
    return shutil.get_terminal_size((fallback, 24)).columns


def show(text: str, stream: TextIO | None) -> None:
    """Print a report; in colours on a terminal if rich is installed and NO_COLOR is not set.

    Of all control characters only the line breaks are printed as they are; those of names are escapes by then.
    """
    if stream is None:  # standard output is closed
        return
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")  # for names with letters that the stream cannot encode
    text = "\n".join(map(printable, text.split("\n")))
    with _open_end(stream):
        if not (is_coloured(stream) and _show_in_colours(text, stream)):
            stream.write(f"{text}\n")
        stream.flush()


def read_bytes() -> bytes:
    """All of standard input."""
    if sys.stdin is None:
        raise WrongCall("standard input is closed")
    return sys.stdin.buffer.read()


def write_bytes(content: bytes) -> None:
    """Write to standard output."""
    if sys.stdout is None:
        raise WrongCall("standard output is closed")
    with _open_end(sys.stdout):
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def is_coloured(stream: TextIO) -> bool:
    """Whether the stream is a terminal with colours. NO_COLOR says that none is, else FORCE_COLOR that every one is."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def _show_in_colours(text: str, stream: TextIO) -> bool:
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        return False
    lines = Text(text)
    for pattern, style in _STYLES.items():
        lines.highlight_regex(pattern, style)
    Console(file=stream, highlight=False, force_terminal=True).print(lines, soft_wrap=True)
    return True


def annotation(path: str, title: str, message: str) -> str:
    """The line of a log that GitHub Actions show as an error of a file.

    >>> annotation("models/a,b.onnx", "MatMul (opset 13) 'y'", "inner sizes differ: 64 != 48\\n  100% sure")
    "::error file=models/a%2Cb.onnx,title=MatMul (opset 13) 'y'::inner sizes differ: 64 != 48%0A  100%25 sure"
    """
    return f"::error file={_property(path)},title={_property(title)}::{_escaped(message)}"


def _escaped(text: str) -> str:
    for sign in "%\r\n":
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


@contextmanager
def _open_end(stream: TextIO) -> Iterator[None]:
    """A context for writing to a stream whose reader may be gone: `| head` is not an error of the call."""
    try:
        yield
    except OSError as error:
        with open(os.devnull, "w") as nothing:  # the rest of the buffer must not fail again at exit
            os.dup2(nothing.fileno(), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise WrongCall(f"standard output: {error.strerror}") from None


@contextmanager
def progress(what: str, stream: TextIO | None, after: float = 1.0) -> Iterator[None]:
    """On a terminal, show a line with the current work and its seconds, once it has taken `after` seconds."""
    if stream is None or not stream.isatty():
        yield
        return
    done = Event()
    thread = Thread(target=_tell, args=(what, stream.write, stream.flush, done, after), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(what: str, write: Callable[[str], object], flush: Callable[[], None], done: Event, after: float) -> None:
    seconds = after
    told = False
    while not done.wait(after if not told else 1.0):
        write(f"\r{printable(what)}: {seconds:.0f} s")
        flush()
        seconds, told = seconds + 1.0, True
    if told:
        write("\r\x1b[K")
        flush()
