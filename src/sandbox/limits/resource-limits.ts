// Limits of single processes, which a process inherits and cannot raise.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { release } from 'node:os'
import type { ExecSpec } from '../../contracts/index.ts'

/** Arguments of `prlimit` before the sandbox is made. `memory`: no control group limits it. */
export function outerLimits({ memoryBytes, diskBytes }: ExecSpec['limits'], memory: boolean): string[] {
  const args = ['--core=0:0', `--fsize=${diskBytes}:${diskBytes}`, '--nofile=1024:4096', '--memlock=65536:65536']
  // Not the address space: runtimes reserve far more of it than they ever use.
  return memory ? [...args, `--data=${memoryBytes}:${memoryBytes}`] : args
}

/** Arguments of `prlimit` inside the namespace of the command's account. */
export function innerLimits({ processes }: ExecSpec['limits']): string[] {
  const others = countsPerNamespace() ? 0 : processesOfUser()
  // The shell that starts the command is one of them, and so is the first process of a namespace.
  const most = processes + others + 2
  return [`--nproc=${most}:${most}`]
}

// Before Linux 5.14 the processes that an account has outside count as well.
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return major > 5 || (major === 5 && minor >= 14)
}

function processesOfUser(): number {
  const uid = process.getuid?.()
  let threads = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (statSync(`/proc/${name}`).uid !== uid) continue
      threads += Number(/^Threads:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'latin1'))?.[1] ?? 1)
    } catch {
      // it has ended
    }
  }
  return threads
}
