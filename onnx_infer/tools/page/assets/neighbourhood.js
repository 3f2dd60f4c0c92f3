// The neighbourhood of a value as a drawing: above it two steps of what it is computed from, below it two of its readers.

import { element, printable, shape } from "./format.js";

const FAR = 2;
const WIDEST = 3;
const CELL = { height: 54, gap: 8, between: 26, line: 15, letter: 6.7, side: 9 };

/** Rows of values from the first to the last, each with the number of those that are not drawn. */
export function rowsAround(value) {
  const seen = new Set([value]);
  const walk = (next) => {
    const rows = [];
    for (let last = [value]; rows.length < FAR && last.length; ) {
      const found = [...new Set(last.flatMap(next))].filter((other) => !seen.has(other));
      for (const other of found) seen.add(other);
      last = found.slice(0, WIDEST);
      if (found.length) rows.push({ values: last, more: found.length - last.length });
    }
    return rows;
  };
  const before = walk(({ giver }) => giver?.inputs ?? []);
  const after = walk(({ readers }) => readers.flatMap((node) => node.outputs));
  return [...before.reverse(), { values: [value], more: 0 }, ...after];
}

export class Neighbourhood {
  /** `go(value)` is called for a value that is chosen. */
  constructor(model, go) {
    Object.assign(this, { model, go });
    this.inputs = new Set(model.data.inputs);
  }

  /** The drawing in this width, in pixels; null for a value without neighbours. */
  draw(value, evaluation, width) {
    const rows = rowsAround(value);
    if (rows.length === 1) return null;
    const boxes = rows.flatMap((row, i) => this.boxes(row, i, width));
    const height = rows.length * (CELL.height + CELL.between) - CELL.between;
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height + 1}`, width, height: height + 1, role: "group" });
    svg.setAttribute("class", "neighbourhood");
    svg.setAttribute("aria-label", `The neighbourhood of ${printable(value.name)}`);
    svg.append(...this.lines(boxes), ...boxes.map((box) => this.box(box, value, evaluation)));
    for (const [i, { more }] of rows.entries()) {
      if (more) svg.append(this.more(more, i, rows.findIndex((row) => row.values[0] === value), width));
    }
    const hint = "above: what it is computed from; below: what reads it";
    return element("figure", "", svg, element("figcaption", "note", hint));
  }

  /** The places of the boxes of a row: beside each other, in the middle. */
  boxes({ values }, row, width) {
    const count = values.length < WIDEST ? 2 : WIDEST;
    const size = Math.min((width - 2 * CELL.side - (count - 1) * CELL.gap) / count, 190);
    const apart = size + CELL.gap;
    const first = (width - values.length * apart + CELL.gap) / 2;
    return values.map((value, i) => ({
      value, row, x: first + i * apart, y: row * (CELL.height + CELL.between) + 0.5, width: size,
    }));
  }

  /** A line with an arrow from each value to the values whose nodes read it; past the rows between them at the side. */
  lines(boxes) {
    const drawn = [];
    for (const from of boxes) {
      for (const to of boxes) {
        if (to.row <= from.row || !to.value.giver?.inputs.includes(from.value)) continue;
        if (to.row > from.row + 1) {
          const [y, b] = [from.y + CELL.height / 2, to.y + CELL.height / 2];
          drawn.push(
            shape("path", { class: "edge", d: `M${from.x} ${y}H${CELL.side / 3}V${b}H${to.x - 4}` }),
            shape("path", { class: "arrow", d: `M${to.x - 6} ${b - 3.5}v7L${to.x} ${b}z` }),
          );
          continue;
        }
        const [x, y, a, b] = [from.x + from.width / 2, from.y + CELL.height, to.x + to.width / 2, to.y - 1];
        const middle = (y + b) / 2;
        drawn.push(
          shape("path", { class: "edge", d: `M${x} ${y}C${x} ${middle} ${a} ${middle} ${a} ${b - 4}` }),
          shape("path", { class: "arrow", d: `M${a - 3.5} ${b - 6}h7L${a} ${b}z` }),
        );
      }
    }
    return drawn;
  }

  box({ value, x, y, width }, chosen, evaluation) {
    const operator = value.giver?.operator ?? (this.inputs.has(value.index) ? "input" : "constant");
    const sizes = value.axes === null ? value.type : evaluation.shapeText(value);
    const group = shape("g", { class: "box" });
    group.append(
      shape("rect", { x, y, width, height: CELL.height - 1, rx: 5 }),
      ...[operator, value.name, sizes].map((text, i) => {
        const at = { class: ["operator", "name", "sizes"][i], x: x + width / 2, y: y + (i + 1) * CELL.line + 1 };
        return shape("text", { ...at, "text-anchor": "middle" }, cut(text, width, i === 1));
      }),
      shape("title", {}, `${operator} ${value.name}\n${this.model.typeText(value)}`),
    );
    if (value.verdict !== "exact") group.classList.add("inexact");
    if (!value.giver) group.classList.add("given");
    if (value.giver?.messages.some(({ severity }) => severity !== "warning")) group.classList.add("error");
    if (value === chosen) {
      group.classList.add("chosen");
      return group;
    }
    group.setAttribute("tabindex", "0");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", printable(`${operator} ${value.name} ${sizes}`));
    group.addEventListener("click", () => this.go(value));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.go(value);
    });
    return group;
  }

  /** How many values a row does not show: above the row, or below it if it is one of readers. */
  more(count, row, middle, width) {
    const top = row * (CELL.height + CELL.between);
    const y = row < middle ? top + CELL.height + 11 : top - 5;
    return shape("text", { class: "more", x: width, y, "text-anchor": "end" }, `and ${count} more`);
  }
}

/** A text that fits; without its beginning or its end. */
function cut(text, width, atStart) {
  const most = Math.max(Math.floor((width - 8) / CELL.letter), 4);
  const signs = [...printable(text)];
  if (signs.length <= most) return signs.join("");
  return atStart ? `\u2026${signs.slice(1 - most).join("")}` : `${signs.slice(0, most - 1).join("")}\u2026`;
}
