// The cores of this machine, shared by all evsys processes of a user, so that engines, workers and jobs do not fight.
//
// A process that wants cores puts a file into one folder; its name says who it is, how many it wants, and its place in the queue. It has
// its cores as soon as all before it, and it itself, fit on the machine: first come, first served, and a large wish is not
// starved by small ones. Places are given as in Lamport's bakery (1974): a newcomer first says that it chooses, then takes a
// place behind all it sees; no process takes cores while another chooses. Every process writes its own files alone, and names are
// never used twice, so anyone may clear away those of a process that is gone: kill -9 gives the cores back by itself. Nothing
// is renewed, so a holder that was busy or stopped for long loses nothing.
//
// The folder belongs to one boot and one space of process ids: containers that do not see each other do not share.
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { lstat, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  announceWait,
  type Clock,
  EvsysError,
  fileError,
  fileWork,
  identify,
  ifPresent,
  isAlive,
  longWaits,
  type ProcessIdentity,
  systemClock,
} from '../../kernel/index.ts'

interface CoreLease extends AsyncDisposable {
  readonly cores: number
}

interface CoreOptions {
  /** Cores to share; default: those of the machine. */
  readonly capacity?: number | undefined
  /** Folder of the queue; default: one in the folder for temporary files, of this user and boot. */
  readonly dir?: string | undefined
  readonly clock?: Pick<Clock, 'sleep'> | undefined
}

const pollMs = 20

/** Waits for `n` cores, all of them at once; a wish for more than there are means all. Disposing gives them back. */
export async function acquireCores(
  n: number,
  signal: AbortSignal,
  { capacity = availableParallelism(), dir = sharedFolder(), clock = systemClock }: CoreOptions = {},
): Promise<CoreLease> {
  if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`${n} is no number of cores`)
  const cores = Math.min(n, capacity)
  await openFolder(dir)
  const claim = await joinQueue(dir, cores)
  const what = `${cores} ${cores === 1 ? 'core' : 'cores'} of this machine, which other evsys processes use`
  using _waiting = announceWait((seconds) => longWaits.publish(`waiting for ${seconds} s for ${what}`))
  try {
    while (!(await isServed(dir, claim, capacity))) await clock.sleep(pollMs, signal)
    signal.throwIfAborted()
  } catch (error) {
    await remove(dir, claim.name)
    throw error
  }
  return { cores, [Symbol.asyncDispose]: () => remove(dir, claim.name) }
}

interface Claim {
  readonly name: string
  readonly holder: ProcessIdentity
  readonly isChoosing: boolean
  readonly place: number
  readonly cores: number
}

const claimName = /^(choosing|claim)-(\d+)-(\d+)-(\d+)\.(\d*)\.[0-9a-f]+$/

function nameOf(kind: 'choosing' | 'claim', place: number, cores: number, id: string): string {
  return `${kind}-${String(place).padStart(12, '0')}-${cores}-${id}`
}

async function joinQueue(dir: string, cores: number): Promise<Claim> {
  const { pid, start } = identify()
  const id = `${pid}.${start}.${randomBytes(8).toString('hex')}`
  const choosing = nameOf('choosing', 0, cores, id)
  await create(dir, choosing)
  try {
    const places = (await claimsIn(dir)).map(({ place }) => place)
    const place = 1 + places.reduce((most, each) => Math.max(most, each), 0)
    const name = nameOf('claim', place, cores, id)
    await create(dir, name)
    return { name, holder: { pid, start }, isChoosing: false, place, cores }
  } finally {
    await remove(dir, choosing)
  }
}

// The claims are listed after it was seen that no process chooses: one whose choice ended just before is among them for certain.
async function isServed(dir: string, own: Claim, capacity: number): Promise<boolean> {
  if ((await claimsIn(dir)).some(({ isChoosing }) => isChoosing)) return false
  const before = (await claimsIn(dir)).filter((claim) => !claim.isChoosing && comesBefore(claim, own))
  return before.reduce((sum, { cores }) => sum + cores, own.cores) <= capacity
}

function comesBefore(a: Claim, b: Claim): boolean {
  return a.place < b.place || (a.place === b.place && a.name < b.name)
}

/** The claims of processes that live; those of others are cleared away. */
async function claimsIn(dir: string): Promise<Claim[]> {
  const claims: Claim[] = []
  for (const name of await list(dir)) {
    const [, kind, place, cores, pid, start = ''] = claimName.exec(name) ?? []
    if (kind === undefined) continue
    const holder = { pid: Number(pid), start }
    if (isAlive(holder))
      claims.push({ name, holder, isChoosing: kind === 'choosing', place: Number(place), cores: Number(cores) })
    else await remove(dir, name)
  }
  return claims
}

function sharedFolder(): string {
  return join(tmpdir(), `evsys-cores-${process.getuid?.() ?? 'user'}-${machineTag()}`)
}

function machineTag(): string {
  const parts = [() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), () => readlinkSync('/proc/self/ns/pid')]
  const known = parts.map((read) => {
    try {
      return read().trim()
    } catch {
      return '' // not Linux: pids are the whole machine's, and one that was given again counts as alive
    }
  })
  return createHash('sha256').update(known.join('\n')).digest('hex').slice(0, 12)
}

// The folder for temporary files is everybody's: what stands there under our name must be ours.
async function openFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const found = await lstat(dir)
    const uid = process.getuid?.()
    if (found.isDirectory() && (uid === undefined || found.uid === uid)) return
  } catch (cause) {
    throw fileError('open', dir, cause)
  }
  throw new EvsysError('FILE_FAILED', `${dir} is not a folder of this user`, {
    fix: 'remove it, or point TMPDIR to a folder of your own.',
  })
}

async function create(dir: string, name: string): Promise<void> {
  const path = join(dir, name)
  await fileWork('create', path, async () => (await open(path, 'wx', 0o600)).close())
}

async function remove(dir: string, name: string): Promise<void> {
  const path = join(dir, name)
  await ifPresent('delete', path, () => unlink(path))
}

function list(dir: string): Promise<string[]> {
  return fileWork('list', dir, () => readdir(dir))
}
