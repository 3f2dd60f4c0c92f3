"""What the tests of the fuzzer share."""

from collections.abc import Iterator

import pytest

from tests.fuzz.runtime import Runtime


@pytest.fixture(scope="module")
def runtime() -> Iterator[Runtime]:
    """onnxruntime in a process of its own."""
    with Runtime() as started:
        yield started
