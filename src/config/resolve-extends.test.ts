import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { faultLine, minimal } from '../../tests/load-text.ts'
import { EvsysError } from '../kernel/index.ts'
import { mergeNodes } from './edit-tree.ts'
import { loadExperiment } from './load-experiment.ts'
import { locateValue } from './locate-value.ts'
import { type LocatedNode, toJs } from './located.ts'
import { Report } from './report.ts'

let cwd: string
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'evsys-extends-'))
})
afterEach(async () => {
  await rm(cwd, { recursive: true, force: true })
})

async function files(texts: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [name, text] of Object.entries(texts)) {
    await mkdir(dirname(join(cwd, name)), { recursive: true })
    await writeFile(join(cwd, name), text)
  }
}

const load = (file: string) => loadExperiment({ file }, { cwd })

async function faults(file: string): Promise<string[]> {
  const error = await load(file).then(
    () => undefined,
    (cause) => cause,
  )
  return EvsysError.is(error) ? error.problems.map(faultLine) : []
}

const body =
  'run: { data: { path: a.jsonl }, model: { name: m }, algorithm: { kind: sft, params: { max_steps: 5, lora_rank: 8 } }, tags: [a, b] }\n'

describe('extends', () => {
  it('merges mappings, replaces lists and plain values, and lets null remove (CFG-3)', async () => {
    await files({
      'base.yaml': `name: base\nn_repeats: 3\ndescription: old\n${body}`,
      'e.yaml':
        'extends: base.yaml\nname: child\ndescription: null\nrun: { algorithm: { params: { lora_rank: null, alpha: 1 } }, tags: [c] }\n',
    })
    const { plan } = await load('e.yaml')
    expect(plan.experiment).toMatchObject({ name: 'child', n_repeats: 3, description: '' })
    expect(plan.experiment.runs[0]).toMatchObject({
      algorithm: { kind: 'sft', params: { max_steps: 5, alpha: 1 } },
      tags: ['c'],
    })
    expect(plan.experiment.runs[0]?.algorithm.params).not.toHaveProperty('lora_rank')
  })

  it('goes through chains and lists, later files over earlier ones (CFG-3)', async () => {
    await files({
      'root.yaml': `name: root\ndescription: root\nn_repeats: 2\n${body}`,
      'mid/a.yaml': 'extends: ../root.yaml\ndescription: a\nmax_concurrent_arms: 1\n',
      'mid/b.yaml': 'description: b\n',
      'e.yaml': 'extends: [mid/a.yaml, ./mid/b.yaml]\nname: e\n',
    })
    const { plan, sources } = await load('e.yaml')
    expect(plan.experiment).toMatchObject({ name: 'e', description: 'b', n_repeats: 2, max_concurrent_arms: 1 })
    expect(sources.map(({ name }) => name)).toEqual(['e.yaml', 'mid/a.yaml', 'root.yaml', 'mid/b.yaml'])
  })

  it('reads a file that is reached twice once (CFG-3)', async () => {
    await files({
      'd.yaml': `name: d\n${body}`,
      'b.yaml': 'extends: d.yaml\n',
      'c.yaml': 'extends: d.yaml\n',
      'e.yaml': 'extends: [b.yaml, c.yaml]\n',
    })
    expect((await load('e.yaml')).sources.map(({ name }) => name)).toEqual(['e.yaml', 'b.yaml', 'd.yaml', 'c.yaml'])
  })

  it('names the chain of a circle, at the line that closes it (CFG-3)', async () => {
    await files({
      'a.yaml': 'name: a\nextends: b.yaml\n',
      'b.yaml': 'extends: c.yaml\n',
      'c.yaml': '\nextends:\n  - b.yaml\n',
      'self.yaml': 'extends: ./self.yaml\n',
    })
    expect(await faults('a.yaml')).toEqual([
      'c.yaml:3:5 CONFIG_EXTENDS extends.0: the files extend each other in a circle: b.yaml -> c.yaml -> b.yaml',
    ])
    expect(await faults('self.yaml')).toEqual([
      'self.yaml:1:10 CONFIG_EXTENDS extends: the files extend each other in a circle: self.yaml -> self.yaml',
    ])
  })

  it('ends on a circle of folders (CFG-3)', async () => {
    await files({ 'e.yaml': 'extends: loop/e.yaml\n' })
    await symlink('.', join(cwd, 'loop'))
    expect(await faults('e.yaml')).toEqual([expect.stringMatching(/CONFIG_EXTENDS extends: cannot read/)])
  })

  it('locates a file that cannot be read at the name of it (CFG-3)', async () => {
    await files({ 'e.yaml': 'name: e\nextends: [base.yaml, ., missing/x.yaml]\n', 'base.yaml': '' })
    expect(await faults('e.yaml')).toEqual([
      '2:22 CONFIG_EXTENDS extends.1: cannot read .: it is a folder',
      '2:25 CONFIG_EXTENDS extends.2: cannot read missing/x.yaml: no such file or folder',
    ])
  })

  it.each([
    ['a number', 'extends: 3', '1:10 CONFIG_EXTENDS extends: expected the name of a file'],
    ['an empty text', "extends: ''", '1:10 CONFIG_EXTENDS extends: expected the name of a file'],
    ['an empty list', 'extends: []', '1:10 CONFIG_EXTENDS extends: the list is empty'],
    ['a mapping in a list', 'extends: [{}]', '1:11 CONFIG_EXTENDS extends.0: expected the name of a file'],
  ])('refuses %s (CFG-3)', async (_what, line, fault) => {
    await files({ 'e.yaml': `${line}\n${minimal}` })
    expect(await faults('e.yaml')).toEqual([fault])
  })

  it('tells what is wrong in the file where it is wrong, also when it is not YAML or no text (ERR-2)', async () => {
    await files({
      'syntax.yaml': 'a: [1\n',
      'list.yaml': '- a\n',
      'bytes.yaml': Buffer.from([0x61, 0x3a, 0x20, 0xc3, 0x28]),
      'e.yaml': 'extends: [syntax.yaml, list.yaml, bytes.yaml]\n',
    })
    expect(await faults('e.yaml')).toEqual([
      'syntax.yaml:1:4 CONFIG_SYNTAX this bracket is never closed',
      'list.yaml:1:1 CONFIG_INVALID the file holds no mapping',
      'bytes.yaml:1:4 CONFIG_READ this line is not UTF-8 text',
    ])
  })

  it('points into the extended file at a value from there (ERR-2)', async () => {
    await files({
      'lib/base.yaml': `n_repeats: 0\n${body}`,
      'e.yaml': 'extends: lib/base.yaml\nname: e\nrun: { seed: x }\n',
    })
    expect(await faults('e.yaml')).toEqual([
      '3:14 CONFIG_INVALID run.seed: expected a whole number, got "x"',
      'lib/base.yaml:1:12 CONFIG_INVALID n_repeats: must be at least 1, got 0',
    ])
  })

  it('lets a file override a shorthand of the file that it extends, in either form (CFG-3)', async () => {
    await files({
      'base.yaml':
        'name: b\ndata: { path: a }\nmodel: { name: m }\nalgorithm: { kind: sft }\nmetadata: { success_metric: v.pass_rate, benchmark: { path: v } }\n',
      'e.yaml':
        'extends: base.yaml\nrun: { model: { name: other } }\nmetadata: { objective: { metric: v.mean_reward } }\n',
    })
    const { plan } = await load('e.yaml')
    expect(plan.runs[0]?.config.model.name).toBe('other')
    expect(plan.objective?.metric).toBe('mean_reward')
  })

  it('says how to drop a form that is inherited (CFG-1)', async () => {
    await files({
      'base.yaml': `name: b\n${body}`,
      'e.yaml': 'extends: base.yaml\nmatrix: { axes: { seed: [1] } }\n',
      'ok.yaml': 'extends: base.yaml\nrun: null\nmodel: { name: m }\ndata: { path: a }\nalgorithm: { kind: sft }\n',
    })
    expect(await faults('e.yaml')).toContainEqual(
      '2:1 CONFIG_CONFLICT matrix: `matrix` stands beside `run` (base.yaml:2)',
    )
    await expect(load('ok.yaml')).resolves.toBeDefined()
  })

  it('keeps paths relative to the file that wrote them (CFG-16)', async () => {
    await files({
      'lib/base.yaml':
        'run: { data: { path: data/a.jsonl }, model: { name: ./weights }, algorithm: { kind: sft } }\nmetadata: { benchmark: { path: ../val } }\nplugins: [./p.ts]\n',
      'exp/e.yaml': 'extends: ../lib/base.yaml\nname: e\noutput_dir: out\n',
    })
    const { plan } = await load('exp/e.yaml')
    expect(plan.runs[0]?.config.data.path).toBe(join(cwd, 'lib/data/a.jsonl'))
    expect(plan.runs[0]?.config.model.name).toBe(join(cwd, 'lib/weights'))
    expect(plan.experiment.metadata.benchmark[0]?.path).toBe(join(cwd, 'val'))
    expect(plan.experiment.plugins).toEqual([join(cwd, 'lib/p.ts')])
    expect(plan.experiment.output_dir).toBe(join(cwd, 'exp/out'))
  })
})

