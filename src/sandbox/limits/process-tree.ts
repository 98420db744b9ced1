// The processes of a command, seen from outside. All of them descend from the first one: a namespace of process numbers gives
// every orphan inside to its own first process.
import { readdirSync, readFileSync } from 'node:fs'

/** Direct children of a process. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return scanned(pid)
  }
}

/** A process and all that descends from it. */
export function treeOf(pid: number): number[] {
  const all = [pid]
  for (let i = 0; i < all.length; i += 1) {
    for (const thread of threadsOf(all[i] ?? 0)) all.push(...childrenOfThread(all[i] ?? 0, thread))
  }
  return all
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function childrenOfThread(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
    return text.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return thread === String(pid) ? scanned(pid) : []
  }
}

// Kernels may be built without lists of children.
function scanned(parent: number): number[] {
  return names('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
