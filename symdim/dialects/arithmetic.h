/* A size without a value: a step left the range of int64_t, a divisor was 0, or an optional symbol is not given. */
#define SIZE_OVERFLOW INT64_MIN
#define SIZE_DIVISION_BY_ZERO (INT64_MIN + 1)
#define SIZE_NOT_GIVEN (INT64_MIN + 2)
#define SMALLEST_SIZE (INT64_MIN + 3)

static inline int has_value(int64_t a) { return a >= SMALLEST_SIZE; }
