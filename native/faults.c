// A fault in a kernel ends its program, not the process: the thread that met it jumps out of the kernel. Kernels hold no locks and no
// memory of their own, so nothing is left behind but numbers. Faults elsewhere go to whoever handled them before: V8 has its own.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "team.h"

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
#define FAULT_SIGNALS 4

static __thread sigjmp_buf *way_out; // of the kernel that this thread is in
static struct sigaction handled_before[FAULT_SIGNALS];
static pthread_mutex_t faults_lock = PTHREAD_MUTEX_INITIALIZER;
static int catchers;

static void on_fault(int number, siginfo_t *info, void *context) {
  if (way_out) siglongjmp(*way_out, 1);
  for (int i = 0; i < FAULT_SIGNALS; i++) {
    if (fault_signals[i] != number) continue;
    const struct sigaction *before = &handled_before[i];
    if (before->sa_flags & SA_SIGINFO) before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) before->sa_handler(number);
    else sigaction(number, before, 0); // happens again, to the default
  }
}

static void catch_faults(void) {
  pthread_mutex_lock(&faults_lock);
  // Not blocked while it is handled: the jump out of the handler leaves no mask behind.
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int i = 0; catchers == 0 && i < FAULT_SIGNALS; i++) sigaction(fault_signals[i], &action, &handled_before[i]);
  catchers++;
  pthread_mutex_unlock(&faults_lock);
}

static void release_faults(void) {
  pthread_mutex_lock(&faults_lock);
  catchers--;
  for (int i = 0; catchers == 0 && i < FAULT_SIGNALS; i++) {
    struct sigaction now;
    sigaction(fault_signals[i], 0, &now);
    if (now.sa_sigaction == on_fault) sigaction(fault_signals[i], &handled_before[i], 0);
  }
  pthread_mutex_unlock(&faults_lock);
}

static int interpret(Thread *thread, const int32_t *program, int32_t words);
static inline void team_fail(Team *team);

static int interpret_or_fail(Thread *thread, const int32_t *program, int32_t words) {
  sigjmp_buf here;
  if (sigsetjmp(here, 0)) {
    way_out = 0;
    team_fail(thread->team);
    return LOST;
  }
  way_out = &here;
  int problem = interpret(thread, program, words);
  way_out = 0;
  return problem;
}
#define ATTEMPT interpret_or_fail
