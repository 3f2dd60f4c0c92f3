"""The placing of blocks: a layout that was chosen at some sizes lets no two live blocks overlap at any others."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_infer import infer
from onnx_infer.tools.arena.placing import compacted, extent, layout_of, live_peak, lives_of, order_of, placed
from onnx_infer.tools.arena.sharing import slots_of

from . import models


def test_a_layout_holds_at_any_sizes() -> None:
    """Random lives and sizes; the offsets of a layout are compared pair by pair."""
    random = np.random.default_rng(3)
    for _ in range(60):
        count = int(random.integers(1, 30))
        spans = [
            (int(a), int(a + b))
            for a, b in zip(random.integers(0, 20, count), random.integers(0, 6, count), strict=True)
        ]
        lives = lives_of(spans)
        sizes = [int(x) for x in random.integers(0, 9, count)]
        layout = layout_of(order_of(placed(random.permutation(count).tolist(), lives, sizes), lives), lives)
        for _ in range(5):
            sizes = [int(x) for x in random.integers(0, 50, count)]
            offsets = compacted(layout.order, layout.below, sizes)
            for a in range(count):
                for b in range(a):
                    together = spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]
                    apart = offsets[a] >= offsets[b] + sizes[b] or offsets[b] >= offsets[a] + sizes[a]
                    assert apart or not together
            assert live_peak(spans, sizes) <= extent(offsets, sizes)


CLOSE = {
    "decoder": (models.decoder(), ("batch", "seq", "past")),
    "unet": (models.unet(), ("N", "H", "W")),
    "windows": (models.windows(), ("N", "H", "W")),
}


@pytest.mark.parametrize("name", CLOSE)
def test_one_layout_is_close_to_a_placement_anew(name: str) -> None:
    """At random sizes, at which it was not chosen, against best fit with the largest block first."""
    model, symbols = CLOSE[name]
    plan = infer(model).arena(align=1)
    spans = [(storage.first, storage.last) for storage in plan.storages]
    lives = lives_of(spans)
    random = np.random.default_rng(7)
    for _ in range(40):
        given = {symbol: 8 * int(random.choice([1, 2, 5, 9, 30, 70])) for symbol in symbols}
        at = plan.at(given)
        slots = slots_of(plan.storages, {buffer.value: buffer.size for buffer in at.buffers}, 1)
        anew = extent(placed(sorted(range(len(slots)), key=lambda i: -slots[i]), lives, slots), slots)
        assert at.size <= 1.1 * anew, given
