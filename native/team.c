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

// Long enough for the usual wait between two operations, some 30 microseconds, short enough to leave the core to others when there are
// more threads. Between two programs of a sample JavaScript takes a little longer, and to be woken takes longest. WebAssembly cannot
// pause between two looks.
#if defined(__wasm__)
#define LOOKS 20000
#else
#define LOOKS 2000
#endif
#define LOOKS_FOR_JOB (4 * LOOKS)

INLINE int32_t read_now(const int32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }

#if defined(__wasm__)
// A function of its own: the first compiler of Node 20 (V8 11.3) writes over the local variable that lies before the operands of this
// instruction. Here it is not used any more.
NOINLINE void wait_for_change(int32_t *p, int32_t value) {
  __builtin_wasm_memory_atomic_wait32(p, value, -1);
}
#elif defined(__linux__)
static void wait_for_change(int32_t *p, int32_t value) { syscall(SYS_futex, p, FUTEX_WAIT_PRIVATE, value, 0, 0, 0); }
#else
static void wait_for_change(int32_t *p, int32_t value) {
  (void)p, (void)value;
  sched_yield();
}
#endif

static void sleep_while(Team *team, int32_t *p, int32_t value, int looks) {
  for (int look = 0; look < looks; look++) {
    if (read_now(p) != value) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  __atomic_add_fetch(&team->sleepers, 1, __ATOMIC_SEQ_CST);
  while (read_now(p) == value) wait_for_change(p, value);
  __atomic_sub_fetch(&team->sleepers, 1, __ATOMIC_SEQ_CST);
}

// After a change. Whoever counts himself a sleeper looks once more before he sleeps: he sees the change, or he is seen here.
static void wake_all(Team *team, int32_t *p) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&team->sleepers, __ATOMIC_SEQ_CST) == 0) return;
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
    wake_all(team, &team->phase);
  } else {
    sleep_while(team, &team->phase, phase, LOOKS);
  }
}

// Tasks are handed out as threads come for them; each writes its own part, so it does not matter who does which.
static int next_task(Thread *thread) { return __atomic_fetch_add(&thread->team->task, 1, __ATOMIC_RELAXED); }

// A thread that cannot go on: the others leave the program at their next barrier.
static inline void team_fail(Team *team) {
  __atomic_store_n(&team->failed, LOST, __ATOMIC_RELEASE);
  __atomic_add_fetch(&team->phase, 1, __ATOMIC_RELEASE);
  wake_all(team, &team->phase);
}

static int interpret(Thread *thread, const int32_t *program, int32_t words);

// How a thread runs a program: around `interpret` there may be something that catches a fault.
#if !defined(ATTEMPT)
#define ATTEMPT interpret
#endif

// Each thread tells which job it is through with, so that no answer can be taken for that to another job.
static void team_done(Team *team, int index, int32_t job) {
  __atomic_store_n(&team->done[index], job, __ATOMIC_RELEASE);
  wake_all(team, &team->done[index]);
}

// The life of a thread beside the caller. `seen` is the last job that it need not do.
static void team_work(Thread *thread, int32_t seen) {
  Team *team = thread->team;
  for (;;) {
    sleep_while(team, &team->job, seen, LOOKS_FOR_JOB);
    seen = read_now(&team->job);
    if (read_now(&team->stop)) return;
    ATTEMPT(thread, team->program, team->words);
    team_done(team, thread->index, seen);
  }
}

static void team_begin(Team *team, const int32_t *program, int32_t words) {
  team->program = program;
  team->words = words;
  team->arrived = team->failed = team->task = 0;
  __atomic_add_fetch(&team->job, 1, __ATOMIC_RELEASE);
  wake_all(team, &team->job);
}

static void team_wait(Team *team) {
  int32_t job = read_now(&team->job);
  for (int i = 1; i < team->count; i++)
    for (int32_t done; (done = read_now(&team->done[i])) != job;) sleep_while(team, &team->done[i], done, LOOKS);
}

static void team_stop(Team *team) {
  __atomic_store_n(&team->stop, 1, __ATOMIC_RELEASE);
  __atomic_add_fetch(&team->job, 1, __ATOMIC_RELEASE);
  wake_all(team, &team->job);
}

static int check_program(const Team *team, const int32_t *program, int32_t words);

// Runs a program on all threads. The result is FINE, or what is wrong, with the opcode of the culprit above it where one is known.
static int team_run(Thread *caller, const int32_t *program, int32_t words) {
  Team *team = caller->team;
  int problem = check_program(team, program, words);
  if (problem) return problem;
  team_begin(team, program, words);
  problem = ATTEMPT(caller, program, words);
  team_wait(team);
  return problem;
}
