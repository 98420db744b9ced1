import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { faultLine } from '../../tests/load-text.ts'
import { EvsysError } from '../kernel/index.ts'
import { type LoadedExperiment, loadExperiment } from './load-experiment.ts'

const cwd = fileURLToPath(new URL('./fixtures/seed', import.meta.url))
const fragments = readdirSync(cwd).filter((name) => name !== 'minimal.yaml' && name !== 'sweep-task.yaml')

type Mapping = Record<string, unknown>
const isMapping = (value: unknown): value is Mapping =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function merged(base: unknown, over: unknown): unknown {
  if (!isMapping(base) || !isMapping(over)) return over
  const keys = [...new Set([...Object.keys(base), ...Object.keys(over)])]
  return Object.fromEntries(
    keys.map((key) => [key, key in over ? (key in base ? merged(base[key], over[key]) : over[key]) : base[key]]),
  )
}

const textOf = (name: string) => readFileSync(`${cwd}/${name}`, 'utf8')

/** A fragment laid over the minimal experiment; a matrix stands in place of its run. */
const ways: Readonly<Record<string, (name: string) => string>> = {
  'extending it': (name) => `extends: minimal.yaml\n${name === 'matrix.yaml' ? 'run: null\n' : ''}${textOf(name)}`,
  'merged into one file': (name) => {
    const { run, ...minimal } = parse(textOf('minimal.yaml'))
    return stringify(merged(name === 'matrix.yaml' ? minimal : { ...minimal, run }, parse(textOf(name))))
  },
}

const load = (text: string) => loadExperiment({ file: 'fragment.yaml', text }, { cwd })

interface Outcome {
  loads?: ((loaded: LoadedExperiment, way: string) => void) | undefined
  faults?: readonly unknown[] | undefined
}

const outcomes: Readonly<Record<string, Outcome>> = {
  'algorithm.yaml': {
    loads: ({ plan }, way) => {
      // In one file the run itself wins over the root; a file that extends it is laid over all of it.
      const isLayered = way === 'extending it'
      expect(plan.runs[0]?.config.algorithm).toEqual({
        kind: isLayered ? 'focal_sft' : 'sft',
        params: { max_steps: isLayered ? 200 : 1, lora_rank: 8 },
      })
    },
  },
  'benchmark.yaml': {
    loads: ({ plan }) => {
      expect(plan.experiment.metadata.benchmark).toMatchObject([
        { name: 'val', path: `${cwd}/data/val`, run_every: 50, metrics: ['pass@1'], split: 'val' },
        { name: 'test', path: `${cwd}/data/test`, run_every: 200, metrics: ['pass@1'], split: 'test' },
      ])
      expect(plan.notices.map(({ text }) => text)).toEqual([
        expect.stringMatching(/^test is a test benchmark .*: each test evaluation is metered/),
      ])
    },
  },
  'callbacks.yaml': {
    loads: ({ plan }) =>
      expect(plan.experiment.callbacks.map(({ kind }) => kind)).toEqual(['local_logger', 'evsys_logger']),
  },
  'data.yaml': {
    loads: ({ plan }) => expect(plan.runs[0]?.config.data).toMatchObject({ path: `${cwd}/data/train.jsonl` }),
  },
  'harness.yaml': {
    loads: ({ plan }) =>
      expect(plan.runs[0]?.config.algorithm.params.agent_import_path).toBe('my_project.agents.ToolUseAgent'),
  },
  'hypothesis.yaml': {
    loads: ({ plan }) =>
      expect(plan.experiment.metadata.hypothesis).toBe(
        'Adding 2k deduped tool-call examples lifts pass@1 on the val set.',
      ),
  },
  'legacy-eval.yaml': {
    loads: ({ plan }) => {
      expect(plan.experiment.metadata.benchmark).toMatchObject([
        { name: 'val', id: 'val', run_every: 50, metrics: ['pass@1'], split: 'val' },
        { name: 'eval', metrics: ['pass@1'], inference: { kind: 'mock' }, data: { source_kind: 'in_memory' } },
      ])
      expect(plan.experiment.callbacks).toEqual([{ kind: 'local_logger', params: {} }])
      expect(plan.experiment).not.toHaveProperty('log_store')
      expect(plan.experiment).not.toHaveProperty('data_store')
      expect(plan.notices.map(({ text }) => text.split(/[ :]/)[0]).sort()).toEqual([
        'data_store',
        'eval',
        'log_store',
        'validation',
      ])
    },
  },
  'matrix.yaml': {
    loads: ({ plan }) =>
      expect(plan.arms.map(({ name }) => name)).toEqual([
        'minimal__kindsft_learning_rate1e-05',
        'minimal__kindsft_learning_rate0p0001',
        'minimal__kindfocal_sft_learning_rate1e-05',
        'minimal__kindfocal_sft_learning_rate0p0001',
      ]),
  },
  'transforms.yaml': {
    loads: ({ plan }) =>
      expect(plan.runs[0]?.config.data.transforms).toEqual([
        {
          kind: 'jsonl_to_chat',
          params: { user_template: 'Query: {query}', assistant_template: '<answer>{tool_slug}</answer>' },
        },
        { kind: 'dedupe', params: { key: 'query' } },
      ]),
  },
}

describe('the seed documents', () => {
  it('minimal.yaml loads by itself (CFG-15)', async () => {
    expect((await load(textOf('minimal.yaml'))).plan.runs.map(({ name }) => name)).toEqual(['r'])
  })

  it('are all expected to do something (CFG-15)', () => {
    expect(Object.keys(outcomes)).toEqual(fragments)
  })

  const cases = Object.keys(ways).flatMap((way) => fragments.map((name) => ({ name, way })))
  it.each(cases)('$name, $way, does what its comments say (CFG-15)', async ({ name, way }) => {
    const { loads, faults } = outcomes[name] ?? {}
    const result = await load(ways[way]?.(name) ?? '').then(
      (loaded) => ({ loaded }),
      (error) => ({ error }),
    )
    if ('error' in result) {
      expect(EvsysError.is(result.error) ? result.error.problems.map(faultLine) : result.error).toEqual(faults)
      return
    }
    expect(faults).toBeUndefined()
    loads?.(result.loaded, way)
  })
})
