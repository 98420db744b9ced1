// Limits that the kernel does not keep for us, kept by looking: the disk that a command fills, and where there is no control
// group the memory of its processes together. Between two looks it may exceed them; limits of single processes and files,
// which the kernel keeps, bound by how much.
import { lstatSync, readdirSync, readFileSync, readlinkSync, statfsSync, statSync } from 'node:fs'
import type { ExecSpec } from '../contracts/index.ts'
import { systemCode } from '../kernel/index.ts'
import { namesIn, textIn } from './proc-files.ts'

/** Memory grows faster than disks fill, and a busy machine comes late as it is. */
const usualMemoryEveryMs = 15
const diskEveryMs = 50
/** Times of files are those of the last tick of the kernel's clock. */
const tickMs = 20

interface Watched {
  readonly pid: number
  readonly limits: ExecSpec['limits']
  /** False where a control group limits it. */
  readonly memory: boolean
  readonly places: readonly string[]
  readonly memoryEveryMs?: number | undefined
  onOver(limit: 'memoryBytes' | 'diskBytes'): void
}

/** Looks until it is stopped. `peakBytes`: most memory that a look found, where memory is looked at. */
export function watchUsage({ pid, limits, memory, places, onOver, memoryEveryMs = usualMemoryEveryMs }: Watched): {
  stop(): void
  peakBytes(): number | undefined
} {
  const since = Date.now()
  const before = places.map(usedOn)
  let looked = 0
  let peak = 0
  const lookAtMemory = () => {
    peak = Math.max(peak, memoryOf(treeOf(pid)))
    if (peak > limits.memoryBytes) onOver('memoryBytes')
  }
  const memoryTimer = memory ? setInterval(lookAtMemory, memoryEveryMs) : undefined
  const diskTimer = setInterval(() => {
    if (memory && memoryOf(treeOf(pid)) + unmappedFiles(treeOf(pid)) > limits.memoryBytes) return onOver('memoryBytes')
    // Others write to the same disk: only where it has filled by more than the limit do we count whose files these are.
    const growth = Math.max(0, ...places.map((place, i) => usedOn(place) - (before[i] ?? 0)))
    if (growth <= limits.diskBytes || growth - looked < limits.diskBytes / 4) return
    looked = growth
    if (writtenSince(since, places) + deletedFiles(treeOf(pid)) > limits.diskBytes) onOver('diskBytes')
  }, diskEveryMs)
  // Who waits for the processes keeps our event loop alive.
  memoryTimer?.unref()
  diskTimer.unref()
  const stop = () => {
    clearInterval(memoryTimer)
    clearInterval(diskTimer)
  }
  return { stop, peakBytes: () => (peak === 0 ? undefined : peak) }
}

function usedOn(place: string): number {
  try {
    const { blocks, bfree, bsize } = statfsSync(place)
    return (blocks - bfree) * bsize
  } catch {
    return 0
  }
}

/** Memory that is theirs alone, or shared without a file behind it. */
function memoryOf(pids: readonly number[]): number {
  let kilobytes = 0
  for (const pid of pids)
    for (const [, number] of textIn(`/proc/${pid}/status`).matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm))
      kilobytes += Number(number)
  return kilobytes * 1024
}

/**
 * Disk that files take which have changed since. An empty file takes a block as well: names fill a disk too. Names are bytes, since those
 * that are no text hold files as well; where we cannot look, for want of rights or by the length of a path, it is all too much.
 */
function writtenSince(since: number, places: readonly string[]): number {
  let bytes = 0
  const folders = places.map((place) => Buffer.from(place))
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    try {
      for (const name of readdirSync(folder, { encoding: 'buffer' })) {
        const path = Buffer.concat([folder, slash, name])
        const stats = lstatSync(path, { throwIfNoEntry: false })
        if (stats === undefined) continue
        if (stats.isDirectory()) folders.push(path)
        if (stats.ctimeMs >= since - tickMs) bytes += Math.max(4096, Math.min(stats.size, stats.blocks * 512))
      }
    } catch (cause) {
      if (!isGone(cause)) return Number.POSITIVE_INFINITY
    }
  }
  return bytes
}

const slash = Buffer.from('/')

function isGone(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')
}

/** Memory of files that exist in memory alone. Mapped parts of them count in the memory of processes as well: rather too much. */
function unmappedFiles(pids: readonly number[]): number {
  return openFiles(pids, (link) => link.startsWith('/memfd:'))
}

/** Disk of files that have no name any more and are held open. */
function deletedFiles(pids: readonly number[]): number {
  return openFiles(pids, (link) => link.endsWith(' (deleted)') && !link.startsWith('/memfd:'))
}

function openFiles(pids: readonly number[], isWanted: (link: string) => boolean): number {
  const counted = new Map<string, number>()
  for (const pid of pids) {
    for (const file of namesIn(`/proc/${pid}/fd`)) {
      const path = `/proc/${pid}/fd/${file}`
      try {
        if (!isWanted(readlinkSync(path))) continue
        const { dev, ino, blocks } = statSync(path)
        counted.set(`${dev}:${ino}`, blocks * 512)
      } catch {
        // closed meanwhile
      }
    }
  }
  return [...counted.values()].reduce((sum, each) => sum + each, 0)
}

// The processes of a command, seen from outside. All of them descend from the first one: a namespace of process numbers gives
// every orphan inside to its own first process.

export function childrenOf(pid: number, thread = String(pid)): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
    return text.trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return thread === String(pid) ? scanned(pid) : []
  }
}

/** A process and all that descends from it. */
export function treeOf(pid: number): number[] {
  const all = [pid]
  for (const each of all) for (const thread of namesIn(`/proc/${each}/task`)) all.push(...childrenOf(each, thread))
  return all
}

// Kernels may be built without lists of children.
function scanned(parent: number): number[] {
  const pids = namesIn('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number {
  const text = textIn(`/proc/${pid}/stat`)
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}
