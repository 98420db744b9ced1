// Everything that reads what others wrote, given what is wrong, in processes whose time and memory are measured. Here a sample; the full
// lane tries all 20,000, and prints the table of docs/reliability.md: `EVSYS_TEST_SCALE=full npx vitest run tests/malformed-inputs.test.ts`.
import { expect, it } from 'vitest'
import { kinds } from './malformed/kinds.ts'
import { inFullLane } from './scale.ts'
import { type Child, startChild } from './start-child.ts'

/** Of processor time, which is what it takes on a machine that does nothing else. */
const mostMs = 5000
const mostMb = 500
/** In the fast lane, of each kind. */
const sample = 4
const batch = 250

type Outcome = { label: string; outcome: string; ms: number; cpuMs: number; peakMb: number }
let sum = 0

/** What a child says of its inputs, and of the one after which it said nothing more. */
async function outcomesOf(name: string, ...range: string[]): Promise<Outcome[]> {
  await using child = startChild('malformed-child', [name, ...range])
  const found: Outcome[] = []
  let label = ''
  for (;;) {
    const line = await lineWithin(child, 60_000)
    if (typeof line !== 'string') {
      if (line.ended === 0) return found
      const outcome = `NOT TYPED: the process ended with ${line.ended}`
      return [...found, { label, outcome, ms: Number.NaN, cpuMs: Number.NaN, peakMb: Number.NaN }]
    }
    const said = JSON.parse(line)
    if ('began' in said) label = said.began
    else found.push(said)
  }
}

async function lineWithin(child: Child, ms: number): Promise<string | { ended: number | string }> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<{ ended: string }>((resolve) => {
    timer = setTimeout(() => resolve({ ended: `nothing for ${ms / 1000} s` }), ms)
  })
  const line = child.line().catch(async () => ({ ended: await child.exit() }))
  const first = await Promise.race([line, late])
  clearTimeout(timer)
  return first
}

it.each(kinds.map((kind) => [kind.name, kind] as const))(
  '%s: what is malformed is refused in bounded time and memory (REL-460)',
  {
    timeout: 3_600_000,
  },
  async (name, { bombs, count }) => {
    const found: Outcome[] = []
    if (inFullLane) {
      for (let from = 0; from < count; from += batch)
        found.push(...(await outcomesOf(name, `${from}`, `${Math.min(count, from + batch)}`)))
      for (const bomb of Object.keys(bombs)) found.push(...(await outcomesOf(name, bomb)))
      expect(found).toHaveLength(count + Object.keys(bombs).length)
    } else {
      found.push(...(await outcomesOf(name, '0', `${sample}`)))
      expect(found).toHaveLength(sample)
    }
    const faults = found
      .filter(
        ({ outcome, cpuMs, peakMb }) => outcome.startsWith('NOT TYPED') || !(cpuMs < mostMs) || !(peakMb < mostMb),
      )
      .map(
        ({ label, outcome, ms, cpuMs, peakMb }) =>
          `${label}: ${outcome}, ${cpuMs.toFixed(0)} ms of ${ms.toFixed(0)}, ${peakMb.toFixed(0)} MB`,
      )
    const most = (of: (each: Outcome) => number) => found.toSorted((a, b) => of(b) - of(a))[0] as Outcome // there are some
    const refused = found.filter(({ outcome }) => outcome !== 'used' && outcome !== '200').length
    sum += found.length
    const [worst, largest] = [most(({ cpuMs }) => cpuMs), most(({ peakMb }) => peakMb)]
    const figures = [found.length, refused, worst.cpuMs.toFixed(0), worst.ms.toFixed(0), worst.label]
    // As a row of the table, at once: the whole takes long.
    if (inFullLane)
      process.stdout.write(`| ${[name, ...figures, largest.peakMb.toFixed(0), largest.label].join(' | ')} |\n`)
    expect(faults).toEqual([])
  },
)

it('are 20,000 together, and some of each kind in the brief run (REL-460)', () => {
  expect(sum).toBeGreaterThanOrEqual(inFullLane ? 20_000 : 28)
})
