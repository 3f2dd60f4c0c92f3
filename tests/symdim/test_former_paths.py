"""Module paths of earlier releases give today's modules."""

from __future__ import annotations

import pickle
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest

import onnx_infer
import symdim
from symdim.former_paths import MOVED


@pytest.mark.parametrize("former", sorted(MOVED))
def test_a_former_path_gives_the_same_module(former: str) -> None:
    module = import_module(MOVED[former])
    spec = module.__spec__
    assert import_module(former) is module
    assert module.__spec__ is spec
    assert module.__name__ == MOVED[former]


def test_a_name_that_never_was_is_not_found() -> None:
    assert find_spec("symdim.nothing") is None
    with pytest.raises(ImportError):
        import_module("onnx_infer.nothing")


def test_pickles_that_name_former_paths_load() -> None:
    shape = symdim.Shape([symdim.Var("N") // 2, 3])
    tensor = onnx_infer.SymTensor(1, (shape[0],))
    for value in (shape, tensor):
        text = pickle.dumps(value, protocol=0)
        for former, today in MOVED.items():
            text = text.replace(f"c{today}\n".encode(), f"c{former}\n".encode())
        assert b"algebra" not in text
        assert pickle.loads(text) == value


def test_a_former_path_works_in_a_fresh_interpreter() -> None:
    program = "from onnx_infer.tensor import SymTensor; import onnx_infer; assert SymTensor is onnx_infer.SymTensor"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
