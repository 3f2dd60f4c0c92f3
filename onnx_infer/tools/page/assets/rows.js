// The list of values. Only the rows in view exist, so a model of any length scrolls.

import { countText, element, fromEnd } from "./format.js";

const SPARE = 12;

export class Rows {
  /** `choose(row)` is called for a click or Enter. `list` scrolls, `canvas` has the height of all rows. */
  constructor(list, canvas, model, choose) {
    Object.assign(this, { list, canvas, model, choose, evaluation: null, chosen: null, cursor: 0, order: "" });
    this.all = [
      ...model.data.inputs.map((place) => ({ value: model.values[place], node: null, first: true })),
      ...model.nodes.flatMap((node) => node.outputs.map((value, i) => ({ value, node, first: i === 0 }))),
    ];
    this.outputs = new Set(model.data.outputs);
    for (const row of this.all) row.text = this.searchText(row);
    this.shown = this.all;
    list.addEventListener("scroll", () => this.draw(), { passive: true });
    list.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(list);
  }

  searchText({ value, node }) {
    const reason = this.model.reasonOf(value)?.text;
    const parts = [value.name, node?.label, node?.operator ?? "input", this.model.typeText(value), reason];
    return parts.join("\n").toLowerCase();
  }

  /** The height of a row in pixels; it differs on narrow screens. */
  get height() {
    return parseFloat(getComputedStyle(this.list).getPropertyValue("--row"));
  }

  /** The height of the list below its heading, in pixels. */
  get room() {
    return this.list.clientHeight - parseFloat(getComputedStyle(this.list).getPropertyValue("--head"));
  }

  /** Scroll as little as needed to show a row, or bring it to the `middle` if it is out of view. */
  scrollTo(place, middle = false) {
    const top = place * this.height;
    const end = top + this.height - this.room;
    const { scrollTop } = this.list;
    if (top >= scrollTop && end <= scrollTop) return;
    this.list.scrollTop = middle ? top - this.room / 2 : top < scrollTop ? top : end;
  }

  update(evaluation) {
    this.evaluation = evaluation;
    this.draw();
  }

  /** Show the rows that have all words of a search and belong to a kind; returns their number. */
  filter(search, kind) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    this.shown = this.all.filter((row) => this.belongs(row, kind) && words.every((word) => row.text.includes(word)));
    if (this.order) this.sort();
    this.cursor = Math.max(this.shown.findIndex((row) => row.value === this.chosen), 0);
    this.list.scrollTop = 0;
    this.draw();
    return this.shown.length;
  }

  /** The largest first. What is not known comes last. */
  sort() {
    const adds = ({ node, first }) => (node && first ? Number(this.evaluation.addsOf(node) ?? -1n) : -1);
    const bytes = ({ value }) => this.evaluation.bytesOf(value) ?? -1;
    const measures = new Map(this.shown.map((row) => [row, this.order === "adds" ? adds(row) : bytes(row)]));
    this.shown.sort((a, b) => measures.get(b) - measures.get(a));
  }

  belongs({ value, node }, kind) {
    if (kind === "ends") return node === null || this.outputs.has(value.index);
    if (kind === "unknown") return value.verdict !== "exact";
    if (kind === "failing") return this.fails(node) || Boolean(node?.messages.length);
    return true;
  }

  fails(node) {
    return Boolean(node?.guards.some((guard) => this.evaluation?.verdicts[guard.index] === "fails"));
  }

  /** Choose the row of a value and bring it into view; false if the filter hides it. */
  reveal(value) {
    const place = this.shown.findIndex((row) => row.value === value);
    if (place < 0) return false;
    this.cursor = place;
    this.chosen = value;
    this.scrollTo(place, true);
    this.draw();
    return true;
  }

  key(event) {
    const page = Math.max(Math.floor(this.room / this.height) - 1, 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!this.shown.length) return;
    if (event.key in moves) {
      this.cursor = Math.min(Math.max(this.cursor + moves[event.key], 0), this.shown.length - 1);
      this.scrollTo(this.cursor);
      this.draw();
    } else if (event.key === "Enter") this.choose(this.shown[this.cursor]);
    else return;
    event.preventDefault();
  }

  draw() {
    if (!this.evaluation) return;
    const { height, shown, list } = this;
    const first = Math.max(Math.floor(list.scrollTop / height) - SPARE, 0);
    const last = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / height) + SPARE, shown.length);
    this.canvas.style.height = `${shown.length * height}px`;
    list.setAttribute("aria-rowcount", shown.length);
    const rows = shown.slice(first, last).map((row, i) => this.row(row, first + i, height));
    this.canvas.replaceChildren(...rows);
    list.setAttribute("aria-activedescendant", shown.length ? `row-${this.cursor}` : "");
  }

  row(row, place, height) {
    const { value, node } = row;
    const adds = node && row.first ? this.evaluation.addsOf(node) : undefined;
    const cells = [
      element("span", "operator", row.first ? (node?.operator ?? "input") : ""),
      element("span", "name", fromEnd(value.name)),
      this.type(value),
      element("span", "sizes", this.evaluation.shapeText(value)),
      element("span", "number", this.evaluation.bytesTextOf(value)),
      element("span", "number", adds === undefined || adds === 0n ? "" : countText(adds)),
    ];
    const made = element("div", "row", ...cells);
    made.id = `row-${place}`;
    made.style.top = `${place * height}px`;
    made.setAttribute("role", "row");
    made.setAttribute("aria-rowindex", place + 1);
    for (const cell of cells) cell.setAttribute("role", "gridcell");
    made.classList.toggle("chosen", value === this.chosen);
    made.classList.toggle("cursor", place === this.cursor);
    made.classList.toggle("fails", row.first && this.fails(node));
    made.classList.toggle("error", Boolean(row.first && node?.messages.some((m) => m.severity !== "warning")));
    made.classList.toggle("inexact", value.verdict !== "exact");
    made.addEventListener("click", () => {
      this.cursor = place;
      this.choose(row);
    });
    return made;
  }

  type(value) {
    const text = this.model.typeText(value) + (value.elements ? `={${value.elements}}` : "");
    const reason = this.model.reasonOf(value);
    const cell = element("span", "type", text, reason && element("span", "reason", reason.short));
    cell.title = reason ? `${text}\n${reason.text}` : text;
    return cell;
  }
}
