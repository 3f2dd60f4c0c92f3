"""The placing of blocks: a layout that was chosen at some sizes lets no two live blocks overlap at any others."""

from __future__ import annotations

import numpy as np

from onnx_infer.tools.arena.placing import compacted, extent, layout_of, live_peak, lives_of, placed


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
        layout = layout_of(placed(random.permutation(count).tolist(), lives, sizes), lives)
        for _ in range(5):
            sizes = [int(x) for x in random.integers(0, 50, count)]
            offsets = compacted(layout.order, layout.below, sizes)
            for a in range(count):
                for b in range(a):
                    together = spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]
                    apart = offsets[a] >= offsets[b] + sizes[b] or offsets[b] >= offsets[a] + sizes[a]
                    assert apart or not together
            assert live_peak(spans, sizes) <= extent(offsets, sizes)
