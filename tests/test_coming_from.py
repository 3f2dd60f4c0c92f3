"""The sections of docs/coming_from.md, each of which runs where the package that it is about is installed.

Those of torch, onnxscript and spox run in a job of CI, which installs these large packages.
"""

from __future__ import annotations

import doctest
from importlib.util import find_spec

import pytest

from tests.pages import text_of

NEEDED = {
    "onnx.shape_inference": (),
    "onnxruntime's symbolic_shape_infer": ("onnxruntime",),
    "onnx-shape-inference": ("onnx_ir",),
    "torch.onnx": ("torch", "onnxscript"),
    "onnxscript": ("onnxscript",),
    "spox": ("spox",),
}
"""Heading of a section -> the packages that it needs."""

INSTALLED = [heading for heading, packages in NEEDED.items() if all(map(find_spec, packages))]
SECTIONS = dict(part.split("\n", 1) for part in text_of("docs/coming_from.md").split("\n## ")[1:])


def test_every_section_is_listed() -> None:
    assert list(SECTIONS) == list(NEEDED)


@pytest.mark.filterwarnings("default")  # of the other packages
@pytest.mark.parametrize("heading", INSTALLED)
def test_a_section_prints_what_it_says(heading: str) -> None:
    found = doctest.DocTestParser().get_doctest(SECTIONS[heading], {}, heading, "docs/coming_from.md", 0)
    assert found.examples
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(found).failed == 0
