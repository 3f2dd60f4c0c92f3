"""The page in Chromium: its sizes, curve and guards follow the symbols, whatever the model holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

from integration_tests.page import Page, chromium_at
from onnx_infer import InferenceResult, infer
from onnx_infer.tools.cli.files import demo_model
from symdim.algebra.dims import substituted
from tests.onnx_infer import models
from tests.onnx_infer.texts import parsed

NARROW = (390, 844)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium_at(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def open_page(chromium: webdriver.Chrome, tmp_path: Path) -> Iterator[Any]:
    """A function that opens a page. Each test ends without an entry in the console."""
    yield lambda result, title="model": Page(chromium, result, tmp_path / "page.html", title)
    assert chromium.get_log("browser") == []


def expected_rows(result: InferenceResult, sizes: Mapping[str, int]) -> dict[str, str]:
    listed = {*result.inputs, *(name for step in result.memory().steps for name in step.born)}
    found = {}
    for name in result.types:
        if name in listed and name in result.shapes:
            dims = [substituted(dim, sizes) for dim in result.shapes[name]]
            found[name] = f"[{', '.join(str(dim) if isinstance(dim, int) else '?' for dim in dims)}]"
    return found


def test_the_arena_follows_the_symbols(open_page: Any) -> None:
    result = infer(models.decoder(1))
    plan = result.arena(effort=0)
    roots = {buffer.root for buffer in plan.buffers}
    page = open_page(result)
    page.click("#arena summary")
    for sizes in ({"batch": 2, "seq": 1, "past": 511}, {"batch": 1, "seq": 512, "past": 7}):
        page.set(**sizes)
        at = plan.at(sizes)
        assert only_digits(page.texts("#arena .note")[0].partition(":")[2]) == str(at.size)
        found = [title.splitlines() for title in page.texts("#arena .box title")]
        drawn = {head.partition(" and ")[0]: tuple(map(only_digits, rest.split(" bytes at "))) for head, rest in found}
        assert drawn == {b.value: (str(b.size), str(b.offset)) for b in at.buffers if b.value in roots}


def only_digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


@pytest.mark.parametrize(
    ("make", "bindings"),
    [
        (demo_model, [{"N": 1, "H": 224, "W": 160, "S": 77}, {"N": 3, "H": 2, "W": 2048, "S": 1}]),
        (lambda: models.decoder(1), [{"batch": 2, "seq": 1, "past": 511}, {"batch": 1, "seq": 512, "past": 7}]),
        (lambda: models.unet(2), [{"N": 2, "H": 32, "W": 48}, {"N": 1, "H": 30, "W": 64}]),
    ],
)
def test_sizes_curve_and_guards_follow_the_symbols(make: Any, bindings: list[dict[str, int]], open_page: Any) -> None:
    result = infer(make())
    page, curves = open_page(result), []
    memory, costs = result.memory(), result.costs()
    for sizes in bindings:
        page.set(**sizes)
        assert page.rows() == expected_rows(result, sizes)
        complete = sizes | {v.name: 0 for v in memory.symbols if v.name not in sizes}  # not given: not counted
        peak = memory.peak_of(memory.bytes_at(complete)).bytes
        assert page.exact()[:2] == [peak, substituted(costs.multiply_adds, sizes)]
        failing = [str(violation.guard) for violation in result.check(sizes)]
        assert page.texts(".side .guard.fails .code") == failing
        assert len(page.all(".side .guard.holds")) == len(result.guards) - len(failing)
        assert bool(failing) == bool(page.all(".canvas .row.fails"))
        curves.append(page.ask("return document.querySelector('.curve .line').getAttribute('d')"))
    assert len(set(curves)) == len(bindings)


def test_a_slider_moves_the_field_and_the_sizes(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    page.ask("""const slider = document.querySelectorAll('.slider')[1];
        slider.value = 1000; slider.dispatchEvent(new Event('input'));""")
    assert page.rows()["image"] == "[1, 3, 4096, 64]"
    assert page.ask("return document.querySelectorAll('.size')[1].value") == "4096"


def test_a_size_out_of_bounds_is_told_and_changes_nothing(open_page: Any) -> None:
    page = open_page(infer(demo_model(), bounds={"N": (1, 64)}))
    before = page.rows()
    page.set(N=0)
    assert page.texts(".problem")[0] == "N is from 1 to 64, not 0"
    page.set(N="many")
    assert page.texts(".problem")[0] == "a size is a whole number"
    assert page.rows() == before
    page.set(N=64)
    assert page.texts(".problem")[0] == ""
    assert page.rows()["image"].startswith("[64,")


def test_unknown_sizes_have_a_reason_and_can_be_given(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    page.click("[data-kind=unknown]")
    assert page.rows() == {"kept": "[3, ?]"}
    assert page.texts(".canvas .reason") == ["the number of non-zero elements"]
    page.set(K=7)
    assert page.rows() == {"kept": "[3, 7]"}
    page.set(K="")
    assert page.rows() == {"kept": "[3, ?]"}


def test_a_click_explains_a_value(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    page.set(H=2)
    page.click(".canvas .row:nth-child(5)")
    (text,) = page.texts("#details")
    for part in ("conv2", "f32[N, 64, (H + 5)//8, (W + 5)//8]", "[1, 64, 0, 8]", "pool1", "H >= 3", "required"):
        assert part in text
    page.set(H=64)
    assert "[1, 64, 8, 8]" in page.texts("#details")[0]
    page.ask("[...document.querySelectorAll('#details .link')].find((e) => e.textContent === 'pool1').click()")
    assert page.texts("#details h2") == ["pool1"]
    assert page.texts(".row.chosen .name") == ["pool1"]


def test_search_and_keys(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    body = page.all("body")[0]
    body.send_keys("/")
    page.driver.switch_to.active_element.send_keys("matmul k0")
    assert list(page.rows()) == ["k0"]
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert len(page.rows()) > 20
    page.all("#list")[0].send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    assert page.texts("#details h2") == ["conv1"]
    page.all("#list")[0].send_keys(Keys.ESCAPE)
    assert page.all("#details")[0].get_attribute("hidden") == "true"
    page.all("#curve")[0].send_keys(Keys.HOME)
    assert page.texts("#curve-note")[0].startswith("1. Conv conv1: ")


def test_columns_sort(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    before = list(page.rows())
    page.click("[data-order=adds] button")
    assert list(page.rows())[:2] == ["conv1", "conv2"]
    page.set(S=2000)
    assert list(page.rows())[:2] == ["scores", "conv1"]
    page.click("[data-order=bytes] button")
    assert next(iter(page.rows())) == "scores"
    assert page.ask("return document.querySelectorAll('[aria-sort]').length") == 1
    page.click("[data-order=bytes] button")
    assert list(page.rows()) == before


def test_only_the_rows_in_view_exist(open_page: Any) -> None:
    result = infer(models.decoder(116))
    assert len(result.costs().nodes) > 10_000
    page = open_page(result)
    page.size((1280, 800))
    page.ask("const list = document.getElementById('list'); list.scrollTop = list.scrollHeight / 2;")
    page.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert 0 < len(page.rows()) < 100
    page.all("#list")[0].send_keys(Keys.END)
    assert result.outputs[-1] in page.rows() or result.memory().steps[-1].born[-1] in page.rows()
    page.set(seq=3)
    assert len(page.rows()) < 100


HOSTILE = '</script><img src=x onerror="window.broken = 1"><script>window.broken = 2</script>'


def test_names_are_shown_and_never_run(open_page: Any) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x)  z = Unknown (y) }")
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_param = HOSTILE
    model.graph.node[0].name = model.graph.node[0].output[0] = model.graph.node[1].input[0] = HOSTILE
    model.graph.output[0].name = HOSTILE
    page = open_page(infer(model), HOSTILE)
    page.click(".canvas .row:nth-child(2)")
    assert page.texts("#details h2") == [HOSTILE]
    assert page.texts("#title") == [HOSTILE]
    assert HOSTILE in page.texts(".symbol .name")
    assert page.ask("return window.broken ?? null") is None
    assert page.ask("return document.images.length + performance.getEntriesByType('resource').length") == 0


def test_themes_and_narrow_screens(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    ground = "return getComputedStyle(document.body).backgroundColor"
    grounds = []
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        grounds.append(page.ask(ground))
    page.click("#theme")
    assert [page.ask(ground), grounds[1]] == grounds
    page.click("#theme")
    assert page.ask(ground) == grounds[1] != grounds[0]
    for width in (320, NARROW[0], 700, 1000):
        page.size((width, NARROW[1]))
        assert page.ask("return document.documentElement.scrollWidth") <= width
        page.click(".canvas .row:nth-child(3)")
        assert page.ask("return document.documentElement.scrollWidth") <= width


CONTRASTS = """
const channel = (v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const ground = (e) => {
  const found = parts(getComputedStyle(e).backgroundColor);
  return found.length === 4 && found[3] === 0 ? ground(e.parentElement) : found;
};
const texts = [...document.querySelectorAll("body *")].filter((e) => e.namespaceURI.endsWith("xhtml")
  && e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
return texts.map((e) => {
  const [a, b] = [parts(getComputedStyle(e).color), ground(e)].map(luminance).sort((x, y) => y - x);
  return [(a + 0.05) / (b + 0.05), e.textContent];
});"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(open_page: Any, scheme: str) -> None:
    """The contrast is at least 4.5 to 1, as WCAG 2.2 (1.4.3) demands of small texts; in the chosen row too."""
    page = open_page(infer(demo_model()))
    page.scheme(scheme)
    page.set(H=2)
    page.click(".canvas .row:nth-child(5)")
    contrasts = page.ask(CONTRASTS)
    assert len(contrasts) > 100
    assert [(round(ratio, 2), text) for ratio, text in contrasts if ratio < 4.5] == []


def boxes(page: Page) -> list[list[str]]:
    """The operator, name and sizes in each box of the neighbourhood, in the order of the drawing."""
    return page.ask("""return [...document.querySelectorAll(".neighbourhood .box")]
        .map((box) => [...box.querySelectorAll("text")].map((text) => text.textContent));""")


NEIGHBOURS = [
    ["MaxPool", "pool1", "[1, 64, 16, 16]"],
    ["constant", "kernel3", "[64, 64, 3, 3]"],
    ["Conv", "conv2", "[1, 64, 8, 8]"],
    ["Shape", "image_shape", "[4]"],
    ["Reshape", "flat", "[1, 64, 64]"],
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900, 1400])
def test_the_neighbourhood_of_a_value(open_page: Any, width: int, scheme: str) -> None:
    page = open_page(infer(demo_model()))
    page.scheme(scheme)
    page.size((width, 1000))
    page.set(H=64, W=64)
    page.choose("conv2")
    drawn = boxes(page)
    assert [box for box in drawn if box[1] in ("conv2", "pool1", "kernel3", "flat")] == [
        box for box in NEIGHBOURS if box[1] != "image_shape"
    ]
    svg = "document.querySelector('.neighbourhood')"
    inside = page.ask(f"""const {{ left, right }} = {svg}.getBoundingClientRect();
        return [...{svg}.querySelectorAll("rect, text")].every((part) => {{
          const place = part.getBoundingClientRect();
          return place.left >= left - 1 && place.right <= right + 1; }});""")
    assert inside
    apart = page.ask(f"""const found = [...{svg}.querySelectorAll("rect")].map((rect) => rect.getBoundingClientRect());
        return found.every((a, i) => found.every((b, j) => i === j || a.right <= b.left || b.right <= a.left
          || a.bottom <= b.top || b.bottom <= a.top));""")
    assert apart
    fits = page.ask(f"""return [...{svg}.querySelectorAll(".box")].every((box) =>
        [...box.querySelectorAll("text")].every((text) => text.getComputedTextLength()
          <= box.querySelector("rect").getBoundingClientRect().width));""")
    assert fits
    assert page.ask("return document.documentElement.scrollWidth") <= width
    before = page.ask(f"return {svg}.outerHTML")
    page.ask("document.querySelector('.canvas .row').click()")
    page.choose("conv2")
    assert page.ask(f"return {svg}.outerHTML") == before


def test_the_neighbourhood_follows_sizes_and_keys(open_page: Any) -> None:
    page = open_page(infer(demo_model()))
    page.choose("conv2")
    page.set(H=64, W=64)
    assert ["Conv", "conv2", "[1, 64, 8, 8]"] in boxes(page)
    reached = page.all(".neighbourhood .box[role=button]")
    labels = [box.get_attribute("aria-label") for box in reached]
    assert "MaxPool pool1 [1, 64, 16, 16]" in labels
    assert page.all(".neighbourhood")[0].get_attribute("aria-label") == "The neighbourhood of conv2"
    page.ask(
        "[...document.querySelectorAll('.neighbourhood .box')].find((e) => e.textContent.includes('pool1')).focus()"
    )
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert page.texts("#details h2") == ["pool1"]


UNKNOWN = """g (float[A] u, float[N, 4] x, float[5, 2] w) => (z, k, p) {
    s = Made (u)  z = Neg (s)  n = NonZero (x)  k = Transpose (n)  p = MatMul (x, w) }"""


def test_unknown_memory_is_never_zero_and_messages_keep_their_lines(open_page: Any) -> None:
    page = open_page(infer(parsed("g (float[A] u) => (z) { s = Made (u)  z = Neg (s) }")))
    assert page.texts(".tiles dd")[0] == "\u2013without 2 values of unknown size"
    page = open_page(infer(parsed("g (float[N, 4] x) => (k) { n = NonZero (x)  k = Transpose (n) }")))
    page.set(N=100)
    assert page.texts(".tiles dd")[0].startswith("\u2264\u2009")
    assert page.texts(".tiles dd")[0].endswith("an upper bound")
    assert page.texts(".canvas .number")[2] == "\u2264\u20096.4\u2009kB"
    page = open_page(infer(parsed(UNKNOWN)))
    (message,) = [e for e in page.all("#messages .message.error > span") if "MatMul" in e.text]
    assert message.text.splitlines()[1].strip() == "inputs: A: f32[N, 4], B: f32[5, 2]"
