// Sessions of the toy world driven by a cassette: answers of a provider, recorded once over HTTP, then played again by any number
// of controllers that may be killed.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Idea, Proposer, ResearchState, SessionSettings } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { runResearch } from '../../src/research/loop/run-research.ts'
import { writeBrief } from '../../src/research/propose/brief/write-brief.ts'
import { replay } from '../../src/research/propose/recorded/replay.ts'
import { defaultStrategy } from '../../src/research/search/default-strategy.ts'
import { openStore } from '../../src/store/index.ts'
import { type ToyOptions, toyExecutor, toyResearch, toyTask } from './toy-research.ts'

/** What a session of a cassette has besides its record. Every call that is sent adds a line to the file `calls`. */
export function tapedResearch(options: {
  store: ToyOptions['store']
  workers: number
  calls?: string
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
