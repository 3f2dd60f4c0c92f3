"""Other forms of a result: code, a page, and the texts of other dialects."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from symdim import Expr
from symdim.dialects.texts import Dialect, text_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_infer.result import InferenceResult
    from symdim.dialects.languages import LanguageName


def emitted(result: InferenceResult, language: LanguageName, path: str | None) -> str:
    """The code of `--emit`. In C the names begin with that of the file."""
    return result.emit(language, name=identifier(path or ""))


def page(result: InferenceResult, path: str | None) -> str:
    """The page of `--html`."""
    return result.html("onnx-infer --demo" if path is None else "standard input" if path == "-" else Path(path).name)


def identifier(path: str) -> str:
    """A name for what is made of a file.

    >>> identifier("models/decoder v2.onnx"), identifier("-"), identifier("2.onnx")
    ('decoder_v2', 'model', 'model_2')
    """
    stem = re.sub(r"\W", "_", Path(path).stem, flags=re.ASCII).strip("_") or "model"
    return stem if not stem[0].isdigit() else f"model_{stem}"


def spelling(dialect: Dialect) -> Callable[[object], str]:
    """What makes the texts of sizes and elements with `--dialect`."""
    return partial(_spelled, dialect=dialect)


def _spelled(size: object, dialect: Dialect) -> str:
    return text_in(size, dialect) if isinstance(size, Expr) else str(size)
