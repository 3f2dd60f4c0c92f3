// The model: its values, nodes and guards, and their numbers at sizes of the symbols.

import { bytesText } from "./format.js";

export class Value {
  constructor(index, [name, type, axes, bytes, verdict, reason, elements, most]) {
    Object.assign(this, { index, name, type, axes, bytes, verdict, reason, elements, most });
    this.giver = null;
    this.readers = [];
  }
}

export class Model {
  /** `data` is the JSON of the page, `code` the emitted function with its tables. */
  constructor(data, code) {
    this.data = data;
    this.code = code;
    this.values = data.values.map((entry, index) => new Value(index, entry));
    this.nodes = data.nodes.map(([operator, label, inputs, outputs, adds, parameters], index) => {
      const node = { index, operator, label, adds, parameters, guards: [], messages: [] };
      node.inputs = inputs.map((place) => this.values[place]);
      node.outputs = outputs.map((place) => this.values[place]);
      for (const value of node.inputs) value.readers.push(node);
      for (const value of node.outputs) value.giver = node;
      return node;
    });
    this.byLabel = new Map(this.nodes.map((node) => [node.label, node]));
    this.reasons = data.reasons.map(({ text, node }) => {
      const from = this.byLabel.get(node);
      const head = from ? `${from.operator} '${from.label}': ` : "";
      return { text, from, short: text.startsWith(head) ? text.slice(head.length) : text };
    });
    this.guards = code.guards.map((guard, index) => ({ ...guard, index, ...data.guards[index] }));
    for (const guard of this.guards) {
      for (const label of guard.nodes) this.byLabel.get(label)?.guards.push(guard);
    }
    for (const message of data.messages) this.byLabel.get(message.node)?.messages.push(message);
  }

  /** The type of a value with sizes as expressions: "f32[N, 64]". */
  typeText({ type, axes }) {
    return axes === null ? type : `${type}[${axes.map((axis) => this.data.dims[axis]).join(", ")}]`;
  }

  /** Why the type of a value is not a function of the input sizes; null if it is one. */
  reasonOf(value) {
    return value.reason < 0 ? null : this.reasons[value.reason];
  }

  /** Everything at sizes of the symbols (null: not given). Throws RangeError where one is out of its bounds. */
  at(given) {
    return new Evaluation(this, given);
  }
}

class Evaluation {
  constructor(model, given) {
    const { sizes, holds } = model.code.sizes(given);
    this.model = model;
    this.given = given;
    this.sizes = sizes;
    this.verdicts = model.guards.map((guard, i) =>
      holds[i] ? "holds" : guard.symbols.some((symbol) => given[symbol] === null) ? "open" : "fails",
    );
    this.failing = model.guards.filter((_, i) => this.verdicts[i] === "fails");
    this.measureMemory();
    this.measureCosts();
  }

  /** The exact bytes of a value, else an upper bound, as a BigInt; null if neither is known. */
  exactBytesOf(value) {
    const size = value.bytes < 0 ? null : this.sizes[value.bytes];
    return size ?? (value.most < 0 ? null : this.sizes[value.most]);
  }

  /** The same as a number. Numbers above 2**53 are rounded; they are only drawn. */
  bytesOf(value) {
    const size = this.exactBytesOf(value);
    return size === null ? null : Number(size);
  }

  /** Whether the bytes of a value are an upper bound. */
  isBound(value) {
    return value.most >= 0 && (value.bytes < 0 || this.sizes[value.bytes] === null);
  }

  /** The bytes of a value for a person. */
  bytesTextOf(value) {
    const bytes = this.bytesOf(value);
    return `${bytes !== null && this.isBound(value) ? "\u2264\u2009" : ""}${bytesText(bytes)}`;
  }

  /** The peak for a person; a dash if nothing is known of it. */
  get peakText() {
    if (!this.peak && this.uncounted) return bytesText(null);
    return `${this.bounded && !this.uncounted ? "\u2264\u2009" : ""}${bytesText(this.peak)}`;
  }

  /** What the peak leaves out, or where it is an upper bound; empty if it is exact. */
  get peakNote() {
    if (this.uncounted) return `without ${this.uncounted} ${this.uncounted === 1 ? "value" : "values"} of unknown size`;
    return this.bounded ? "an upper bound" : "";
  }

  shapeText(value) {
    if (value.axes === null) return "";
    return `[${value.axes.map((axis) => this.sizes[axis] ?? "?").join(", ")}]`;
  }

  /** The bytes that are live at each node, as docs/planning.md counts them. */
  measureMemory() {
    const { born, dead } = this.model.data;
    this.live = new Float64Array(born.length);
    this.uncounted = this.model.data.not_counted;
    this.bounded = 0;
    let live = 0;
    for (let step = 0; step < born.length; step += 1) {
      for (const place of born[step]) {
        const value = this.model.values[place];
        const bytes = this.bytesOf(value);
        if (bytes === null) this.uncounted += 1;
        else if (this.isBound(value)) this.bounded += 1;
        live += bytes ?? 0;
      }
      this.live[step] = live;
      for (const place of dead[step]) live -= this.bytesOf(this.model.values[place]) ?? 0;
    }
    this.peakStep = this.live.reduce((best, bytes, step) => (bytes > this.live[best] ? step : best), 0);
    this.peak = this.live.length ? this.live[this.peakStep] : 0;
  }

  addsOf(node) {
    return node.adds < 0 ? null : this.sizes[node.adds];
  }

  measureCosts() {
    const known = this.model.nodes.map((node) => this.addsOf(node));
    this.adds = known.reduce((sum, count) => sum + (count ?? 0n), 0n);
    this.unknownAdds = known.filter((count) => count === null).length;
    this.parameters = this.model.nodes.reduce((sum, node) => sum + (this.sizes[node.parameters] ?? 0n), 0n);
  }
}
