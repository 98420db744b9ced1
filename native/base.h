// Types and small functions that every kernel uses. No libc: the same source is compiled for WebAssembly without one.
#ifndef EVSYS_BASE_H
#define EVSYS_BASE_H
#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
// Before a loop.
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#define NOT_UNROLLED _Pragma("GCC unroll 1")
#endif

// Asks for a line of memory that will be read soon. WebAssembly cannot.
#if defined(__wasm__)
#define FETCH(p) ((void)(p))
#else
#define FETCH(p) __builtin_prefetch((p), 0, 2)
#endif

INLINE int min_int(int a, int b) { return a < b ? a : b; }
INLINE int max_int(int a, int b) { return a > b ? a : b; }
INLINE size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

INLINE float float_of_bits(uint32_t bits) {
  union { uint32_t bits; float value; } both = {bits};
  return both.value;
}
INLINE uint32_t bits_of_float(float value) {
  union { float value; uint32_t bits; } both = {value};
  return both.bits;
}

INLINE float float_of_bf16(uint16_t half) { return float_of_bits((uint32_t)half << 16); }

// Nearest, ties to even; a NaN stays one.
INLINE uint16_t bf16_of_float(float value) {
  uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40);
  return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
#endif
