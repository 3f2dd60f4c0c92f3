"""Arena plans against other ways: `python benchmarks/arenas.py`; `--pictures` draws those of docs/images.

The table has, for models of the tests, the bytes of one plan for all sizes at two sizes of the symbols, the ratio to
the lower bound, and what onnxsim (if it is installed) plans for a model with these sizes fixed: its arena, and how
many of the values it leaves out. onnxsim counts without alignment, so `align=1` here, and inputs lie in the arena.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import onnx  # noqa: E402
from timing import table  # noqa: E402

import onnx_infer  # noqa: E402
from onnx_infer.protobuf.specialize import specialize  # noqa: E402
from onnx_infer.tools.arena.plan import ArenaPlan  # noqa: E402
from tests.onnx_infer import models  # noqa: E402

MODELS: dict[str, tuple[onnx.ModelProto, tuple[dict[str, int], ...]]] = {
    "decoder": (models.decoder(2), ({"batch": 1, "seq": 16, "past": 48}, {"batch": 8, "seq": 1, "past": 511})),
    "cnn": (models.cnn(4), ({"N": 1, "H": 64, "W": 64}, {"N": 4, "H": 224, "W": 160})),
    "unet": (models.unet(2), ({"N": 1, "H": 32, "W": 32}, {"N": 2, "H": 64, "W": 128})),
    "windows": (models.windows(), ({"N": 1, "H": 28, "W": 28}, {"N": 2, "H": 70, "W": 49})),
    "detector": (models.detector(), ({"boxes": 100, "classes": 80}, {"boxes": 8400, "classes": 20})),
}

PICTURES = {
    "decoder": (models.decoder(1), {"batch": 1, "seq": 16, "past": 48}),
    "unet": (models.unet(3), {"N": 1, "H": 64, "W": 64}),
}

THEMES = {
    "light": {"text": "#24292f", "grid": "#d8dee4", "stroke": "#ffffff", "shade": 58},
    "dark": {"text": "#d1d7e0", "grid": "#3d444d", "stroke": "#0d1117", "shade": 48},
}
HUES = (18, 221, 160, 268, 44, 190, 330, 95)
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 820, 300, 70, 34, 30


def picture(title: str, plan: ArenaPlan, sizes: Mapping[str, int], theme: str) -> str:
    """The arena at some sizes as SVG: nodes across, addresses up, a box for each storage."""
    at, colours, steps = plan.at(sizes), THEMES[theme], max(len(plan.steps), 1)
    placed = {buffer.value: buffer for buffer in at.buffers}
    across, up = (WIDTH - LEFT - 10) / steps, (HEIGHT - TOP - BOTTOM) / max(at.size, 1)
    floor = HEIGHT - BOTTOM
    named = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="11">',
        f'<text x="{LEFT}" y="18" font-size="13" fill="{colours["text"]}">{escape(title)} at {escape(named)}: '
        f"{at.size:,} bytes, {at.size / max(at.lower_bound, 1):.2f} of the lower bound</text>",
    ]
    for share in range(5):
        y = floor - share / 4 * (floor - TOP)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 10}" stroke="{colours["grid"]}"/>')
        parts.append(
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{colours["text"]}">'
            f"{at.size * share // 4:,}</text>"
        )
    for number, storage in enumerate(plan.storages):
        box = placed[storage.root]
        first, last = max(storage.first, 0), min(storage.last, steps - 1) + 1
        x, width = LEFT + first * across, (last - first) * across
        y, height = floor - (box.offset + box.size) * up, box.size * up
        fill = f"hsl({HUES[number % len(HUES)]}, 62%, {colours['shade']}%)"
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.6):.1f}" rx="1.5" fill="{fill}" '
            f'fill-opacity="0.85" stroke="{colours["stroke"]}" stroke-width="0.7"/>'
        )
        if height > 13 and width > 6.5 * len(storage.root) + 6:
            parts.append(
                f'<text x="{x + width / 2:.1f}" y="{y + height / 2 + 4:.1f}" text-anchor="middle" fill="#14171a">'
                f"{escape(storage.root)}</text>"
            )
    parts.append(
        f'<text x="{LEFT}" y="{HEIGHT - 10}" fill="{colours["text"]}">node 1</text>'
        f'<text x="{WIDTH - 10}" y="{HEIGHT - 10}" text-anchor="end" fill="{colours["text"]}">{steps}</text></svg>\n'
    )
    return "\n".join(parts)


def draw(folder: Path) -> None:
    for name, (model, sizes) in PICTURES.items():
        plan = onnx_infer.infer(model).arena()
        for theme in THEMES:
            path = folder / f"arena-{name}-{theme}.svg"
            path.write_text(picture(name, plan, sizes, theme), "utf-8")


def by_onnxsim(model: onnx.ModelProto) -> list[str]:
    """The arena of onnxsim, and how many values it leaves out."""
    try:
        from onnxsim import plan_activation_memory
    except ImportError:
        return ["not installed", ""]
    plan: Any = plan_activation_memory(model)
    return [f"{plan.arena_bytes:,}", f"{len(plan.unplanned)} of {len(plan.unplanned) + len(plan.tensor_offsets)}"]


def rows() -> list[list[str]]:
    found = []
    for name, (model, all_sizes) in MODELS.items():
        plan = onnx_infer.infer(model).arena(align=1, inputs="arena")
        for sizes in all_sizes:
            at = plan.at(sizes)
            named = ", ".join(f"{symbol}={size}" for symbol, size in sizes.items())
            theirs = by_onnxsim(specialize(model, sizes))
            found.append([name, named, f"{at.size:,}", f"{at.size / at.lower_bound:.3f}", *theirs])
        found.append([name, "all", "one plan", "", *by_onnxsim(model)])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", action="store_true", help="draw the pictures of docs/images instead")
    if parser.parse_args().pictures:
        draw(ROOT / "docs" / "images")
        return
    print(table(["model", "sizes", "one plan, bytes", "to the lower bound", "onnxsim", "left out"], rows()))


if __name__ == "__main__":
    main()