describe('mergeNodes', () => {
  const leaf = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 }))
  // A key always holds a mapping, or never: a plain value between two mappings would cut what is below it.
  const tree = fc.letrec<{ map: Record<string, unknown> }>((tie) => ({
    map: fc.record(
      { a: leaf, b: leaf, m: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.constant({}), tie('map')) },
      { requiredKeys: [] },
    ),
  })).map
  const located = (value: unknown): LocatedNode => {
    const node = locateValue(value, { name: 'v', dir: '/', rank: 0 }, new Report())
    if (node === undefined) throw new Error('not a value')
    return node
  }
  const merged = (base: unknown, over: unknown) => toJs(mergeNodes(located(base), located(over)))

  it('is associative (CFG-3)', () => {
    fc.assert(
      fc.property(tree, tree, tree, (a, b, c) => {
        expect(merged(merged(a, b), c)).toEqual(merged(a, merged(b, c)))
      }),
    )
  })

  it('is idempotent and has the empty mapping as its neutral element (CFG-3)', () => {
    fc.assert(
      fc.property(tree, (a) => {
        expect(merged(a, a)).toEqual(a)
        expect(merged(a, {})).toEqual(a)
        expect(merged({}, a)).toEqual(a)
      }),
    )
  })

  it('shares what it does not change (CFG-3)', () => {
    const base = located({ big: { a: 1 }, small: 1 })
    const result = mergeNodes(base, located({ small: 2 }))
    expect(base.type === 'map' && result.type === 'map' && result.entries.get('big') === base.entries.get('big')).toBe(
      true,
    )
  })
})
