// Sessions of the shipped command line that are disturbed at seeded moments: their record has to be that of an undisturbed one.
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { initialResearchState, reduceResearch } from '../../contracts/index.ts'
import { EvsysError, keyedRandom, messageOf, runProgram, temporaryFolder } from '../../kernel/index.ts'
import { openStore } from '../../store/index.ts'
import { ChaosEnd, type ChaosSession, DisturbanceKind, disturbances } from './disturbance.ts'

/** One kind of disturbance over all its sessions. */
export interface ChaosRow {
  readonly disturbance: DisturbanceKind
  /** What is done. */
  readonly does: string
  readonly sessions: number
  /** Those that it met before they were over. */
  readonly disturbed: number
  /** Those whose record is that of the undisturbed session. */
  readonly equal: number
  /** Calls of the proposer that were sent again, all sessions together. */
  readonly calls_sent_again: number
  /** Why this machine cannot do it; then there are no sessions. */
  readonly skipped?: string | undefined
  /** Sessions whose record differs. */
  readonly faults: readonly string[]
}

interface BenchChaosOptions {
  /** How evsys is started, without its arguments. */
  readonly evsys: readonly string[]
  /** Sessions of each disturbance. */
  readonly repeats: number
  readonly seed: number
  readonly signal: AbortSignal
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of one session; absent: 5. */
  readonly experiments?: number | undefined
  /** Absent: all. */
  readonly kinds?: readonly DisturbanceKind[] | undefined
  onDone?: ((done: { readonly table: string; readonly strategy: string }) => void) | undefined
}

const sessionMs = 120_000
const dayMs = 86_400_000
const mostJumpDays = 30
const diskSize = '24m'

export async function benchChaos(options: BenchChaosOptions): Promise<readonly ChaosRow[]> {
  const { repeats, seed } = options
  const whole = await play(options, { at: 0, jumpMs: 0 })
  if (whole.canonical === null)
    throw new EvsysError('INTERNAL', `an undisturbed session does not come to its end: ${whole.said ?? whole.ends}`)
  const rows: ChaosRow[] = []
  for (const kind of options.kinds ?? DisturbanceKind.options) {
    const ends: ChaosEnd[] = []
    const skipped = kind === 'full-disk' ? await whyNoDisk(options) : undefined
    for (let n = 0; n < repeats && skipped === undefined; n++) {
      const draw = keyedRandom(seed, 'chaos', kind, n)
      // Spread over the life of a session, so that few moments are met twice.
      const at = 1 + Math.floor(((n + draw.float()) / repeats) * whole.operations)
      const jumpMs = Math.round((2 * draw.float() - 1) * mostJumpDays * dayMs)
      ends.push(await play(options, { kind, at, jumpMs }))
      options.onDone?.({ table: 'chaos', strategy: `${kind} ${n + 1} of ${repeats}` })
    }
    rows.push({ disturbance: kind, does: disturbances[kind], ...tally(ends, whole), skipped })
  }
  return rows
}

function tally(ends: readonly ChaosEnd[], whole: ChaosEnd) {
  const differing = ends.filter(({ canonical }) => canonical !== whole.canonical)
  return {
    sessions: ends.length,
    disturbed: ends.filter(({ disturbed }) => disturbed).length,
    equal: ends.length - differing.length,
    calls_sent_again: ends.reduce((sum, { sentAgain }) => sum + sentAgain, 0),
    faults: differing.map(({ canonical, ends, said }) => {
      const how = canonical === null ? 'did not come to its end' : 'holds another record'
      return `${how}; its controllers ended with ${ends.join(', ')}${said === undefined ? '' : `; said: ${said}`}`
    }),
  }
}

async function play(
  { evsys, seed, signal, env, experiments = 5 }: BenchChaosOptions,
  what: Pick<ChaosSession, 'at' | 'jumpMs'> & { readonly kind?: DisturbanceKind | undefined },
): Promise<ChaosEnd> {
  const dir = temporaryFolder('chaos')
  try {
    const script = fileURLToPath(new URL(`./play-chaos-child${extname(import.meta.url)}`, import.meta.url))
    const session: ChaosSession = { evsys: [...evsys], dir, seed, experiments, ...what }
    const argv = [process.execPath, script, JSON.stringify(session)]
    const onDisk = what.kind === 'full-disk' ? privateDisk(dir) : []
    const { stdout, stderr, exitCode, isLate } = await run([...onDisk, ...argv], { dir, signal, env })
    if (exitCode === 0) return ChaosEnd.parse(JSON.parse(stdout))
    const why = isLate ? `it took more than ${sessionMs / 1000} s` : stderr.slice(-2000)
    return { operations: 0, disturbed: true, canonical: null, sentAgain: 0, ends: [exitCode ?? 'SIGKILL'], said: why }
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** The command that runs another, appended to it, with a small disk of memory on `dir` that only it sees. */
function privateDisk(dir: string): string[] {
  const asRoot = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  const mount = `mount -t tmpfs -o size=${diskSize} tmpfs "$0" && exec "$@"`
  return ['unshare', ...asRoot, '--mount', 'sh', '-c', mount, dir]
}

async function whyNoDisk({ signal, env }: BenchChaosOptions): Promise<string | undefined> {
  const why = (text: string) => `a disk of its own needs unshare and mount (Linux, user namespaces or root): ${text}`
  try {
    const { exitCode, stderr } = await run([...privateDisk(tmpdir()), 'true'], { dir: tmpdir(), signal, env })
    return exitCode === 0 ? undefined : why(stderr.trim())
  } catch (cause) {
    signal.throwIfAborted()
    return why(messageOf(cause))
  }
}

async function run(
  argv: readonly string[],
  { dir, signal, env }: { dir: string; signal: AbortSignal; env: BenchChaosOptions['env'] },
) {
  const known = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  const limits = { timeoutMs: sessionMs, outputBytes: 1 << 20, signal }
  return await runProgram({ argv, cwd: dir, env: Object.fromEntries(known), stdin: '', ...limits })
}

/**
 * What the record at `file` holds of its newest session, in the form that must be equal whether or not it was disturbed, and how many
 * sessions it holds. Without any, `canonical` is undefined.
 */
export async function keptSession(file: string) {
  const nothing = { canonical: undefined as unknown, state: initialResearchState, sessions: 0 }
  if (!existsSync(file)) return nothing
  await using store = await openStore(file)
  const rows = await store.experiments({ limit: 10 })
  const [row] = rows
  if (row === undefined) return nothing
  const stream = `experiment:${row.id}`
  const events = await store.events({ stream, afterSeq: 0, limit: 100_000, types: ['research'] })
  const state = events.reduce(
    (folded, event) => (event.type === 'research' ? reduceResearch(folded, event.entry) : folded),
    initialResearchState,
  )
  return { canonical: await store.canonicalRecord(row.id), state, sessions: rows.length }
}
