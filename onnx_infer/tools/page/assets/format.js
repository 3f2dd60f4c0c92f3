// Texts of numbers, and elements of the page. A text of a model always becomes a text node, never markup.

const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];

/** Three digits and a unit of 1,000, as the command writes them. */
function scaled(value, unit) {
  let scale = 0;
  let rest = Math.abs(value);
  while ((scale ? Number(rest.toPrecision(3)) : rest) >= 1000 && scale < PREFIXES.length - 1) {
    rest /= 1000;
    scale += 1;
  }
  const text = scale === 0 ? String(rest) : String(Number(rest.toPrecision(3)));
  const suffix = PREFIXES[scale] + unit;
  return `${value < 0 ? "\u2212" : ""}${text}${suffix ? `\u2009${suffix}` : ""}`;
}

/** A number of bytes, rounded: 1.5 MB. A dash for what is not known. */
export const bytesText = (value) => (value === null ? "\u2013" : scaled(value, "B"));

/** A count, rounded: 3.82 G. */
export const countText = (value) => (value === null ? "\u2013" : scaled(Number(value), ""));

/** An exact integer with thin spaces between groups of three digits. */
export const exactText = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u2009");

/** A text in which control characters, and what changes the direction of a text, are escapes. */
export const printable = (text) =>
  String(text).replace(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** An element with a class and children; texts become text nodes. */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  const shown = children.filter((child) => child !== null && child !== undefined);
  made.append(...shown.map((child) => (typeof child === "object" ? child : printable(child))));
  return made;
}

/** A text whose beginning is cut where it is too long, in an element that is written from right to left. */
export const fromEnd = (text) => Object.assign(element("bdi", "", text), { dir: "ltr" });

/** An element of a drawing, with attributes. */
export function shape(tag, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = printable(text);
  return made;
}

/** A button that looks like a link to a value, node or guard. */
export function link(text, action, className = "link") {
  const made = element("button", className, text);
  made.type = "button";
  made.addEventListener("click", action);
  return made;
}
