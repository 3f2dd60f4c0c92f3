// A reader of `dim_param` texts by the specification dim_param.md: an ES module without dependencies.
//
//   import { read } from "./dim_param_reader.js";
//   const size = read("floor(H/2 - 1/2) + 1", { declared: ["H"] });
//   size.reads               "expression"; or "name", "nothing", and "error" if there is no `declared`
//   size.names               ["H"]
//   size.value({ H: 224 })   112n; null where a divisor is 0, or a function has no known value
//
// A second argument of `value` computes functions without a meaning: (name, fractions) => a BigInt or null.
// An error has a `kind` ("syntax", "function" or "value"), a `position` in characters and a `message`.

const MAX_LENGTH = 1 << 14, MAX_DEPTH = 200, MAX_BITS = 1 << 17, MAX_EXPONENT = 4000;

const failure = (kind, message) => Object.assign(new Error(message), { kind });
const fail = (kind, message) => { throw failure(kind, message); };
const NO_VALUE = failure("value", "a divisor is 0");

// Exact fractions n/d in lowest terms, d > 0.
const gcd = (a, b) => { while (b) [a, b] = [b, a % b]; return a < 0n ? -a : a; };
const fraction = (n, d = 1n) => {
  if (!d) throw NO_VALUE;
  const common = d < 0n ? -gcd(n, d) : gcd(n, d);
  return { n: n / common, d: d / common };
};
const ZERO = fraction(0n), ONE = fraction(1n), TWO = fraction(2n);
const negate = (x) => fraction(-x.n, x.d);
const add = (x, y) => fraction(x.n * y.d + y.n * x.d, x.d * y.d);
const subtract = (x, y) => add(x, negate(y));
const multiply = (x, y) => fraction(x.n * y.n, x.d * y.d);
const divide = (x, y) => fraction(x.n * y.d, x.d * y.n);
const trunc = (x) => fraction(x.n / x.d);
const floor = (x) => fraction(x.n / x.d - (x.n % x.d < 0n ? 1n : 0n));
const ceil = (x) => negate(floor(negate(x)));
const round = (x) => floor(add(x, x.d === 2n && floor(x).n % 2n === 0n ? ZERO : divide(ONE, TWO)));
const quotient = (round) => (x, y) => round(divide(x, y));
const modulo = (x, y) => subtract(x, multiply(y, floor(divide(x, y))));
const max = (...xs) => xs.reduce((x, y) => (x.n * y.d < y.n * x.d ? y : x));
const min = (...xs) => xs.reduce((x, y) => (y.n * x.d < x.n * y.d ? y : x));
const root = (n) => {
  if (n < 0n) throw NO_VALUE;
  let found = 1n << BigInt(n.toString(2).length);
  for (let next; (next = (found + n / found) >> 1n) < found; ) found = next;
  if (found * found !== n) throw NO_VALUE;
  return found;
};
const sign = (x) => fraction(x.n > 0n ? 1n : x.n < 0n ? -1n : 0n);
const power = (x, k) => {
  if (k.d > 1n || k.n < 0n) fail("value", "an exponent is an integer of at least 0");
  const bits = (x.n * x.n * x.d * x.d).toString(2).length - 1;
  return BigInt(bits) * k.n > MAX_BITS ? fail("value", "a power is too large") : fraction(x.n ** k.n, x.d ** k.n);
};
const integer = (x) => (x.d === 1n ? x : fail("value", `the value is the fraction ${x.n}/${x.d}`));

