// The most multiply-adds in float32 that the cores can do: independent sums in registers, no memory. Prints 10^9 operations per
// second for a number of threads, best of several.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SUMS 12
#define ROUNDS 8000000L
typedef float vec __attribute__((vector_size(LANES * 4)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void *work(void *result) {
  vec sums[SUMS], x = {0}, y = {0};
  x += 0.999f;
  y += 1e-4f;
  for (int i = 0; i < SUMS; i++) sums[i] = y * (float)i;
  for (long round = 0; round < ROUNDS; round++) {
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++) sums[i] = sums[i] * x + y;
  }
  vec all = {0};
  for (int i = 0; i < SUMS; i++) all += sums[i];
  *(float *)result = all[0];
  return 0;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 1;
  double best = 0;
  for (int round = 0; round < 5; round++) {
    pthread_t others[64];
    float results[64];
    double began = now();
    for (int i = 1; i < threads; i++) pthread_create(&others[i], 0, work, &results[i]);
    work(&results[0]);
    for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
    double speed = (double)threads * ROUNDS * SUMS * LANES * 2 / (now() - began) / 1e9;
    if (speed > best && results[0] != 1) best = speed;
  }
  printf("%.1f\n", best);
  return 0;
}
