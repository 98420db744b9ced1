import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keptSession } from '../../src/arena/chaos/bench-chaos.ts'
import { ErrorRecord } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { type Reply, startFakeProvider } from '../fake-provider.ts'
import { inFullLane } from '../scale.ts'
import { startChild } from '../start-child.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { modelAnswer, recordTape } from './toy-research.ts'

const folder = temporaryFolders()
const slow = { timeout: 1_800_000 }

/** Moments at which a controller of so many workers is killed. */
const lanes = [
  { workers: 1, moments: inFullLane ? 50 : 3 },
  { workers: 3, moments: inFullLane ? 50 : 2 },
]

/** Answers as a model does that is asked for the n-th time, and takes more tokens every time. */
function provider(): Reply {
  let n = 0
  return ({ body }) => {
    n += 1
    return {
      model: 'claude-sonnet-4-6',
      content: [{ type: 'text', text: modelAnswer(n, JSON.stringify(body)) }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 4000 + 37 * n, output_tokens: 600 + 13 * n },
    }
  }
}

describe.each(lanes)(
  'a session of a cassette with $workers workers whose controller is killed',
  slow,
  ({ workers, moments }) => {
    const flags = [`workers=${workers}`]
    let whole: Kept & { tapes: string; operations: number }
    let kills = 0

    it('is recorded from a provider, and played again to the same attempts and bill (RES-602, RES-516)', async () => {
      const { url } = await startFakeProvider(provider())
      const tapes = folder()
      const recorded = await recordTape(tapes, workers, url)
      expect(recorded.spend).toMatchObject({ experiments: 20, lostCalls: 0, assumedUsd: 0 })
      expect(recorded.gauges.repairs).toBeGreaterThan(0)
      const place = sessionFolder(folder(), tapes)
      const played = await playSession(place, flags)
      expect(played).toMatchObject({ code: 0 })
      whole = { ...(await keptOf(place)), tapes, operations: played.operations }
      const told = ({ attempts }: typeof recorded) =>
        attempts.map(({ id, fingerprint, verdict, scores, costUsd }) => ({ id, fingerprint, verdict, scores, costUsd }))
      expect(told(whole.state)).toEqual(told(recorded))
      expect(whole.state.spend).toMatchObject({
        usd: recorded.spend.usd,
        tokens: recorded.spend.tokens,
        calls: recorded.spend.calls,
      })
      expect(whole.sent).toBe(recorded.spend.calls)
    })

    it.each(Array.from({ length: moments }, (_, moment) => moment))(
      'ends in the same record when it goes on, at moment %i (RES-602)',
      async (moment) => {
        const dir = folder()
        const place = sessionFolder(dir, whole.tapes)
        const drawn = keyedRandom(7, 'killed', workers, moment).float()
        const killAt = 1 + Math.floor(((moment + drawn) / moments) * whole.operations)
        const killed = await playSession(place, [...flags, `kill=${killAt}`])
        if (killed.code === 'SIGKILL') kills += 1
        const stood = await keptOf(place)
        const second = await playSession(place, stood.canonical === undefined ? flags : [...flags, 'resume'])
        const seen = { killAt, killed: killed.code, last: killed.lines.at(-1), code: second.code, error: second.error }
        expect(seen).toMatchObject({ code: 0 })
        const kept = await keptOf(place)
        expect({ ...seen, canonical: kept.canonical }).toEqual({ ...seen, canonical: whole.canonical })
        // At most one call of each worker was sent again, and what nobody heard of is on the bill.
        const { lostCalls, usd, assumedUsd } = kept.state.spend
        expect(lostCalls).toBeLessThanOrEqual(workers)
        expect(kept.sent).toBeLessThanOrEqual(whole.sent + lostCalls)
        expect(kept.sent).toBeGreaterThanOrEqual(whole.sent)
        const lost = kept.state.calls.filter((call) => call.lost > 0)
        expect(lost).toHaveLength(lostCalls)
        expect(assumedUsd).toBeCloseTo(
          lost.reduce((sum, { intent }) => sum + intent.forecast.usd, 0),
          9,
        )
        expect(usd).toBeCloseTo(whole.state.spend.usd + assumedUsd, 9)
        rmSync(dir, { recursive: true })
      },
    )

    it('was killed nearly every time (RES-602)', () => {
      expect(kills).toBeGreaterThanOrEqual(0.8 * moments)
    })
  },
)

// Sessions of the toy world in processes of their own, which may be killed.
interface SessionFolder {
  readonly record: string
  readonly calls: string
  /** Folder of the cassette. */
  readonly tapes: string
}

function sessionFolder(dir: string, tapes: string): SessionFolder {
  return { record: join(dir, 'evsys.db'), calls: join(dir, 'calls'), tapes }
}

/** Runs a session to its end, or until it kills itself. */
async function playSession(
  { record, calls, tapes }: SessionFolder,
  flags: readonly string[] = [],
): Promise<{ code: number | string; lines: string[]; operations: number; error: ErrorRecord | undefined }> {
  await using child = startChild('run-research', [record, calls, tapes, ...flags])
  const lines: string[] = []
  let operations = 0
  for (let line = await child.line().catch(() => undefined); line !== undefined; ) {
    const [at = '', ...rest] = line.split(' ')
    operations = Number(at)
    lines.push(rest.join(' '))
    line = await child.line().catch(() => undefined)
  }
  const said = lines.find((line) => line.startsWith('error '))?.slice('error '.length)
  const error = said === undefined ? undefined : ErrorRecord.parse(JSON.parse(said))
  return { code: await child.exit(), lines, operations, error }
}

interface Kept extends Awaited<ReturnType<typeof keptSession>> {
  /** Calls that were really sent. */
  readonly sent: number
}

async function keptOf({ record, calls }: SessionFolder): Promise<Kept> {
  const sent = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').length - 1 : 0
  return { ...(await keptSession(record)), sent }
}