// Sections 3 and 4: operations by name. An operation gives an integer ("whole"), also if "/" is exact in its arguments
// ("rounds"), an exact fraction ("splits"), or one if an argument is one ("keeps"). An exponent must be a constant.
// What is "open" has no value where the text is read; "/" is exact in its arguments, too.
const OPERATIONS = new Map();
function define(gives, operations, hasExponent = false) {
  for (const [names, apply] of Object.entries(operations))
    for (const name of names.split(" ")) OPERATIONS.set(name, { apply, gives, hasExponent });
}
define("keeps", { "+": add, "-": subtract, "*": multiply, "% mod pythonmod": modulo, "0-": negate, max, min });
define("keeps", { abs: (x) => max(x, negate(x)), non_negative: (x) => max(x, ZERO), "identity tofloat": (x) => x });
define("keeps", { "** pow powbynatural floatpow": power, lshift: (x, k) => multiply(x, power(TWO, k)) }, true);
define("keeps", { add: (...xs) => xs.reduce(add), mul: (...xs) => xs.reduce(multiply), sub: subtract });
define("open", { sqrt: (x) => fraction(root(x.n), root(x.d)) });
define("splits", { "exact: inttruediv floattruediv": divide });
define("rounds", { "floor floortoint": floor, "trunc trunctoint trunctofloat": trunc, "round roundtoint": round });
define("rounds", { "ceil ceiling": ceil, ceiltoint: (x, y) => ceil(y ? divide(x, y) : x) });
define("whole", { "// /: floor: floordiv cleandiv": quotient(floor), "trunc: truncdiv": quotient(trunc) });
define("whole", { ceildiv: quotient(ceil), "checked:": quotient(integer), sign });
define("whole", { modularindexing: (x, y, z) => modulo(floor(divide(x, y)), z) });
define("whole", { heaviside: (x, z) => (x.n ? max(sign(x), ZERO) : z) });
define("whole", { rshift: (x, k) => floor(divide(x, power(TWO, k))) }, true);

// Floats: an exact result, rounded to a type. Its results stand only in operations of floats.
const lengthOf = (n) => n.toString(2).replace("-", "").length;
const power2 = (k) => (k < 0 ? fraction(1n, 1n << BigInt(-k)) : fraction(1n << BigInt(k)));
const isBelow = (x, k) => max(x, negate(x)).n * power2(k).d < power2(k).n * x.d; // |x| < 2**k
const nearest = (bits, most) => (x) => {
  const top = lengthOf(x.n) - lengthOf(x.d), digits = isBelow(x, top) ? top : top + 1; // 2**(digits - 1) <= |x|
  const unit = power2(Math.max(digits - bits, 3 - most - bits)), found = multiply(round(divide(x, unit)), unit);
  return isBelow(found, most) ? found : (() => { throw NO_VALUE; })();
};
const ofFloats = { add, sub: subtract, mul: multiply, div: divide, max: (x, y) => max(x, y), min: (x, y) => min(x, y) };
for (const [kind, near] of Object.entries({ f32: nearest(24, 128), f64: nearest(53, 1024) })) {
  for (const [name, apply] of Object.entries({ floor, ceil, trunc, round }))
    define("rounds", { [`${name}[${kind}]`]: (x) => apply(near(x)) });
  for (const [name, apply] of Object.entries(ofFloats))
    define("floats", { [`${name}[${kind}]`]: (x, y) => near(apply(near(x), near(y))) });
  define("floats", { [`value[${kind}]`]: near });
}

// Section 2: lexemes { kind, text, at }.
const WORD = "[\\p{L}\\p{N}_.:]", NAME = "[\\p{L}\\p{Nl}\\p{No}_][\\p{L}\\p{N}_.]*";
const DASH = "(?<=[\\p{L}\\p{N}_])[-/](?=[\\p{L}\\p{N}_])";
const NUMBER = "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?";
const QUOTED = '`(?:[^`]|``)*`(?!`)|"[^"]*"', BARE = `(?!\\s)(?:[^-+*/%^(),\`"]|${DASH})+(?<!\\s)`;
const matches = (text, pattern) => new RegExp(`^(?:${pattern})$`, "su").test(text);
function lexemesOf(text, declared, dialect) {
  const bare = declared.filter((name) => matches(name, BARE) && !matches(name, `${NUMBER}|${NAME}`))
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[$.?[\]{}|\\/]/g, "\\$&") + (matches(name, `.*${WORD}`) ? `(?!${WORD})` : ""));
  const kinds = {
    declared: bare.join("|") || "(?!)",
    name: `${NAME}(?:\\[f(?:32|64)\\](?=\\s*\\()|(?!${WORD}))`, number: `${NUMBER}(?!${WORD})`, word: `${WORD}+`,
    quoted: QUOTED, symbol: `[*]{2}|//|${dialect === "onnx-light" ? "/:|" : ""}\\S`,
  };
  const pattern = Object.entries(kinds).map(([kind, form]) => `(?<${kind}>${form})`).join("|");
  const kindOf = ({ groups }) => Object.keys(kinds).find((kind) => groups[kind] !== undefined);
  return [...text.matchAll(new RegExp(pattern, "gsu"))].map((x) => ({ kind: kindOf(x), text: x[0], at: x.index }));
}

