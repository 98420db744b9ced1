// Barriers, the hand-out of tasks, and the life of the threads beside the caller. Whoever waits looks a while, then sleeps.
#include "team.h"
#if !defined(__wasm__)
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <sched.h>
#endif
#endif

// Long enough for the usual wait between two operations, short enough to leave the core to others when there are more threads.
#define LOOKS 2000

INLINE int32_t read_now(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

static void sleep_while(int32_t *p, int32_t value) {
  for (int look = 0; look < LOOKS; look++) {
    if (read_now(p) != value) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (read_now(p) == value) {
#if defined(__wasm__)
    __builtin_wasm_memory_atomic_wait32(p, value, -1);
#elif defined(__linux__)
    syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
#else
    sched_yield();
#endif
  }
}

static void wake_all(int32_t *p) {
#if defined(__wasm__)
  __builtin_wasm_memory_atomic_notify(p, MAX_THREADS);
#elif defined(__linux__)
  syscall(SYS_futex, p, FUTEX_WAKE_PRIVATE, MAX_THREADS, 0, 0, 0);
#else
  (void)p;
#endif
}

static void barrier(Thread *thread) {
  Team *team = thread->team;
  if (thread->count == 1) {
    team->task = 0;
    return;
  }
  int32_t phase = read_now(&team->phase);
  if (read_now(&team->failed)) return;
  if (__atomic_add_fetch(&team->arrived, 1, __ATOMIC_ACQ_REL) == thread->count) {
    __atomic_store_n(&team->task, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&team->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&team->phase, phase + 1, __ATOMIC_RELEASE);
    wake_all(&team->phase);
  } else {
    sleep_while(&team->phase, phase);
  }
}

// Tasks are handed out as threads come for them; each writes its own part, so it does not matter who does which.
static int next_task(Thread *thread) { return __atomic_fetch_add(&thread->team->task, 1, __ATOMIC_RELAXED); }

// A thread that cannot go on: the others leave the program at their next barrier.
static inline void team_fail(Team *team) {
  __atomic_store_n(&team->failed, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&team->phase, 1, __ATOMIC_RELEASE);
  wake_all(&team->phase);
}

static int interpret(Thread *thread, const int32_t *program, int32_t words);

// The life of a thread beside the caller. `seen` is the last job that it need not do.
static void team_work(Thread *thread, int32_t seen) {
  Team *team = thread->team;
  for (;;) {
    sleep_while(&team->job, seen);
    seen = read_now(&team->job);
    if (read_now(&team->stop)) return;
    interpret(thread, team->program, team->words);
    __atomic_add_fetch(&team->finished, 1, __ATOMIC_RELEASE);
    wake_all(&team->finished);
  }
}

static void team_begin(Team *team, const int32_t *program, int32_t words) {
  team->program = program;
  team->words = words;
  team->finished = team->arrived = team->failed = team->task = 0;
  __atomic_add_fetch(&team->job, 1, __ATOMIC_RELEASE);
  wake_all(&team->job);
}

static void team_wait(Team *team) {
  for (int32_t done; (done = read_now(&team->finished)) < team->count - 1;) sleep_while(&team->finished, done);
}

static void team_stop(Team *team) {
  __atomic_store_n(&team->stop, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&team->job, 1, __ATOMIC_RELEASE);
  wake_all(&team->job);
}

// Runs a program on all threads; the result is 0, or what is wrong with it.
static int team_run(Thread *caller, const int32_t *program, int32_t words) {
  team_begin(caller->team, program, words);
  int problem = interpret(caller, program, words);
  team_wait(caller->team);
  return problem;
}
