// Threads that run one program together: every thread interprets the same list, with its own number, and they meet at barriers.
#ifndef EVSYS_TEAM_H
#define EVSYS_TEAM_H
#include "base.h"

#define MAX_THREADS 64

typedef struct {
  int32_t count;              // threads, the caller among them
  int32_t job;                // grows by one for each program
  int32_t stop;               // the threads are to end
  int32_t failed;             // why the program is left, or 0: nobody waits any more
  int32_t arrived, phase;     // of the barrier
  int32_t task;               // next piece of an operation that hands out its work
  int32_t sleepers;           // threads that must be woken
  int32_t done[MAX_THREADS];  // the last job that each thread beside the caller is through with
  const int32_t *program;
  int32_t words;
  char *arena;
  size_t first, end;          // words of the arena that operations may touch
  double partial[MAX_THREADS];
} Team;

// What became of a program. The numbers are known to src/engine/cpu/runtime/arena-runtime.ts.
enum { FINE = 0, UNKNOWN_OPERATION = 1, TRUNCATED = 2, UNSUPPORTED = 3, LOST = 4, OUTSIDE = 5 };

typedef struct {
  Team *team;
  int index, count;
  char *arena;
  char *scratch;
} Thread;

// The part of [0, n) that belongs to a thread, in steps of `grain`.
typedef struct { size_t from, to; } Range;
INLINE Range share(const Thread *thread, size_t n, size_t grain) {
  size_t units = (n + grain - 1) / grain;
  size_t from = units * (size_t)thread->index / (size_t)thread->count * grain;
  size_t to = units * ((size_t)thread->index + 1) / (size_t)thread->count * grain;
  return (Range){min_size(from, n), min_size(to, n)};
}

INLINE float *floats(const Thread *thread, uint32_t word) { return (float *)(thread->arena + (size_t)word * 4); }
INLINE int32_t *ints(const Thread *thread, uint32_t word) { return (int32_t *)(thread->arena + (size_t)word * 4); }
#endif
