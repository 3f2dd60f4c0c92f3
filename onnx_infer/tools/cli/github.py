"""Errors as annotations of GitHub Actions: `::error file=models/a.onnx,title=errors::inner sizes differ`."""

from __future__ import annotations


def annotation(path: str, title: str, message: str) -> str:
    """The line of a log that GitHub shows as an error of a file.

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
