// A field and a slider for each symbol. Symbols that only a run knows may stay empty.

import { element } from "./format.js";

const STEPS = 1000;

/** A slider of equal ratios, because sizes are compared by ratios. */
class Scale {
  constructor(low, high) {
    Object.assign(this, { low, high });
    this.ratio = Math.log((high + 1) / (low + 1));
  }

  size(position) {
    return Math.round((this.low + 1) * Math.exp((position / STEPS) * this.ratio) - 1);
  }

  position(size) {
    return this.ratio ? Math.round((Math.log((size + 1) / (this.low + 1)) / this.ratio) * STEPS) : 0;
  }
}

const small = (bound, otherwise) => (bound === null || bound > 1n << 40n ? otherwise : Number(bound));

export class Symbols {
  /** `changed(given)` is called with all sizes after each change. */
  constructor(root, model, changed) {
    Object.assign(this, { model, changed });
    this.given = model.data.start.map((size) => (size === null ? null : BigInt(size)));
    const fields = model.code.symbols.map((symbol, index) => this.field(symbol, index));
    const optional = fields.filter((_, i) => model.code.symbols[i].optional);
    root.append(...fields.filter((_, i) => !model.code.symbols[i].optional));
    if (fields.length === optional.length) root.append(element("p", "note", "All input sizes are numbers."));
    if (optional.length) root.append(this.group(optional));
  }

  group(fields) {
    const heading = element("summary", "", `Data-dependent (${fields.length})`);
    const box = element("details", "optional", heading, ...fields);
    box.open = fields.length <= 3;
    return box;
  }

  field(symbol, index) {
    const low = small(symbol.low, 0);
    const start = this.given[index] === null ? low : Number(this.given[index]);
    const scale = new Scale(low, small(symbol.high, Math.max(4096, 8 * start)));
    const id = `symbol-${index}`;
    const name = element("label", "name", symbol.name);
    name.htmlFor = id;
    name.title = symbol.name;
    const number = Object.assign(element("input", "size"), { id, type: "text", inputMode: "numeric", autocomplete: "off" });
    number.value = this.given[index] === null ? "" : String(this.given[index]);
    if (symbol.optional) number.placeholder = "?";
    const slider = Object.assign(element("input", "slider"), { type: "range", min: 0, max: STEPS });
    slider.value = scale.position(start);
    slider.setAttribute("aria-label", `${symbol.name}, by ratio`);
    const why = this.model.data.origins[index];
    const problem = element("p", "problem");
    problem.id = `${id}-problem`;
    number.setAttribute("aria-describedby", problem.id);
    const bounds = `${symbol.low ?? ""} \u2026 ${symbol.high ?? ""}`.trim();
    const box = element("div", "symbol", name, element("span", "bounds", bounds), number, slider, problem);
    if (why) box.append(element("p", "note", why));

    const set = (size) => {
      try {
        const given = this.given.map((old, i) => (i === index ? size : old));
        this.changed(given);
        this.given = given;
        problem.textContent = "";
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        problem.textContent = error.message;
      }
      number.setAttribute("aria-invalid", problem.textContent !== "");
    };
    number.addEventListener("input", () => {
      const text = number.value.replace(/[\s_]/g, "");
      if (text === "" && symbol.optional) set(null);
      else if (/^\d{1,30}$/.test(text)) {
        slider.value = scale.position(Math.min(Number(text), scale.high));
        set(BigInt(text));
      } else {
        problem.textContent = "a size is a whole number";
        number.setAttribute("aria-invalid", true);
      }
    });
    number.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 1n, ArrowDown: -1n }[event.key];
      if (step === undefined || !/^\d+$/.test(number.value)) return;
      event.preventDefault();
      number.value = String(BigInt(number.value) + step);
      number.dispatchEvent(new Event("input"));
    });
    slider.addEventListener("input", () => {
      number.value = String(scale.size(Number(slider.value)));
      set(BigInt(number.value));
    });
    return box;
  }
}
