// A session as the loop would record it, with known true effects: for reports, tables and patches.
import type { Attempt, AttemptVerdict, CandidateFiles, FailureClass, IdeaCategory } from '../src/contracts/index.ts'
import { keyedRandom } from '../src/kernel/index.ts'
import type {
  ReportedAttempt,
  ReportedConfirmation,
  ReportedRun,
  ResearchReportInput,
} from '../src/report/input/report-input.ts'

const categories: readonly IdeaCategory[] = ['architectural', 'optimizer', 'hyperparameter', 'regularization']
const families: Readonly<Record<IdeaCategory, readonly string[]>> = {
  architectural: ['width', 'attention', 'activation'],
  optimizer: ['schedule', 'momentum', 'second-order'],
  hyperparameter: ['learning-rate', 'batch-size'],
  regularization: ['dropout', 'weight-decay'],
}
const failureClasses: readonly FailureClass[] = ['oom', 'syntax', 'timeout', 'divergence', 'validation', 'crash']
const sigma = 0.012
const seedSd = 0.01

/** The first file that candidates change: twelve settings, far enough apart that changes of two of them never touch. */
export function baselineFiles(): CandidateFiles {
  const settings = Array.from({ length: 12 }, (_, i) => [
    `# part ${i}`,
    `def part_${i}(x):`,
    `    SETTING_${i} = 1`,
    `    y = x * SETTING_${i}`,
    '    return y',
    '',
    '',
    '',
  ]).flat()
  return { 'train.py': `import api\n\n${settings.join('\n')}\nprint("done")\n`, 'notes.txt': 'first\n' }
}

/** A session of `n` experiments after its baseline. */
export function generatedSession(
  n: number,
  { title }: { title?: ((number: number) => string) | undefined } = {},
): ResearchReportInput {
  const random = keyedRandom(7, 'generated-session')
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.float())) * Math.cos(2 * Math.PI * random.float())
  const files = new Map([['a0', baselineFiles()]])
  const attempts: ReportedAttempt[] = [
    {
      attempt: { ...blank(0), title: 'baseline', scores: scoresAround(2.6, 5, normal), lines: 99 },
      files: baselineFiles(),
      wallS: 150,
      costUsd: 0,
    },
  ]
  let incumbent = { id: 'a0', level: 2.6 }
  for (let number = 1; number <= n; number++) {
    const category = categories[Math.floor(random.float() * categories.length)] ?? 'optimizer'
    const family = families[category][Math.floor(random.float() * families[category].length)] ?? 'other'
    const effect =
      (random.float() < 0.3 ? 0.12 * Math.exp(-number / 40) : -0.05 * random.float() ** 2) * (0.5 + random.float())
    const base = blank(number)
    const own = {
      ...base,
      title: title?.(number) ?? `${family}: variant ${number}`,
      category,
      family,
      parents: [incumbent.id],
    }
    const spent = { costUsd: 0.012 + 0.01 * random.float(), wallS: 30 + 60 * random.float() }
    if (random.float() < 0.12) {
      const failed = failureClasses[Math.floor(random.float() ** 2 * failureClasses.length)] ?? 'crash'
      const failure = {
        class: failed,
        reason: `it ended by ${failed}`,
        log: `Traceback: ${failed} <script>alert(1)</script>`,
      }
      attempts.push({ attempt: { ...own, verdict: 'failed', failure }, ...spent })
      continue
    }
    const seeds = 1 + Math.floor(random.float() * 4)
    const seen = effect + (sigma * normal()) / Math.sqrt(seeds)
    const z = (seen * Math.sqrt(seeds)) / sigma
    const verdict: AttemptVerdict =
      seeds >= 2 && z > 1 ? 'provisional' : z < 0 || seeds < 3 ? 'discarded' : 'inconclusive'
    const level = incumbent.level - effect
    const changed = changeOf(files.get(incumbent.id) ?? {}, number)
    files.set(own.id, changed)
    attempts.push({
      attempt: {
        ...own,
        scores: scoresAround(incumbent.level - seen, seeds, normal),
        gain: { mean: seen, n: seeds, sigma },
        verdict,
        reason: `${z.toFixed(1)} times the noise over ${seeds} seeds`,
      },
      files: changed,
      ...spent,
    })
    if (verdict === 'provisional') incumbent = { id: own.id, level }
  }
  for (const [i, each] of attempts.entries()) attempts[i] = { ...each, runs: runsOf(each) }
  const kept = attempts.filter(({ attempt }) => attempt.verdict === 'provisional')
  const confirmations = kept.filter((_, i) => i % 3 === 0).map(({ attempt }, i) => confirmationOf(attempt, i))
  const passed = new Set(confirmations.filter((each) => each.passed).map(({ attempt }) => attempt))
  return {
    task: {
      name: 'shakespeare',
      metric: 'val_bpb',
      direction: 'min',
      unit: 'bits per byte',
      trainSeconds: 30,
      hash: 'f'.repeat(64),
      knobs: {
        rate: { kind: 'range', low: 0.001, high: 10, log: true, integer: false },
        width: { kind: 'range', low: 1, high: 64, log: false, integer: true },
      },
    },
    session: {
      id: 'exp_generated',
      startedAt: '2026-01-31T18:00:00.000Z',
      endedAt: '2026-01-31T21:12:00.000Z',
      status: 'ended: the budget of experiments is used up',
      settings: [
        ['proposer', 'hybrid'],
        ['strategy', 'default'],
        ['keep rule', 'default'],
      ],
      reproduce: 'evsys research run --task shakespeare --proposer hybrid --max-experiments 60',
    },
    attempts: attempts.map((each) =>
      passed.has(each.attempt.id) ? { ...each, attempt: { ...each.attempt, verdict: 'confirmed' } } : each,
    ),
    noise: { seedSd, sigma, jitterSd: 0.0004 },
    confirmations,
    testEvaluations: { used: confirmations.length, allowed: 20 },
    notes: [{ at: '2026-01-31T19:00:00.000Z', author: 'ada', text: 'Leave the tokenizer alone.' }],
  }
}

