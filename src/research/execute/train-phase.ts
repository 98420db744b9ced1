// The first phase: the candidate trains, reports its curve, and leaves what it learned in EVSYS_OUT. What it says about its
// own quality is kept as a claim and counts for nothing.
import * as z from 'zod'
import type { CurveSample, Level, Metrics } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { LogTail, readLines } from './candidate-output.ts'
import { openCandidateSandbox, type PhaseOptions } from './candidate-sandbox.ts'
import { failureOf, RunFailure } from './run-failure.ts'

interface Trained {
  readonly level: Level
  readonly memoryBy: string
  readonly claimed?: Metrics | undefined
  /** It was ended by `watch`. */
  readonly killed: boolean
  /** It was still busy when its time was up, which a dry run allows. */
  readonly cut: boolean
  readonly peakMemoryBytes?: number | undefined
  readonly log: LogTail
}

const longestReport = 64 * 1024
const mostPoints = 20_000
const mostClaims = 32
/** After its time, a candidate that has reported when it began may end its step, evaluate and save for this long, or a quarter of its time. */
const leastEndSeconds = 5

const Report = z.looseObject({
  nonce: z.string(),
  begun: z.literal(true).optional(),
  curve: z.looseObject({ seconds: z.number().min(0), value: z.number() }).optional(),
  claimed: z.record(z.string().max(100), z.number()).optional(),
})

export async function trainPhase(
  options: Omit<PhaseOptions, 'phase'> & {
    readonly timeoutSeconds: number
    watch?: ((sample: CurveSample) => 'continue' | 'kill') | undefined
  },
  signal: AbortSignal,
): Promise<Trained> {
  await using held = await openCandidateSandbox({ ...options, phase: 'train' })
  const { limits, timeoutSeconds, dry } = options
  const log = new LogTail()
  const begin = performance.now()
  await using process = await held.sandbox.spawn(held.spec(timeoutSeconds * 1000), signal)
  await process.end()
  let claimed: Metrics | undefined
  let points = 0
  let killed = false
  let printed = 0
  let isLate = false
  let deadline: NodeJS.Timeout | undefined
  const endSeconds = options.trainSeconds + Math.max(leastEndSeconds, options.trainSeconds / 4)
  const end = () => {
    isLate = true
    process[Symbol.asyncDispose]().then(undefined, (cause: unknown) => log.add(`${messageOf(cause)}\n`))
  }
  const take = (text: string) => {
    const report = parseReport(text)
    if (report === undefined || report.nonce !== held.nonce) return
    if (report.begun && !dry) deadline ??= setTimeout(end, endSeconds * 1000)
    if (report.claimed !== undefined) claimed = boundedClaim(report.claimed)
    if (report.curve === undefined || killed || points >= mostPoints) return
    points += 1
    const elapsed = (performance.now() - begin) / 1000
    const sample = { seconds: Math.min(report.curve.seconds, elapsed), value: report.curve.value }
    if (options.watch?.(sample) === 'kill') killed = true
  }
  const onLog = (text: string) => log.add(text)
  const lines = readLines({ longest: longestReport, onMessage: take, onLog, onLong: () => undefined })
  try {
    for await (const { stream, text } of process.output) {
      printed += text.length
      if (stream === 'stdout') lines.read(text)
      else log.add(text)
      if (killed || isLate || printed > limits.outputBytes) break
    }
    lines.finish()
  } finally {
    clearTimeout(deadline)
  }
  const common = { level: held.level, memoryBy: held.memoryBy, log, claimed, killed: false, cut: false }
  const isLoud = printed > limits.outputBytes
  if (killed || isLate || isLoud) await process[Symbol.asyncDispose]()
  const result = await process.exit
  const { peakMemoryBytes } = result
  if (peakMemoryBytes !== undefined) options.onPeak?.(peakMemoryBytes)
  if (killed) return { ...common, killed: true }
  if (isLoud) throw new RunFailure('validation', `training printed more than ${limits.outputBytes} characters`, log)
  if (isLate) {
    const took = `training took more than ${Math.round(endSeconds)} s; it has ${options.trainSeconds}`
    throw new RunFailure('timeout', took, log)
  }
  // A dry run asks whether the candidate starts and steps, not whether it is done in time.
  if (dry && result.limitHit === 'timeoutMs') return { ...common, peakMemoryBytes, cut: true }
  const failure = failureOf('training', result, log, { seconds: timeoutSeconds, memoryBytes: limits.memoryBytes })
  if (failure !== undefined) throw failure
  return { ...common, peakMemoryBytes }
}

function parseReport(text: string): z.infer<typeof Report> | undefined {
  try {
    const report = Report.safeParse(JSON.parse(text))
    return report.success ? report.data : undefined
  } catch {
    return undefined
  }
}

function boundedClaim(claimed: Readonly<Record<string, number>>): Metrics {
  return Object.fromEntries(
    Object.entries(claimed)
      .filter(([name, value]) => Number.isFinite(value) && name !== '__proto__')
      .slice(0, mostClaims),
  )
}
