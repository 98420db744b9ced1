// Ends a process with all that it started. A guarded process leads a separate process group, so one signal reaches them all;
// only what left the group on purpose (setsid) stays behind.

// Taken hold of before foreign code can replace it.
const kill = process.kill.bind(process)
const { platform } = process

/** Kills the group that a process leads; quiet when it is gone. */
export function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    kill(platform === 'win32' ? pid : -pid, 'SIGKILL')
  } catch {
    // the group is gone, or it cannot be named from inside a namespace of processes
    if (pid === process.pid) kill(pid, 'SIGKILL')
  }
}
