"""The pictures of the report: `python -m integration_tests.page_pictures` writes `docs/images/report*.png`.

It needs Chromium, chromedriver and the packages of `--group forms`. Each picture is drawn for a light and a dark page.
"""

from __future__ import annotations

import io
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import onnx
from PIL import Image

from integration_tests.page import Page, chromium_at
from onnx_infer import infer
from tests.onnx_infer import models
from tests.onnx_infer.texts import parsed

IMAGES = Path(__file__).parents[1] / "docs" / "images"
_COLOURS = 128
"""The colours of a picture: enough for its texts, lines and badges, in less than half of the bytes."""

ERRORS = """g (float[batch, seq, 64] x, float[64, 256] wide, float[128, 64] narrow, float[64] scale) => (y, z) {
    hidden = MatMul (x, wide)  active = Relu (hidden)  proj = MatMul (active, narrow)  y = Add (x, proj)
    z = Mul (active, scale) }"""

UNKNOWN = """g (float[N, 4] boxes, float[N] scores, float[M] words) => (best, mixed) <float limit = {0.5}> {
    kept = Greater (scores, limit)  places = NonZero (kept)  rows = Transpose <perm = [1, 0]> (places)
    best = GatherND (boxes, rows)  tokens = com.acme.Tokenize (words)  mixed = Relu (tokens) }"""


class Picture(NamedTuple):
    """A page and how it stands: its model, its sizes, the chosen value, width and height.

    Without a value the node of the peak is chosen, which a long list is scrolled to.
    """

    name: str
    title: str
    model: onnx.ModelProto
    sizes: dict[str, int]
    value: str
    size: tuple[int, int]


def pictures() -> list[Picture]:
    """All pictures of the report."""
    decoder_sizes = {"batch": 1, "seq": 512, "past": 1536}
    return [
        Picture("report", "decoder with cache", models.decoder(12), decoder_sizes, "", (1280, 760)),
        Picture("report-errors", "two errors", parsed(ERRORS), {"batch": 8, "seq": 128}, "proj", (1280, 640)),
        Picture("report-unknown", "unknown sizes", parsed(UNKNOWN), {"N": 1000, "M": 16}, "best", (1280, 640)),
    ]


def draw(page: Page, picture: Picture) -> None:
    """Write the light and the dark picture of an open page."""
    page.size(picture.size)
    page.set(**picture.sizes)
    if picture.value:
        page.choose(picture.value)
    else:
        page.click(".tiles .link")
    page.ask("document.activeElement.blur()")
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        drawn = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
        drawn.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            IMAGES / f"{picture.name}-{scheme}.png", optimize=True
        )


def main() -> None:
    """Draw all pictures."""
    with TemporaryDirectory() as folder, chromium_at(Path(folder, "profile")) as driver:
        for picture in pictures():
            draw(Page(driver, infer(picture.model), Path(folder, "page.html"), picture.title), picture)


if __name__ == "__main__":
    main()
