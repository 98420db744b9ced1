// The kernels as a WebAssembly module over a shared memory. A thread is an instance with a stack of its own.
#include "kernels.c"

#define EXPORT(name) __attribute__((export_name(#name)))

static Team team;
static Thread threads[MAX_THREADS];

EXPORT(scratch_bytes) int scratch_bytes(void) { return SCRATCH_FLOATS * 4; }

// Operations may touch the words from `first` to `end`.
EXPORT(open_team) void open_team(int count, char *scratch, int first, int end) {
  team.count = count;
  team.first = (size_t)first;
  team.end = (size_t)end;
  for (int i = 0; i < count; i++)
    threads[i] = (Thread){&team, i, count, team.arena, scratch + (size_t)i * SCRATCH_FLOATS * 4};
}

// Returns when the team is stopped. A thread that was lost in a kernel comes back with `again`.
EXPORT(work) void work(int index, int again) {
  int32_t seen = 0;
  if (again) {
    seen = read_now(&team.job);
    team_fail(&team);
    team_done(&team, index, seen);
  }
  team_work(&threads[index], seen);
}

EXPORT(run) int run(const int32_t *program, int words) { return team_run(&threads[0], program, words); }

// Called by the caller's thread when it was lost in a kernel itself.
EXPORT(recover) void recover(void) {
  team_fail(&team);
  team_wait(&team);
}

EXPORT(stop) void stop(void) { team_stop(&team); }
