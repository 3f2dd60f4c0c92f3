"""The page: one file without network, its texts escaped, its data those of the result. No browser is needed here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import onnx
import pytest

from onnx_infer import InferenceResult, infer
from onnx_infer.__main__ import main
from onnx_infer.errors import UnknownSymbol
from onnx_infer.tools.cli.files import demo_model
from onnx_infer.tools.page.page import MODULES, asset, script
from symdim import BoundsError
from symdim.errors import printable

from . import models
from .texts import parsed


class Parts(HTMLParser):
    """The elements of a page with their texts: scripts and styles as a browser ends them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_data(self, data: str) -> None:
        if self.found:
            self.found[-1][2].append(data)

    def texts(self, tag: str) -> list[str]:
        return ["".join(texts).strip() for name, _, texts in self.found if name == tag]

    @property
    def data(self) -> dict[str, Any]:
        (text,) = ["".join(texts) for _, attributes, texts in self.found if attributes.get("id") == "data"]
        return json.loads(text)  # type: ignore[no-any-return]


def data_of(result: InferenceResult, **sizes: int) -> dict[str, Any]:
    return Parts(result.html("m", sizes)).data


@pytest.mark.parametrize("make", [demo_model, models.decoder, models.cnn, models.detector])
def test_values_and_nodes_are_those_of_the_result(make: Any) -> None:
    result = infer(make())
    data = data_of(result)
    assert [value[0] for value in data["values"]] == list(result.types)
    for name, kind, axes, *_ in data["values"]:
        sizes = ", ".join(data["dims"][axis] for axis in axes)
        assert f"{kind}[{sizes}]" == str(result.types[name]).partition("=")[0]
    names = [value[0] for value in data["values"]]
    assert [names[place] for place in data["inputs"]] == result.inputs
    assert [names[place] for place in data["outputs"]] == result.outputs
    memory, costs = result.memory(), result.costs()
    assert [label for _, label, *_ in data["nodes"]] == [node.node for node in costs.nodes]
    assert [[names[place] for place in born] for born in data["born"]] == [list(step.born) for step in memory.steps]
    assert [[names[place] for place in dead] for dead in data["dead"]] == [list(step.dead) for step in memory.steps]
    assert {name: data["dims"][place] for name, _, _, place, *_ in data["values"] if name in memory.sizes} == {
        name: str(size) for name, size in memory.sizes.items()
    }
    assert [data["dims"][adds] for *_, adds, _ in data["nodes"]] == [str(node.multiply_adds) for node in costs.nodes]


def test_what_is_unknown_has_its_reason_and_its_node() -> None:
    result = infer(parsed("g (float[N, 4] x) => (y, z) { y = NonZero (x)  z = Made (y) }"))
    data = data_of(result)
    verdicts = {name: (verdict, reason) for name, _, _, _, verdict, reason, *_ in data["values"]}
    assert verdicts["x"] == ("exact", -1)
    assert [verdicts[name][0] for name in "yz"] == ["data-dependent", "unknown"]
    assert data["reasons"][verdicts["y"][1]] == {"text": "NonZero 'y': the number of non-zero elements", "node": "y"}
    assert data["reasons"][verdicts["z"][1]]["node"] == "z"
    assert data["counts"] == {"exact": 1, "data-dependent": 1, "unknown": 1}
    assert data["errors"] == sum(found["severity"] == "error" for found in data["messages"])
    assert data["origins"] == ["", "the number of non-zero elements, at most 4*N"]
    assert [message["severity"] for message in data["messages"]] == ["warning"]


HOSTILE = '</script><script>alert("x")</script><!-- \u2028 \' ${x} `'


def test_texts_of_a_model_end_no_script_and_no_element() -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    model.graph.input[0].type.tensor_type.shape.dim.add().dim_param = HOSTILE
    model.graph.node[0].output[0] = model.graph.output[0].name = HOSTILE
    model.graph.node[0].doc_string = model.graph.node[0].name = HOSTILE + "\\"
    page = Parts(infer(model).html(HOSTILE))
    assert [attributes.get("type") for tag, attributes, _ in page.found if tag == "script"] == [
        "application/json", "module",
    ]  # fmt: skip
    assert page.texts("title") == [printable(HOSTILE).strip()]
    assert page.data["values"][1][0] == HOSTILE
    assert page.data["nodes"][0][1] == HOSTILE + "\\"
    assert printable(HOSTILE) in page.data["dims"]


def test_names_that_are_no_utf8_can_be_written(tmp_path: Path) -> None:
    model = parsed("g (float[N] x) => (y) { y = Relu (x) }")
    content = model.SerializeToString().replace(b"\x01x", b"\x01\xff")
    (tmp_path / "m.onnx").write_bytes(content)
    assert main([str(tmp_path / "m.onnx"), "--html", str(tmp_path / "m.html")]) == 0
    assert Parts((tmp_path / "m.html").read_text("utf-8")).data["values"][0][0] == "\udcff"