function runsOf({ attempt: { scores, failure } }: ReportedAttempt): ReportedRun[] {
  if (failure !== undefined) return [{ seed: 0, failure: failure.reason, wallS: 3 }]
  return scores.map(({ seed, value }) => ({
    seed,
    value,
    wallS: 30,
    peakMemoryBytes: 4e8,
    curve: Array.from({ length: 40 }, (_, i) => ({ seconds: 0.75 * (i + 1), value: value + 3 * Math.exp(-i / 6) })),
  }))
}

function blank(number: number): Attempt {
  return {
    id: `a${number}`,
    number,
    parents: [],
    title: '',
    hypothesis: number === 0 ? '' : 'It should learn faster early on, since the first steps are wasted now.',
    family: 'baseline',
    category: 'hyperparameter',
    mode: 'improve',
    knobs: { rate: 0.02 * 2 ** ((number * 7) % 9), width: 8 * (1 + (number % 5)) },
    fingerprint: `f${number}`,
    lines: 100,
    scores: [],
  }
}

function scoresAround(level: number, seeds: number, normal: () => number): Attempt['scores'] {
  return Array.from({ length: seeds }, (_, seed) => ({ seed, value: level + (seedSd * normal()) / 2, secondary: {} }))
}

// Every change turns one setting: of another part than the ones before it, until all had their turn.
function changeOf(base: CandidateFiles, number: number): CandidateFiles {
  const part = number % 12
  const text = base['train.py'] ?? ''
  return {
    ...base,
    'train.py': text.replace(new RegExp(`SETTING_${part} = .*`), `SETTING_${part} = ${number + 1}  # was smaller`),
  }
}

function confirmationOf({ id, gain }: Attempt, i: number): ReportedConfirmation {
  const mean = 0.9 * (gain?.mean ?? 0) + 0.01 * i
  return {
    attempt: id,
    gain: mean,
    interval: [mean - 0.01, mean + 0.01],
    confidence: 0.9,
    seeds: 5,
    split: 'test',
    passed: mean > 0.01,
  }
}
