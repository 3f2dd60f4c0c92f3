#include <math.h>

static inline int64_t add(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  if (!has_value(b)) return b;
  if (b > 0 ? a > INT64_MAX - b : a < SMALLEST_SIZE - b) return SIZE_OVERFLOW;
  return a + b;
}

static inline int64_t sub(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  if (!has_value(b)) return b;
  if (b > 0 ? a < SMALLEST_SIZE + b : a > INT64_MAX + b) return SIZE_OVERFLOW;
  return a - b;
}

static inline int64_t mul(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  if (!has_value(b)) return b;
  if (a == 0 || b == 0) return 0;
  const int64_t limit = (a > 0) == (b > 0) ? INT64_MAX : SMALLEST_SIZE;
  if (a > 0 ? (b > 0 ? a > limit / b : b < limit / a) : (b > 0 ? a < limit / b : a < limit / b)) return SIZE_OVERFLOW;
  return a * b;
}

static inline int64_t power(int64_t a, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2) result = mul(result, a);
    if (exponent > 1) a = mul(a, a);
  }
  return result;
}

/* floor(a / b), as Python's a // b. */
static inline int64_t floordiv(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  if (!has_value(b)) return b;
  if (b == 0) return SIZE_DIVISION_BY_ZERO;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a - b*floor(a / b), as Python's a % b: it has the sign of b. */
static inline int64_t mod(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  if (!has_value(b)) return b;
  if (b == 0) return SIZE_DIVISION_BY_ZERO;
  return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
}

static inline int64_t max(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  return !has_value(b) || b > a ? b : a;
}

static inline int64_t min(int64_t a, int64_t b) {
  if (!has_value(a)) return a;
  return !has_value(b) || b < a ? b : a;
}

/* Floats, each result rounded to its type. All are held as doubles; a volatile one is neither fused nor kept longer.
   What is infinite or has no value is not a number, and neither is what comes of it. */
static inline double if_finite(double x) { return x - x == 0 ? x : NAN; }
static inline double f32(double x) { volatile float rounded = (float)x; return if_finite(rounded); }
static inline double f64(double x) { volatile double rounded = x; return if_finite(rounded); }
static inline double f32_of(int64_t a) { return has_value(a) ? (float)a : NAN; }
static inline double f64_of(int64_t a) { return has_value(a) ? (double)a : NAN; }
static inline double least(double x, double y) { return x != x || x < y ? x : y; }
static inline double greatest(double x, double y) { return x != x || x > y ? x : y; }

static inline int64_t rounded_zero(double x) {
  if (x != x) return SIZE_DIVISION_BY_ZERO;
  return x > -0x1p63 && x < 0x1p63 ? (int64_t)x : SIZE_OVERFLOW;
}

static inline int64_t rounded_down(double x) {
  const int64_t near = rounded_zero(x);
  return has_value(near) && near > x ? near - 1 : near;
}

static inline int64_t rounded_up(double x) {
  const int64_t near = rounded_zero(x);
  return has_value(near) && near < x ? near + 1 : near;
}

/* To the nearest integer, to the even one of two. */
static inline int64_t rounded_even(double x) {
  const int64_t below = rounded_down(x);
  const double rest = has_value(below) ? x - below : 0;
  return rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? below + 1 : below;
}

/* Relations of sizes; none holds for a size without a value. */
static inline int both(int64_t a, int64_t b) { return has_value(a) && has_value(b); }
static inline int equal(int64_t a, int64_t b) { return both(a, b) && a == b; }
static inline int at_least(int64_t a, int64_t b) { return both(a, b) && a >= b; }
static inline int at_most(int64_t a, int64_t b) { return both(a, b) && a <= b; }
static inline int divides(int64_t a, int64_t b) { return both(a, b) && a != 0 && b % a == 0; }
static inline int broadcast(int64_t a, int64_t b) { return both(a, b) && (a == b || a == 1 || b == 1); }
static inline int broadcast_to(int64_t a, int64_t b) { return both(a, b) && (a == b || a == 1); }