def test_nothing_is_loaded_from_elsewhere() -> None:
    page = Parts(infer(demo_model()).html())
    loaded = [value for _, attributes, _ in page.found for key, value in attributes.items() if key in ("src", "href")]
    assert loaded == ["data:,"]
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|innerHTML|eval\(", asset("page.css") + script())
    policy = next(a["content"] for tag, a, _ in page.found if tag == "meta" and "content" in a and "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none';")


def test_modules_become_one_script() -> None:
    text = script()
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    declared = re.findall(r"^(?:const|class|function) (\w+)", text, re.MULTILINE)
    assert len(set(declared)) == len(declared)
    for place, name in enumerate(MODULES):
        imported = re.findall(r'^import .* from "\./(\w+)\.js";$', asset(f"{name}.js"), re.MULTILINE)
        assert set(imported) <= set(MODULES[:place]), name
    files = Path(__file__).parents[2] / "onnx_infer" / "tools" / "page" / "assets"
    assert {path.stem for path in files.glob("*.js")} == set(MODULES)


@pytest.mark.parametrize(
    ("graph", "start"),
    [
        ("(float[N, S] x) => (y) { y = Relu (x) }", {"N": 1, "S": 64}),
        ("(float[N, S] x, float[N, P] p, float[N, T] t) => (y) { c = Concat <axis = 1> (x, p) y = Add (c, t) }",
         {"N": 1, "S": 64, "P": 64, "T": 128}),
        ("(float[N, H] x) => (y, i) <int64[1] k = {100}> { y, i = TopK (x, k) }", {"N": 1, "H": 100}),
        ("(float[4, 4] x) => (y) { y = Relu (x) }", {}),
    ],
)  # fmt: skip
def test_a_page_opens_at_sizes_at_which_guards_hold(graph: str, start: dict[str, int]) -> None:
    result = infer(parsed(f"g {graph}"))
    data = data_of(result)
    names = [v.name for v in result.planner().args]
    assert dict(zip(names, data["start"], strict=True)) == start
    assert result.check(start) == []


def test_chosen_sizes_stay() -> None:
    result = infer(demo_model())
    assert data_of(result, H=2, K=5)["start"] == [1, 2, 64, 64, 5]
    with pytest.raises(UnknownSymbol, match="'Q'"):
        data_of(result, Q=1)
    with pytest.raises(BoundsError, match="'N'"):
        data_of(result, N=0)


def test_size_of_the_file() -> None:
    result = infer(models.decoder(24))
    assert len(result.costs().nodes) > 2000
    assert len(result.html()) < 600_000


def test_a_model_with_errors_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = parsed("g (float[N, 3] x, float[4, M] w) => (y) { y = MatMul (x, w)  z = Relu (y) }")
    onnx.save(model, tmp_path / "m.onnx")
    assert main([str(tmp_path / "m.onnx"), "--html", str(tmp_path / "out.html")]) == 1
    assert "written: " in capsys.readouterr().out
    page = Parts((tmp_path / "out.html").read_text("utf-8"))
    assert page.texts("title") == ["m.onnx"]
    assert [(m["severity"], m["node"]) for m in page.data["messages"]] == [("error", "y")]


def test_the_page_goes_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["--demo", "--html", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"<!doctype html>")
    assert b"inputs:" in err
    with pytest.raises(SystemExit):
        main(["--demo", "--html", "-", "-o", "-"])


def test_bytes_that_only_the_data_decide_have_an_upper_bound() -> None:
    data = data_of(infer(parsed("g (float[N, 4] x) => (k, z) { n = NonZero (x)  k = Transpose (n)  z = Made (n) }")))
    most = {name: data["dims"][bound] if bound >= 0 else None for name, *_, bound in data["values"]}
    assert most == {"x": None, "n": "64*N", "k": "64*N", "z": None}
    assert data["not_counted"] == 1


def test_messages_keep_their_lines() -> None:
    data = data_of(infer(parsed("g (float[N, 4] x, float[5, 2] w) => (p) { p = MatMul (x, w) }")))
    (text,) = [message["text"] for message in data["messages"]]
    assert text.splitlines()[1] == "  inputs: A: f32[N, 4], B: f32[5, 2]"
    assert "\\n" not in text


ROWS = """
import { Model } from "ASSETS/model.js";
import { rowsAround } from "ASSETS/neighbourhood.js";
const model = new Model(DATA, { guards: [] });
const shown = (value) => rowsAround(value).map(({ values, more }) => [values.map(({ name }) => name), more]);
console.log(JSON.stringify(model.values.map((value) => [value.name, shown(value)])));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="the system has no Node.js")
def test_a_neighbourhood_is_two_steps_each_way(tmp_path: Path) -> None:
    text = (
        "g (float[N] x) => (z) { a = Neg (x)  b = Add (a, x)  c = Exp (b)  d = Add (c, a)  e = Abs (d)  z = Sqrt (e) }"
    )
    data = json.dumps({**data_of(infer(parsed(text))), "guards": []})
    assets = Path(str(files("onnx_infer.tools.page").joinpath("assets"))).as_uri()
    (tmp_path / "rows.mjs").write_text(ROWS.replace("ASSETS", assets).replace("DATA", data))
    done = subprocess.run(["node", str(tmp_path / "rows.mjs")], capture_output=True, text=True, check=True)
    rows = dict(json.loads(done.stdout))
    assert rows["b"] == [[["a", "x"], 0], [["b"], 0], [["c"], 0], [["d"], 0]]
    assert rows["d"] == [[["b", "x"], 0], [["c", "a"], 0], [["d"], 0], [["e"], 0], [["z"], 0]]
    assert rows["x"] == [[["x"], 0], [["a", "b"], 0], [["d", "c"], 0]]
    many = "  ".join(f"y{i} = Neg (x)" for i in range(5))
    data = json.dumps({**data_of(infer(parsed(f"g (float[N] x) => (y0) {{ {many} }}"))), "guards": []})
    (tmp_path / "rows.mjs").write_text(ROWS.replace("ASSETS", assets).replace("DATA", data))
    done = subprocess.run(["node", str(tmp_path / "rows.mjs")], capture_output=True, text=True, check=True)
    assert dict(json.loads(done.stdout))["x"] == [[["x"], 0], [["y0", "y1", "y2"], 2]]


def test_the_drawing_is_short() -> None:
    assert len(asset("neighbourhood.js").splitlines()) <= 250
