"""What --help and --version print. This file imports neither onnx nor the engine."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class HelpText(argparse.RawDescriptionHelpFormatter):
    """The text of `--help`, in lines of at most 80 characters."""

    def __init__(self, prog: str) -> None:
        from shutil import get_terminal_size  # argparse, too, imports it for a help text only

        super().__init__(prog, width=min(80, get_terminal_size((80, 24)).columns))


class PrintVersions(argparse.Action):
    """Prints the versions, without importing onnx."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from symdim import __version__

        python = ".".join(map(str, sys.version_info[:3]))
        print(f"{parser.prog} {__version__} ({_onnx()}, Python {python})")
        parser.exit()


def _onnx() -> str:
    """The installed onnx and its version, which the folder with its metadata has in its name.

    `importlib.metadata`, whose import costs as much as all else here, is for an onnx that lies elsewhere.
    """
    from importlib.util import find_spec

    spec = find_spec("onnx")
    if spec is None or spec.origin is None:
        return "no onnx"
    beside = os.listdir(os.path.dirname(os.path.dirname(spec.origin)))
    found = [name for name in beside if name.startswith("onnx-") and name.endswith(".dist-info")]
    if len(found) == 1:
        return f"onnx {found[0].removeprefix('onnx-').removesuffix('.dist-info')}"
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"onnx {version('onnx')}"
    except PackageNotFoundError:
        return "onnx without metadata"
