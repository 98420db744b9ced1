// Vectors of floats by the extensions of GCC and clang; the width follows from what the compiler may use.
#ifndef EVSYS_VECTOR_H
#define EVSYS_VECTOR_H
#include "base.h"

// Rows of one tile of a product, sized by the registers for its sums. V8 spills more than eight of them.
#if defined(__AVX512F__)
#define LANES 16
#define TILE_ROWS 12
#elif defined(__AVX2__)
#define LANES 8
#define TILE_ROWS 6
#elif defined(__wasm__)
#define LANES 4
#define TILE_ROWS 4
#elif defined(__aarch64__)
#define LANES 4
#define TILE_ROWS 8
#else
#define LANES 4
#define TILE_ROWS 6
#endif

typedef float vec __attribute__((vector_size(LANES * 4)));
typedef int32_t veci __attribute__((vector_size(LANES * 4)));
typedef uint16_t vech __attribute__((vector_size(LANES * 2)));
typedef float vec_anywhere __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef uint16_t vech_anywhere __attribute__((vector_size(LANES * 2), aligned(2), may_alias));

INLINE vec load(const float *p) { return *(const vec_anywhere *)p; }
INLINE void store(float *p, vec v) { *(vec_anywhere *)p = v; }

INLINE vec splat(float x) {
#if LANES == 4
  return (vec){x, x, x, x};
#else
  return x - (vec){0}; // x + 0 would lose the sign of -0
#endif
}

// The first n lanes, zeros behind: ends of rows take the same path as the rest, so that no value depends on where a row ends.
INLINE vec load_some(const float *p, size_t n) {
  if (n >= LANES) return load(p);
  vec v = {0};
  for (size_t i = 0; i < n; i++) v[i] = p[i];
  return v;
}
INLINE void store_some(float *p, vec v, size_t n) {
  if (n >= LANES) {
    store(p, v);
    return;
  }
  for (size_t i = 0; i < n; i++) p[i] = v[i];
}

// Lanes of two vectors in turn: of their first halves, and of their second.
#if LANES == 4
#define ZIP_LOW 0, 4, 1, 5
#define ZIP_HIGH 2, 6, 3, 7
#elif LANES == 8
#define ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#endif
#if defined(__clang__)
INLINE vec zip_low(vec a, vec b) { return __builtin_shufflevector(a, b, ZIP_LOW); }
INLINE vec zip_high(vec a, vec b) { return __builtin_shufflevector(a, b, ZIP_HIGH); }
#else
INLINE vec zip_low(vec a, vec b) { return __builtin_shuffle(a, b, (veci){ZIP_LOW}); }
INLINE vec zip_high(vec a, vec b) { return __builtin_shuffle(a, b, (veci){ZIP_HIGH}); }
#endif

// Rows become columns: each round deals the rows of the first half between those of the second.
INLINE void transpose(vec v[LANES]) {
  UNROLLED for (int round = 1; round < LANES; round *= 2) {
    vec dealt[LANES];
    UNROLLED for (int i = 0; i < LANES / 2; i++) {
      dealt[2 * i] = zip_low(v[i], v[i + LANES / 2]);
      dealt[2 * i + 1] = zip_high(v[i], v[i + LANES / 2]);
    }
    UNROLLED for (int i = 0; i < LANES; i++) v[i] = dealt[i];
  }
}

INLINE vec load_bf16(const uint16_t *p) {
  return (vec)(__builtin_convertvector(*(const vech_anywhere *)p, veci) << 16);
}

// a b + c. The plain WebAssembly build rounds twice, all others once.
INLINE vec multiply_add(vec a, vec b, vec c) {
#if defined(__wasm_relaxed_simd__)
  return (vec)__builtin_wasm_relaxed_madd_f32x4(a, b, c);
#else
  return a * b + c;
#endif
}

INLINE vec select_lanes(veci mask, vec yes, vec no) { return (vec)(((veci)yes & mask) | ((veci)no & ~mask)); }
INLINE vec larger(vec a, vec b) { return select_lanes((veci)(b > a), b, a); }

INLINE float sum_lanes(vec v) {
  float sum = v[0];
  for (int i = 1; i < LANES; i++) sum += v[i];
  return sum;
}
INLINE float largest_lane(vec v) {
  float most = v[0];
  for (int i = 1; i < LANES; i++) most = v[i] > most ? v[i] : most;
  return most;
}

// exp within 2 ulp (Cephes): 2^n times a polynomial on [-ln2/2, ln2/2]. Exactly 1 at 0, 0 below -87, infinite above 88.3, and NaN
// stays NaN.
INLINE vec exponential(vec x) {
  const vec low = splat(-87.0f), high = splat(88.3f), magic = splat(12582912.0f);
  vec y = select_lanes((veci)(x < low), low, x);
  y = select_lanes((veci)(y > high), high, y);
  vec shifted = y * splat(1.44269504f) + magic; // rounds to a whole number, in the low bits
  veci power = (veci)shifted - (veci)magic;
  vec n = shifted - magic;
  vec r = y - n * splat(0.693359375f) + n * splat(2.12194440e-4f);
  vec p = splat(1.9875691500e-4f);
  p = p * r + splat(1.3981999507e-3f);
  p = p * r + splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + r + splat(1.0f);
  vec result = (vec)((veci)p + (power << 23));
  result = select_lanes((veci)(x < low), splat(0.0f), result);
  result = select_lanes((veci)(x > high), splat(__builtin_inff()), result);
  return select_lanes((veci)(x != x), x, result);
}

INLINE float exponential_of(float x) { return exponential(splat(x))[0]; }

// ln x for a normal positive x, through 2 atanh((m - 1) / (m + 1)); within 1e-9. Others: NaN, or -infinity for 0.
INLINE float logarithm(float value) {
  if (!(value > 0)) return value == 0 ? -__builtin_inff() : __builtin_nanf("");
  uint32_t bits = bits_of_float(value);
  if (bits >= 0x7f800000u) return value;
  int power = (int)(bits >> 23) - 127;
  double m = (double)float_of_bits((bits & 0x7fffffu) | 0x3f800000u);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    power++;
  }
  double s = (m - 1) / (m + 1), z = s * s;
  double series = 1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z / 11))));
  return (float)(2 * s * series + power * 0.6931471805599453);
}
#endif