// Section 3. The program has numbers, names and operations, each behind its operands. Known of an operand is its value
// if it is constant, and whether it is an exact `fraction`.
function parse(text, declared, dialect, isInModel) {
  if (text.length > MAX_LENGTH) fail("syntax", `longer than ${MAX_LENGTH} characters`);
  const lexemes = [...lexemesOf(text, declared, dialect), { kind: "end", text: "the end", at: text.length }];
  const signs = dialect === "onnx-light" ? { "^": "max", "&": "min" } : { "^": "**" }, program = [];
  let next = 0, depth = 0, exact = 0, linear = true, isOpen = false;

  const refuse = (what) => fail("syntax", `${what} is missing before ${lexemes[next].text}`);
  const takes = (...operations) => {
    const { kind, text } = lexemes[next], operation = signs[text] ?? text;
    return kind === "symbol" && operations.includes(operation) && (next++, operation);
  };
  const level = (part, ...operations) => {
    let left = part();
    for (let name; (name = takes(...operations)); ) left = operation(name, [size(left), size(part())]);
    return left;
  };
  const sum = () => level(() => level(unary, "*", "/", "//", "/:", "%"), "+", "-");
  const expression = () => level(() => level(sum, "min"), "max");
  const unary = () => {
    if (++depth > MAX_DEPTH) fail("syntax", "nested too deeply");
    const sign = takes("+", "-"), base = sign ? unary() : primary();
    const found = !sign && takes("**") ? operation("**", [size(base), size(unary())]) : base;
    depth--;
    return sign === "-" ? operation("0-", [size(found)]) : found;
  };
  const primary = () => {
    if (takes("(")) return list(1)[0];
    const { kind, text } = lexemes[next];
    if (!["number", "name", "declared", "quoted"].includes(kind) || /^(``|"")$/.test(text)) refuse("an operand");
    next++;
    if (kind === "name" && takes("(")) return call(text);
    const value = kind === "number" ? decimal(text) : null;
    const name = kind === "quoted" ? text.slice(1, -1).replaceAll("``", text[0] === "`" ? "`" : "``") : text;
    program.push(value ? { count: 0, apply: () => value } : { name });
    return { value, fraction: value !== null && value.d > 1n };
  };
  const list = (most) => {
    const found = [];
    do found.push(expression()); while (found.length < most && takes(","));
    return takes(")") ? found : refuse('")"');
  };
  const call = (text) => {
    const lower = text.toLowerCase(), name = lower === "div" ? "/" : lower;
    const { apply, gives } = OPERATIONS.get(name) ?? (name === "/" ? { apply: divide } : { gives: "open" });
    const isExact = ["rounds", "open", "floats"].includes(gives);
    exact += isExact;
    const operands = list(Infinity), count = operands.length;
    exact -= isExact;
    if (!name.endsWith("]")) operands.forEach(size);
    else if (!apply) fail("function", `no function of floats is named ${text}`);
    if (!apply) return open({ count, called: text });
    if (gives === "open" && count === 1) return open({ count, apply });
    const fits = !apply.length || count === apply.length || (name === "ceiltoint" && count === 1);
    return fits ? operation(name, operands) : fail("function", `${count} arguments of ${name}`);
  };
  const size = (x) => (x.float ? fail("value", "a float is no size: round it") : x);
  const open = (step) => {
    program.push(step);
    return { value: null, fraction: false, open: (isOpen = true) };
  };
  const operation = (name, operands) => {
    const values = operands.map((x) => x.value), isConstant = values.every(Boolean);
    const hasFraction = operands.some((x) => x.fraction);
    const rounded = dialect === "trunc" ? "trunc:" : isConstant && dialect !== "floor" ? "checked:" : "floor:";
    const division = exact || dialect === "exact" || hasFraction ? "exact:" : rounded;
    const { apply, gives, hasExponent } = OPERATIONS.get(name === "/" ? division : name);
    const hasOpen = operands.some((x) => x.open);
    const rounds = gives === "whole" || gives === "rounds" || apply === modulo;
    if (isInModel && hasOpen && rounds) fail("function", "a function that need not be an integer is rounded");
    if (hasExponent && !values[1]) fail("value", "an exponent is not constant");
    const value = apply(...values.map((x) => x ?? ONE)); // an error if a constant divisor is 0
    program.push({ count: operands.length, apply });
    linear &&= isConstant || ["+", "-", "0-"].includes(name) || (name === "*" && values.some(Boolean));
    const fraction = gives === "splits" || (gives === "keeps" && hasFraction);
    return { value: isConstant ? value : null, fraction, open: hasOpen, float: gives === "floats" };
  };
  try {
    size(expression());
    return lexemes[next].kind === "end" ? { program, linear, isOpen } : refuse("an operator");
  } catch (error) {
    throw Object.assign(error, { position: [...text.slice(0, lexemes[next].at)].length });
  }
}

