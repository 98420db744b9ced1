// Ends a process with all that it started. A guarded process leads a separate process group, so one signal reaches them all;
// only what left the group on purpose (setsid) stays behind.
import { readdirSync, readFileSync } from 'node:fs'

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

/** Kills a process with its group, and with what it started in groups of their own. One that left its parent too is not found. */
export function killTree(pid: number | undefined): void {
  const started = pid === undefined ? [] : startedBy(pid)
  killGroup(pid)
  for (const each of started) {
    killGroup(each)
    try {
      kill(each, 'SIGKILL') // it leads no group
    } catch {
      // it is gone
    }
  }
}

/** All below a process, where the system lists them. */
function startedBy(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'))
    const children = lists.flatMap((list) => list.split(' ').filter((each) => each !== '')).map(Number)
    return children.flatMap((child) => [child, ...startedBy(child)])
  } catch {
    return [] // it is gone, or this system lists none
  }
}
