// A world for tests of the research loop: a candidate is one file with knobs, its score is a function of them with seeded noise, and
// the proposer turns knobs by keyed chance. Everything is known beforehand, so that a session repeats to the last digit.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import {
  type AttemptFailure,
  type CandidateFiles,
  type Executor,
  type Idea,
  type KeepRule,
  type Proposer,
  type ResearchState,
  type ResearchTask,
  type RunOutcome,
  SessionSettings,
  type Strategy,
  TaskFile,
} from '../../src/contracts/index.ts'
import { createRegistry, defineProposer, hashOf, keyedRandom } from '../../src/kernel/index.ts'
import { defaultRule } from '../../src/research/keep/keep-rules.ts'
import { openBank } from '../../src/research/keep/seed-bank.ts'
import type { ResearchOptions } from '../../src/research/loop/research-options.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { writeBrief } from '../../src/research/propose/brief/write-brief.ts'
import { findKnobs } from '../../src/research/propose/code/knobs.ts'
import { replay } from '../../src/research/propose/recorded/replay.ts'
import { defaultStrategy } from '../../src/research/search/default-strategy.ts'
import { greedy } from '../../src/research/search/strategies.ts'
import { type OpenStore, openStore } from '../../src/store/index.ts'

export const toyTask: ResearchTask = {
  name: 'toy',
  dir: '/nowhere',
  file: TaskFile.parse({ name: 'toy', run: 'true' }),
  metric: 'loss',
  direction: 'min',
  seeds: [1, 2, 3, 4, 5],
  trainSeconds: 1,
  secondary: [],
  baseline: { 'train.mjs': 'const RATE = 0.1\nconst WIDTH = 8\nconst DEPTH = 2\n' },
  knobs: {
    RATE: { kind: 'range', low: 0.001, high: 1, log: true, integer: false },
    WIDTH: { kind: 'range', low: 1, high: 64, log: true, integer: true },
    DEPTH: { kind: 'range', low: 1, high: 8, log: false, integer: true },
  },
  prompt: '',
  hash: 'toy-1',
  scope: ['train.mjs'],
  offLimits: [],
}

/** Best at RATE 0.02, WIDTH 32, DEPTH 4. */
export function toyScore(files: CandidateFiles, seed: number, split: 'val' | 'test', noise = 0.02): number {
  const { knobs } = findKnobs(files, toyTask.knobs)
  const far = (name: string, best: number) => Math.abs(Math.log(Number(knobs[name] ?? best) / best))
  const truth = 1 + 0.2 * far('RATE', 0.02) + 0.1 * far('WIDTH', 32) + 0.1 * far('DEPTH', 4)
  const shared = keyedRandom(seed, 'toy', split).normal()
  const own = keyedRandom(seed, 'toy', split, hashOf(files)).normal()
  return truth + noise * (0.7 * shared + 0.7 * own)
}

interface ToyExecutorOptions {
  readonly check?: ((files: CandidateFiles) => readonly AttemptFailure[]) | undefined
  readonly run?: ((files: CandidateFiles, seed: number, split: 'val' | 'test') => RunOutcome | undefined) | undefined
  readonly before?: ((signal: AbortSignal) => Promise<void>) | undefined
  readonly noise?: number | undefined
  /** Absent: every seed draws its own; null: the scorer gives one number. */
  readonly items?: 'fresh' | null | undefined
}

export function toyExecutor({ check, run, before, noise, items = 'fresh' }: ToyExecutorOptions = {}): Executor {
  return {
    task: toyTask,
    async check(files) {
      return check?.(files) ?? []
    },
    async run({ files, seed, split }, signal) {
      await before?.(signal)
      signal.throwIfAborted()
      const own = run?.(files, seed, split)
      if (own !== undefined) return own
      const value = toyScore(files, seed, split, noise)
      return {
        status: 'scored',
        value,
        items: items ?? undefined,
        secondary: {},
        claimed: { loss: 0 },
        wallS: 0.5,
        level: 'in-process',
      }
    },
    async [Symbol.asyncDispose]() {},
  }
}

/** Turns one or two knobs by a keyed factor. Each call costs the same. */
export function toyProposer(
  options: { onCall?: ((call: string) => void) | undefined; costUsd?: number | undefined } = {},
): Proposer {
  return defineProposer({
    kind: 'toy',
    summary: 'Turns knobs by keyed chance.',
    params: z.strictObject({}),
    needs: { network: true },
    async propose({ request, files }, { random }) {
      options.onCall?.(request.parents.join())
      const { knobs } = findKnobs(files, toyTask.knobs)
      const draw = random('ideas')
      const ideas = Array.from({ length: request.ideas }, (_, i) => {
        const names = draw.shuffle(Object.keys(toyTask.knobs)).slice(0, 1 + draw.int(2))
        const turned = names.map((name) => {
          const value = Number(knobs[name]) * 2 ** (draw.int(5) - 2 || 1)
          return [name, name === 'RATE' ? Number(value.toPrecision(3)) : Math.max(1, Math.round(value))] as const
        })
        return {
          title: `turn ${turned.map(([name, value]) => `${name} to ${value}`).join(', ')} (${i})`,
          hypothesis: 'It may help.',
          family: names[0] ?? 'none',
          category: 'hyperparameter' as const,
          cost: 'same' as const,
          parents: [],
          change: { kind: 'knobs' as const, knobs: Object.fromEntries(turned) },
        }
      })
      const usage = { promptTokens: 1000, completionTokens: 200, latencyS: 0, costUsd: options.costUsd ?? 0.0123 }
      return { ideas, usage }
    },
  })
}