function decimal(text) {
  const [, whole, digits = "", exponent = "0"] = /^([0-9]*)(?:\.([0-9]*))?(?:e(.*))?$/i.exec(text);
  const scale = Number(exponent) - digits.length;
  if (Math.abs(scale) > MAX_EXPONENT) fail("value", "the exponent of a number is too large");
  return (scale < 0 ? divide : multiply)(fraction(BigInt(whole + digits)), fraction(10n ** BigInt(Math.abs(scale))));
}

function evaluate(program, sizes, valueOf) {
  const stack = [];
  const called = (name, xs) => { const x = valueOf(name, xs); if (x === null) throw NO_VALUE; return fraction(x); };
  for (const step of program) {
    const xs = step.count === undefined ? [] : stack.splice(stack.length - step.count);
    if (step.called) stack.push(called(step.called, xs));
    else stack.push(step.name === undefined ? step.apply(...xs) : fraction(BigInt(sizes[step.name])));
  }
  return integer(stack[0]).n;
}

// Section 5.
export function read(text, { declared, dialect } = {}) {
  const asName = { reads: "name", names: [text], value: (sizes) => BigInt(sizes[text]) };
  const saysNothing = !/[\p{L}\p{N}]/u.test(text) || /^\s*-\s*[0-9]+\s*$/.test(text);
  if (declared && saysNothing) return { reads: "nothing", names: [] };
  if (declared?.includes(text) || isOneName(text, declared, dialect)) return asName;
  try {
    const { program, linear, isOpen } = parse(text, declared ?? [], dialect, Boolean(declared));
    const names = [...new Set(program.flatMap(({ name }) => name ?? []))].sort();
    const value = (sizes, valueOf = () => null) => {
      try { return evaluate(program, sizes, valueOf); }
      catch (error) { if (error === NO_VALUE) return null; throw error; }
    };
    if (isOpen && declared && !names.every((name) => declared.includes(name))) return asName;
    const at = (size) => value(Object.fromEntries(names.map((name, i) => [name, size(i)])));
    for (let k = 0; k < 8; k++) at((i) => 1 + ((k * k * (i + 2)) % 13)); // here fractions are seen
    const isNegative = linear && !isOpen && names.length < 2 && at(() => 1) < 0n && at(() => 2) <= at(() => 1);
    return declared && isNegative ? asName : { reads: text === names[0] ? "name" : "expression", names, value };
  } catch (error) {
    const { kind, position = 0, message } = error;
    if (!kind) throw error;
    return declared ? asName : { reads: "error", kind, position, message, names: [] };
  }
}

function isOneName(text, declared, dialect) {
  if (!matches(text, `${WORD}+([-/]${WORD}+)*`) || (dialect === "onnx-light" && text.includes("/:"))) return false;
  const parts = lexemesOf(text, declared ?? [], dialect).filter((x) => x.kind !== "symbol");
  const isUnknown = (x) => x.kind !== "number" && !declared.includes(x.text);
  if (parts.some((x) => x.kind === "word" && /\p{L}/u.test(x.text))) return true;
  return declared && parts.length > 1 && parts.some(isUnknown);
}
