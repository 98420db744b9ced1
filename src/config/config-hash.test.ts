import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { minimal, planOf } from '../../tests/load-text.ts'
import { loadExperiment } from './load-experiment.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'evsys-hash-'))
})
afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

/** Hashes of an experiment in a project of its own. */
async function hashesIn(project: string, files: Readonly<Record<string, string>>, file: string) {
  await mkdir(join(root, project, '.evsys'), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, project, name)), { recursive: true })
    await writeFile(join(root, project, name), text)
  }
  const { plan } = await loadExperiment({ file: join(root, project, file) })
  return { experiment: plan.config_hash, runs: plan.runs.map((run) => run.config_hash) }
}

const body = `name: e
budget: { wall: 30m }
run:
  data: { path: data/train.jsonl }
  model: { name: ./weights }
  algorithm: { kind: sft, params: { agent_import_path: ./agent.ts#A } }
metadata: { benchmark: { path: data/val } }
plugins: [./lib/p.ts]
output_dir: out
`

describe('the hash of a configuration', () => {
  it('does not depend on comments, key order, quotes or defaults written out (CFG-17)', async () => {
    const spelled = `# why
version: 1
run:
  backend: { params: {}, kind: mock }
  algorithm:
    params: { "max_steps": 1 }   # one
    kind: 'sft'
  seed: 42
  tags: []
  model: { name: mock }
  data: { rows: [{ tool_slug: greet, query: hi }], source_kind: in_memory, hf_split: train }
  name: r
n_repeats: 1
name: minimal
description: ""
`
    expect((await planOf(spelled)).config_hash).toBe((await planOf(minimal)).config_hash)
    expect((await planOf(spelled)).runs[0]?.config_hash).toBe((await planOf(minimal)).runs[0]?.config_hash)
  })

  it('does not depend on the way the run is written (CFG-17)', async () => {
    const short = minimal.replace('run:\n', '').replace('  name: r\n', 'run: { name: r }\n').replaceAll(/^ {2}/gm, '')
    expect((await planOf(short)).config_hash).toBe((await planOf(minimal)).config_hash)
    expect((await planOf(minimal, { set: ['seed=42'] })).config_hash).toBe((await planOf(minimal)).config_hash)
  })

  it('does not depend on where the project lies, nor on the layout of extends (CFG-17)', async () => {
    const here = await hashesIn('a', { 'e.yaml': body }, 'e.yaml')
    const there = await hashesIn('b/c/d', { 'e.yaml': body }, 'e.yaml')
    const below = await hashesIn(
      'moved',
      {
        'exp/deep/e.yaml': body
          .replaceAll(/(path: |name: |\[)(\.\/)?(data|weights|lib)/g, '$1../../$3')
          .replace('./agent.ts', '../../agent.ts'),
      },
      'exp/deep/e.yaml',
    )
    const [run = '', ...rest] = body.split(/(?=metadata:)/)
    const layered = await hashesIn(
      'e',
      { 'base.yaml': run, 'e.yaml': `extends: base.yaml\n${rest.join('')}` },
      'e.yaml',
    )
    expect(there).toEqual(here)
    expect(below).toEqual(here)
    expect(layered).toEqual(here)
  })

  it('does not depend on units, output folder or parallelism (CFG-17)', async () => {
    const hash = async (text: string) => (await planOf(text)).config_hash
    expect(
      await hash(body.replace('30m', '1800').replace('output_dir: out', 'output_dir: other\nmax_concurrent_arms: 3')),
    ).toBe(await hash(body))
  })

  it('keeps an absolute path out of the project as the place it names (CFG-17)', async () => {
    const text = (path: string) => body.replace('data/train.jsonl', path)
    const one = await hashesIn('a', { 'e.yaml': text('/data/x.jsonl') }, 'e.yaml')
    const two = await hashesIn('b/c', { 'e.yaml': text('/data/x.jsonl') }, 'e.yaml')
    expect(one).toEqual(two)
    expect(await hashesIn('a', { 'e.yaml': text('/data/y.jsonl') }, 'e.yaml')).not.toEqual(one)
  })

  it.each([
    ['data', 'data/train.jsonl', 'data/other.jsonl'],
    ['a model', './weights', './other'],
    ['an algorithm', 'kind: sft', 'kind: rl'],
    ['a parameter', 'params: {', 'params: { x: 1,'],
  ])('changes with %s, for the experiment and its run (CFG-17)', async (_what, from, to) => {
    const before = await planOf(body)
    const after = await planOf(body.replace(from, to))
    expect(after.config_hash).not.toBe(before.config_hash)
    expect(after.runs[0]?.config_hash).not.toBe(before.runs[0]?.config_hash)
  })

  it('of a run leaves out its name and tags, and counts its seed (CFG-17)', async () => {
    const hash = async (text: string) => (await planOf(text)).runs[0]?.config_hash
    const base = await hash(minimal)
    expect(await hash(minimal.replace('name: r', 'name: other\n  tags: [x]'))).toBe(base)
    expect(await hash(`${minimal}base_seed: 7\n`)).not.toBe(base)
  })

  it('of a stage counts the run that it starts from (CFG-17)', async () => {
    const chain = (first: string) => `${minimal}continual: { datasets: [{ path: ${first} }, { path: b }] }\n`
    const [one, two] = [await planOf(chain('a')), await planOf(chain('c'))]
    expect(one.runs[1]?.config).toEqual(two.runs[1]?.config)
    expect(one.runs[1]?.config_hash).not.toBe(two.runs[1]?.config_hash)
  })

  it('is the same for any order of keys (CFG-17)', async () => {
    const named = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.jsonValue(), { minKeys: 1, maxKeys: 5 })
    // A key of that name is an error of its own.
    const params = named.filter((value) => !JSON.stringify(value).includes('__proto__'))
    await fc.assert(
      fc.asyncProperty(params, async (value) => {
        const load = (given: unknown) =>
          loadExperiment({
            value: { name: 'e', data: { path: 'a' }, model: { name: 'm' }, algorithm: { kind: 'sft', params: given } },
          })
        const reversed = Object.fromEntries(Object.entries(value).reverse())
        expect((await load(reversed)).plan.config_hash).toBe((await load(value)).plan.config_hash)
      }),
    )
  })
})
