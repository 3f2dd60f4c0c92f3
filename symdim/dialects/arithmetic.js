// Sizes are BigInt, so all arithmetic is exact. A size without a value is null: a divisor was 0.

/** floor(a / b), as Python's a // b. */
function floordiv(a, b) {
  if (b === 0n) return null;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? a / b - 1n : a / b;
}

/** a - b*floor(a / b), as Python's a % b: it has the sign of b. */
function mod(a, b) {
  if (b === 0n) return null;
  return a % b !== 0n && (a < 0n) !== (b < 0n) ? a % b + b : a % b;
}

const max = (...sizes) => sizes.reduce((a, b) => (b > a ? b : a));
const min = (...sizes) => sizes.reduce((a, b) => (b < a ? b : a));

// Floats, each result rounded to its type. What is infinite or has no value is not a number, and neither is what comes of it.
const f64 = (x) => (Number.isFinite(x) ? x : NaN);
const f32 = (x) => f64(Math.fround(x));
const f64_of = (a) => (a === null ? NaN : f64(Number(a)));
const least = (x, y) => (x !== x || x < y ? x : y);
const greatest = (x, y) => (x !== x || x > y ? x : y);

/** The nearest single to an integer. Of a long one, the last bit kept tells whether there are more. */
function f32_of(a) {
  if (a === null) return NaN;
  const rest = BigInt(Math.max(a.toString(2).length - 50, 0));
  const kept = a >> rest;
  return f32(Number((kept << rest === a ? kept : kept | 1n) << rest));
}

const rounded_zero = (x) => (x === x ? BigInt(Math.trunc(x)) : null);
const rounded_down = (x) => rounded_zero(Math.floor(x));
const rounded_up = (x) => rounded_zero(Math.ceil(x));

/** To the nearest integer, to the even one of two. */
function rounded_even(x) {
  const below = Math.floor(x);
  const isUp = x - below > 0.5 || (x - below === 0.5 && below % 2 !== 0);
  return rounded_zero(isUp ? below + 1 : below);
}

// Relations of sizes; none holds for a size without a value.
const both = (a, b) => a !== null && b !== null;
const equal = (a, b) => both(a, b) && a === b;
const at_least = (a, b) => both(a, b) && a >= b;
const at_most = (a, b) => both(a, b) && a <= b;
const divides = (a, b) => both(a, b) && a !== 0n && b % a === 0n;
const broadcast = (a, b) => both(a, b) && (a === b || a === 1n || b === 1n);
const broadcast_to = (a, b) => both(a, b) && (a === b || a === 1n);
