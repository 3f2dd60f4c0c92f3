// The arena as a picture: nodes across, addresses up, a box for each storage. It is drawn only while it is open.

import { bytesText, exactText, shape } from "./format.js";

const ROOM = { top: 10, right: 12, bottom: 18, left: 64 };
const HUES = [18, 221, 160, 268, 44, 190, 330, 95];
const TEXT = { height: 13, width: 6.6 };

export class Arena {
  /** `pick(value)` is called for a click on a box of a value that the page lists. */
  constructor(root, model, pick) {
    const [svg, note] = [root.querySelector("svg"), root.querySelector(".note")];
    Object.assign(this, { root, svg, note, model, pick, evaluation: null });
    root.hidden = !model.data.arena.storages.length;
    root.addEventListener("toggle", () => this.draw(this.evaluation));
    new ResizeObserver(() => this.draw(this.evaluation)).observe(svg);
  }

  /** The offset and the bytes of each storage: it lies above the ends of those below it. Null if one is not known. */
  placed(sizes) {
    const { storages, order, align } = this.model.data.arena;
    const boxes = new Array(storages.length);
    for (const number of order) {
      const { size, below } = storages[number];
      if (sizes[size] === null) return null;
      const bytes = Number(sizes[size]);
      const offset = below.reduce((most, other) => Math.max(most, boxes[other].end), 0);
      boxes[number] = { offset, bytes, end: offset + Math.ceil(bytes / align) * align };
    }
    return boxes;
  }

  draw(evaluation) {
    this.evaluation = evaluation;
    const { storages, steps } = this.model.data.arena;
    const boxes = evaluation && this.placed(evaluation.sizes);
    const most = boxes?.reduce((end, box) => Math.max(end, box.end), 0);
    this.note.textContent = boxes ? `${bytesText(most)}: ${exactText(most)} bytes` : "sizes are not known";
    this.note.title = "offsets by max(offset + size) over the storages below";
    this.svg.replaceChildren();
    if (!this.root.open || !most) return;
    const box = this.svg.getBoundingClientRect();
    this.svg.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
    const floor = box.height - ROOM.bottom;
    const across = Math.max(box.width - ROOM.left - ROOM.right, 1) / Math.max(steps, 1);
    const up = Math.max(floor - ROOM.top, 1) / most;
    const right = box.width - ROOM.right;
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const y = floor - share * most * up;
      this.svg.append(shape("line", { class: "grid", x1: ROOM.left, x2: right, y1: y, y2: y }));
      this.svg.append(shape("text", { class: "tick", x: ROOM.left - 8, y: y + 4, "text-anchor": "end" }, bytesText(share * most)));
    }
    storages.forEach((storage, number) => this.drawBox(storage, boxes[number], number, across, up, floor));
    this.svg.append(shape("text", { class: "tick", x: ROOM.left, y: box.height - 4 }, "node 1"));
    this.svg.append(shape("text", { class: "tick", x: right, y: box.height - 4, "text-anchor": "end" }, exactText(steps)));
  }

  drawBox({ name, value, first, last, shared }, { offset, bytes }, number, across, up, floor) {
    const { steps } = this.model.data.arena;
    const x = ROOM.left + Math.max(first, 0) * across;
    const width = (Math.min(last, steps - 1) + 1 - Math.max(first, 0)) * across;
    const height = bytes * up;
    const y = floor - offset * up - height;
    const made = shape("rect", { class: "box", x, y, width, height: Math.max(height, 0.5), rx: 1.5 });
    made.style.setProperty("--hue", HUES[number % HUES.length]);
    const others = shared ? ` and ${shared} more in its place` : "";
    made.append(shape("title", {}, `${name}${others}\n${exactText(bytes)} bytes at ${exactText(offset)}`));
    if (value >= 0) made.addEventListener("click", () => this.pick(this.model.values[value]));
    this.svg.append(made);
    if (height > TEXT.height && width > TEXT.width * name.length) {
      this.svg.append(shape("text", { class: "box-text", x: x + width / 2, y: y + height / 2 + 4, "text-anchor": "middle" }, name));
    }
  }
}
