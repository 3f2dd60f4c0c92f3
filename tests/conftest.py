"""Hypothesis profiles: dev (quick), ci (reproducible), nightly (long); HYPOTHESIS_PROFILE or CI selects one.

Mutation testing (mutmut) has its own, `mutants`: reproducible, and a failure is not made smaller.
Bytecode is kept during a run, and collections of garbage pass over what lives to its end.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

if TYPE_CHECKING:
    from collections.abc import Generator

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("nightly", max_examples=5000, deadline=None)
settings.register_profile(
    "mutants", deadline=None, derandomize=True, database=None, max_examples=50, phases=[Phase.explicit, Phase.generate]
)
PROFILE = "mutants" if "MUTANT_UNDER_TEST" in os.environ else "ci" if os.environ.get("CI") else "dev"
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or PROFILE)

if sys.dont_write_bytecode:  # many tests start a new Python, and each would compile all that it imports
    bytecode = TemporaryDirectory(prefix="bytecode-")
    atexit.register(bytecode.cleanup)
    sys.dont_write_bytecode, sys.pycache_prefix = False, bytecode.name
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = bytecode.name


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let collections of garbage pass over the collected tests: they live to the end, and are most of all objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Likewise over what the tests of a file leave: modules and caches."""
    if nextitem is not None and nextitem.path != item.path:
        freeze()


def freeze() -> None:
    """Let later collections of garbage pass over all objects that are alive."""
    gc.collect()
    gc.freeze()
