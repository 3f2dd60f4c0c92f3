"""Blocks in which this package stands in place of another one: they may overlap, in threads and tasks."""

from __future__ import annotations

import asyncio
import sys
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING

import pytest

from onnx_infer.integrations import onnxruntime
from onnx_infer.integrations.replacing import Replacement, replace_members

if TYPE_CHECKING:
    from collections.abc import Callable


class Library:
    def answer(self) -> str:
        return "theirs"


FORMER = vars(Library)["answer"]


def replacement() -> Replacement:
    members = {(Library, "answer"): lambda self: "ours", (Library, "added"): 1}
    return Replacement(lambda: replace_members(members))


def test_the_last_block_that_ends_takes_it_back() -> None:
    replaced, seen = replacement(), []
    first_in, second_in, first_out = Event(), Event(), Event()

    def first() -> None:
        with replaced.installed():
            first_in.set()
            second_in.wait(5)
        first_out.set()

    def second() -> None:
        first_in.wait(5)
        with replaced.installed():
            second_in.set()
            first_out.wait(5)
            seen.append(Library().answer())

    run(first, second)
    assert seen == ["ours"]
    assert vars(Library)["answer"] is FORMER
    assert not hasattr(Library, "added")


def test_in_overlapping_tasks() -> None:
    replaced, seen = replacement(), []

    async def task(before: float, inside: float) -> None:
        await asyncio.sleep(before)
        with replaced.installed():
            await asyncio.sleep(inside)
            seen.append(Library().answer())

    async def both() -> None:
        await asyncio.gather(task(0, 0.01), task(0.005, 0.02))

    asyncio.run(both())
    assert seen == ["ours", "ours"]
    assert Library().answer() == "theirs"


def test_a_block_inside_of_install_ends_nothing() -> None:
    replaced = replacement()
    replaced.install()
    with replaced.installed():
        replaced.uninstall()
        assert Library().answer() == "ours"
        replaced.install()
    assert Library().answer() == "ours"
    replaced.uninstall()
    assert Library().answer() == "theirs"


def test_an_error_ends_a_block() -> None:
    replaced = replacement()
    with pytest.raises(KeyError), replaced.installed():
        raise KeyError
    assert Library().answer() == "theirs"


def test_a_race_of_starts_loses_nothing() -> None:
    replaced, interval = replacement(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            barrier = Barrier(4)

            def start(barrier: Barrier = barrier) -> None:
                barrier.wait()
                replaced.install()

            run(*[start] * 4)
            replaced.uninstall()
            assert vars(Library)["answer"] is FORMER
    finally:
        sys.setswitchinterval(interval)


def test_modules_of_onnxruntime_come_back() -> None:
    name = "shape_infer_helper"
    assert name not in sys.modules
    outer, inner = onnxruntime.replaced(), onnxruntime.replaced()
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert name in sys.modules
    inner.__exit__(None, None, None)
    assert name not in sys.modules


def run(*functions: Callable[[], None]) -> None:
    threads = [Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
