// The playground: symdim in Pyodide, a Python for the browser, which is loaded at the first question.
// `symdim.zip` lies beside this file; the hook docs/extensions/site.py writes it.

const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.28.3/full/";
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640, HEIGHT = 200, MARGIN = 8;

// Each answer is a text; that of `plot` are the values.
const PROGRAM = `
import json
import symdim
from symdim import Facts, at_least, equal, parse, prove, simplify

def size(given):
    return str(parse(given["size"]))

def facts(given):
    stated = [fact.strip() for fact in given["facts"].split(";") if fact.strip()]
    return str(simplify(parse(given["size"]), Facts(stated)))

def statement(given):
    text = given["statement"]
    sign = next((sign for sign in ("==", ">=", "<=") if sign in text), None)
    if sign is None:
        return "write ==, >= or <= between two sizes"
    left, right = [parse(part) for part in text.split(sign, 1)]
    found = equal(left, right) if sign == "==" else at_least(*((left, right) if sign == ">=" else (right, left)))
    if found is None:
        return "not known"
    return "always" if found else f"not always: not for {prove.counterexample(left, sign, right)}"

def plot(given):
    read = parse(given["plot"])
    names = sorted(read.free_symbols()) if isinstance(read, symdim.Expr) else []
    if len(names) > 1:
        raise symdim.SymdimError(f"a plot is over one symbol, not {', '.join(names)}")
    most = min(max(int(given["most"]), 2), 4096)
    if not names:
        return json.dumps([read] * most)
    return json.dumps([read.evaluate({names[0]: n}) for n in range(1, most + 1)])

def answer(name, given):
    try:
        return json.dumps({"text": globals()[name](json.loads(given))})
    except (symdim.SymdimError, TypeError, ValueError, ZeroDivisionError) as error:
        return json.dumps({"error": str(error)})
`;

let loading = null;

async function load() {
  const { loadPyodide } = await import(`${PYODIDE}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: PYODIDE });
  const sources = await fetch(new URL("symdim.zip", import.meta.url));
  if (!sources.ok) throw new Error(`symdim.zip: ${sources.status} ${sources.statusText}`);
  python.unpackArchive(await sources.arrayBuffer(), "zip");
  python.runPython(PROGRAM);
  return python.globals.get("answer");
}

function drawn(values) {
  const low = Math.min(0, ...values), high = Math.max(1, ...values);
  const place = (value, i) => [
    MARGIN + ((WIDTH - 2 * MARGIN) * i) / Math.max(values.length - 1, 1),
    HEIGHT - MARGIN - ((HEIGHT - 2 * MARGIN) * (value - low)) / (high - low),
  ];
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `from ${values[0]} to ${values.at(-1)}; at least ${Math.min(...values)}, at most ${Math.max(...values)}`);
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("points", values.map((value, i) => place(value, i).join()).join(" "));
  line.setAttribute("fill", "none");
  line.setAttribute("stroke", "currentColor");
  line.setAttribute("stroke-width", "1.5");
  svg.append(line);
  return svg;
}

function begin(root) {
  const button = root.querySelector("button");
  const outputs = [...root.querySelectorAll("output[data-name]")];

  async function ask() {
    button.disabled = true;
    outputs.forEach((output) => {
      output.className = "";
      output.textContent = "...";
    });
    try {
      const answer = await (loading ??= load());
      const fields = [...root.querySelectorAll("input[data-name]")].map((input) => [input.dataset.name, input.value]);
      for (const output of outputs) {
        const { text, error } = JSON.parse(answer(output.dataset.name, JSON.stringify(Object.fromEntries(fields))));
        output.className = error === undefined ? "" : "is-error";
        if (error === undefined && output.dataset.name === "plot") output.replaceChildren(drawn(JSON.parse(text)));
        else output.textContent = error ?? text;
      }
    } catch (error) {
      loading = null; // the next click tries again
      outputs.forEach((output) => (output.textContent = ""));
      outputs[0].className = "is-error";
      outputs[0].textContent = `Python was not loaded: ${error.message}`;
    }
    button.disabled = false;
  }

  button.addEventListener("click", ask);
  root.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.tagName === "INPUT") ask();
  });
}

const root = document.getElementById("try");
if (root) begin(root);
