// Runs one program over an arena in a file and prints what became of it: check FILE THREADS OFFSET WORDS. Made for builds with
// sanitizers: the arena and each thread's scratch are blocks of their own, so a step over their ends is seen.
#define _GNU_SOURCE
#include "kernels.c"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *work_thread(void *thread) {
  team_work(thread, 0);
  return 0;
}

static void *or_die(void *pointer) {
  if (pointer) return pointer;
  perror("check");
  exit(99);
}

int main(int count, char **args) {
  if (count != 5) return 98;
  int threads = atoi(args[2]), words = atoi(args[4]);
  size_t offset = strtoull(args[3], 0, 10);
  FILE *file = or_die(fopen(args[1], "r+b"));
  fseek(file, 0, SEEK_END);
  size_t bytes = (size_t)ftell(file);
  rewind(file);
  char *arena = or_die(aligned_alloc(64, bytes));
  if (fread(arena, 1, bytes, file) != bytes) return 97;

  static Team team;
  static Thread members[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  team.count = threads;
  team.arena = arena;
  team.first = 16;
  team.end = bytes / 4;
  for (int i = 0; i < threads; i++) {
    members[i] = (Thread){&team, i, threads, arena, or_die(aligned_alloc(64, SCRATCH_FLOATS * 4))};
    if (i > 0 && pthread_create(&ids[i], 0, work_thread, &members[i]) != 0) return 96;
  }
  int problem = team_run(&members[0], (const int32_t *)(arena + offset), words);
  team_stop(&team);
  for (int i = 0; i < threads; i++) {
    if (i > 0) pthread_join(ids[i], 0);
    free(members[i].scratch);
  }
  rewind(file);
  if (fwrite(arena, 1, bytes, file) != bytes || fclose(file) != 0) return 95;
  free(arena);
  printf("%d\n", problem);
  return 0;
}
