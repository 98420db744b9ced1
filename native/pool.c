// A team of pthreads with its arena. Memory is reserved at once and taken from the machine page by page as it is written.
#define _GNU_SOURCE
#include "faults.c"

#include "kernels.c"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct {
  Team team;
  Thread threads[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  int started;
  char *arena, *scratch;
  size_t bytes, scratch_bytes;
} Pool;

static void *reserve(size_t bytes) {
#if defined(MAP_NORESERVE)
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#else
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#endif
  void *memory = mmap(0, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return 0;
#if defined(MADV_HUGEPAGE)
  madvise(memory, bytes, MADV_HUGEPAGE);
#endif
  return memory;
}

static void *pool_thread(void *thread) {
  team_work(thread, 0);
  return 0;
}

static void pool_close(Pool *pool) {
  team_stop(&pool->team);
  release_faults();
  for (int i = 1; i <= pool->started; i++) pthread_join(pool->ids[i], 0);
  if (pool->arena) munmap(pool->arena, pool->bytes);
  if (pool->scratch) munmap(pool->scratch, pool->scratch_bytes);
  free(pool);
}

// None when there is not enough memory or a thread cannot be started.
static Pool *pool_open(int count, size_t bytes) {
  Pool *pool = calloc(1, sizeof(Pool));
  if (!pool) return 0;
  catch_faults();
  pool->team.count = count;
  pool->bytes = bytes;
  pool->scratch_bytes = (size_t)count * SCRATCH_FLOATS * 4;
  pool->arena = pool->team.arena = reserve(bytes);
  pool->team.first = 16; // nobody's: 0 is no place
  pool->team.end = bytes / 4;
  pool->scratch = reserve(pool->scratch_bytes);
  int is_open = pool->arena && pool->scratch;
  // Signals belong to the threads of Node, but for those that a thread brings upon itself.
  sigset_t all, before;
  sigfillset(&all);
  for (int i = 0; i < FAULT_SIGNALS; i++) sigdelset(&all, fault_signals[i]);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  for (int i = 0; is_open && i < count; i++) {
    pool->threads[i] = (Thread){&pool->team, i, count, pool->arena, pool->scratch + (size_t)i * SCRATCH_FLOATS * 4};
    if (i == 0) continue;
    is_open = pthread_create(&pool->ids[i], 0, pool_thread, &pool->threads[i]) == 0;
    if (is_open) pool->started = i;
  }
  pthread_sigmask(SIG_SETMASK, &before, 0);
  if (is_open) return pool;
  pool_close(pool);
  return 0;
}

static int pool_run(Pool *pool, size_t offset, int32_t words) {
  return team_run(&pool->threads[0], (const int32_t *)(pool->arena + offset), words);
}