interface ToyOptions {
  readonly store: OpenStore
  readonly executor?: Executor | undefined
  readonly proposer?: Proposer | undefined
  readonly strategy?: Strategy | undefined
  readonly keepRule?: KeepRule | undefined
  readonly settings?: Partial<SessionSettings> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Options of `runResearch` for the toy world: 8 experiments, one worker. */
export function toyResearch(options: ToyOptions & Omit<Partial<ResearchOptions>, keyof ToyOptions>): ResearchOptions {
  const {
    store,
    executor = toyExecutor(),
    proposer = toyProposer(),
    strategy = greedy,
    keepRule = defaultRule,
  } = options
  const registry = createRegistry()
  for (const plugin of [proposer, strategy, keepRule]) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const settings = SessionSettings.parse({
    task: toyTask.name,
    task_hash: toyTask.hash,
    metric: toyTask.metric,
    direction: toyTask.direction,
    space: toyTask.knobs,
    train_seconds: 1,
    seed: 7,
    seeds: [...openBank(toyTask.seeds, 7)],
    strategy: { kind: strategy.kind },
    keep_rule: { kind: keepRule.kind },
    proposer: { kind: proposer.kind },
    workers: 1,
    budget: { experiments: 8 },
    noise_runs: 5,
    control_every: 10,
    confirm_every: 5,
    ...options.settings,
  })
  return {
    services: { registry, log() {}, secret: () => '' },
    fingerprint: (files) => hashOf(files),
    writeBrief: (state, request, { files, repair }) => ({
      text: '',
      request,
      state,
      files,
      ...(repair === undefined ? {} : { repair }),
    }),
    ...options,
    store,
    executor,
    settings,
    signal: options.signal ?? new AbortController().signal,
  }
}

// Sessions of the toy world driven by a cassette: answers of a provider, recorded once over HTTP, then played again by any number
// of controllers that may be killed.
/** What a session of a cassette has besides its record. Every call that is sent adds a line to the file `calls`. */
export function tapedResearch(options: {
  store: ToyOptions['store']
  workers: number
  calls?: string | undefined
  params: Readonly<Record<string, unknown>>
}): Parameters<typeof toyResearch>[0] {
  const { store, workers, params, calls } = options
  const proposer = Object.freeze({
    ...replay,
    propose(brief, context) {
      if (calls !== undefined) appendFileSync(calls, 'call\n')
      return replay.propose(brief, context as Parameters<typeof replay.propose>[1]) // params of its own schema
    },
  } satisfies Proposer)
  return {
    store,
    proposer,
    strategy: defaultStrategy,
    executor: toyExecutor({ check: checkText }),
    settings: { workers, budget: { experiments: 20 }, proposer: { kind: 'replay', params: { ...params } } },
    writeBrief: (state, request, extras) => writeBrief(state, toyTask, request, extras),
  }
}

function checkText(files: Readonly<Record<string, string>>) {
  const isBroken = Object.values(files).some((text) => text.includes('BROKEN'))
  return isBroken ? [{ class: 'syntax' as const, reason: 'BROKEN is no word' }] : []
}

/** Records a session of 20 experiments from a provider at an address. */
export async function recordTape(dir: string, workers: number, url: string): Promise<ResearchState> {
  await using store = await openStore(':memory:')
  const params = {
    file: join(dir, 'tape.jsonl'),
    mode: 'record',
    proposer: { kind: 'anthropic', params: { base_url: url } },
  }
  const options = toyResearch(tapedResearch({ store, workers, params }))
  const secret = () => 'sk-ant-test-0123456789-0123456789'
  const { state } = await runResearch({ ...options, services: { ...options.services, secret } })
  return state
}

/** The n-th answer of a model: three ideas of knobs, now and then code that is broken, which it puts right when told. */
export function modelAnswer(n: number, prompt: string): string {
  const draw = keyedRandom(11, 'model', n)
  const label = (title: string) => ({
    title: `${title} (${n})`,
    hypothesis: 'It may help.',
    family: draw.int(2) === 0 ? 'width' : 'rate',
    category: 'optimizer' as const,
    cost: 'same' as const,
    parents: [],
  })
  const code = (first: string): Idea => ({
    ...label('code'),
    change: {
      kind: 'files',
      files: {
        'train.mjs': `${first}const RATE = ${(0.01 * (1 + n)).toFixed(2)}\nconst WIDTH = 16\nconst DEPTH = 3\n`,
      },
    },
  })
  if (prompt.includes('was turned down before it was run')) return JSON.stringify({ ideas: [code('')] })
  if (n % 5 === 2) return JSON.stringify({ ideas: [code('BROKEN\n')] })
  const ideas = Array.from({ length: 3 }, (_, i): Idea => {
    const knobs = { RATE: Number((0.002 * (1 + draw.int(100))).toFixed(3)), WIDTH: 4 + draw.int(40) }
    return { ...label(`knobs ${i}`), change: { kind: 'knobs', knobs } }
  })
  return `Here are my ideas.\n\`\`\`json\n${JSON.stringify({ ideas })}\n\`\`\``
}

export function tapeParams(dir: string): SessionSettings['proposer']['params'] {
  return { file: join(dir, 'tape.jsonl'), mode: 'strict' }
}
