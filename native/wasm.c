// The kernels as a WebAssembly module over a shared memory. A thread is an instance with a stack of its own.
#include "kernels.c"

#define EXPORT(name) __attribute__((export_name(#name)))

static Team team;
static Thread threads[MAX_THREADS];

EXPORT(scratch_bytes) int scratch_bytes(void) { return SCRATCH_FLOATS * 4; }

EXPORT(open_team) void open_team(int count, char *arena, char *scratch) {
  team.count = count;
  for (int i = 0; i < count; i++)
    threads[i] = (Thread){&team, i, count, arena, scratch + (size_t)i * SCRATCH_FLOATS * 4};
}

// Returns when the team is stopped. A thread that was lost in a kernel comes back with `again`.
EXPORT(work) void work(int index, int again) {
  int32_t seen = 0;
  if (again) {
    seen = read_now(&team.job);
    __atomic_add_fetch(&team.finished, 1, __ATOMIC_RELEASE);
    wake_all(&team.finished);
  }
  team_work(&threads[index], seen);
}

EXPORT(run) int run(const int32_t *program, int words) { return team_run(&threads[0], program, words); }

// Called when a thread was lost in a kernel: the others leave the program.
EXPORT(fail) void fail(void) { team_fail(&team); }

// Called by the caller's thread when it was lost itself, after `fail`.
EXPORT(wait_for_others) void wait_for_others(void) { team_wait(&team); }

EXPORT(stop) void stop(void) { team_stop(&team); }
