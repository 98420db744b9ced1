import { describe, expect, it } from 'vitest'
import { loadExperiment } from './load-experiment.ts'
import { positionOf } from './located.ts'
import { pluginUses } from './plugin-uses.ts'

type Catalog = Parameters<typeof pluginUses>[2]
const unknown: Catalog = { card: () => undefined }

async function usesIn(text: string, catalog = unknown) {
  const { trees } = await loadExperiment({ file: 'e.yaml', text }, { cwd: '/project' })
  return pluginUses(trees.root, trees.runs.values(), catalog)
}

/** As `type kind line`. */
const lines = (uses: Awaited<ReturnType<typeof usesIn>>) =>
  uses.map(({ type, kind, at }) => `${type} ${kind} ${positionOf(at.source, at.start).line}`).sort()

const text = `name: e
callbacks:
  - { kind: c1 }
run:
  algorithm: { kind: a1 }
  backend: { kind: b1 }
  agent: { kind: g1 }
  environment: { kind: v1 }
  model: { name: m, renderer_name: r1 }
continual:
  mix: true
  datasets:
    - { source_kind: s1, transforms: [{ kind: t1 }] }
    - { dataset_name: stored, transforms: [{ kind: t2 }] }
metadata:
  benchmark:
    - name: val
      metrics: [m1, m2]
      num_samples: 4
      inference: { kind: i1 }
      verifier: { kind: f1 }
      agent: { kind: g2 }
      environment: { kind: v2 }
      data: { path: x }
`

describe('plugins that an experiment names', () => {
  it('are found in every place that names one, once (CFG-14)', async () => {
    expect(lines(await usesIn(text))).toEqual(
      [
        'agent g1 7',
        'agent g2 22',
        'algorithm a1 5',
        'backend b1 6',
        'callback c1 3',
        'data_source jsonl 24',
        'data_source s1 13',
        'environment v1 8',
        'environment v2 23',
        'inference_client i1 20',
        'metric m1 18',
        'metric m2 18',
        'renderer r1 9',
        'transform t1 13',
        'transform t2 14',
        'verifier f1 21',
      ].sort(),
    )
  })

  it('know how many samples their benchmark takes, if they are metrics (CFG-14)', async () => {
    const samples = async (yaml: string) => (await usesIn(yaml)).map(({ kind, numSamples }) => [kind, numSamples])
    expect(await samples(text)).toEqual(expect.arrayContaining([['m1', 4], ['m2', 4], ['f1', undefined]])) // biome-ignore format: pairs
    expect(await samples(text.replace('      num_samples: 4\n', ''))).toContainEqual(['m1', 1])
  })

  it('are found in params by the marks of their schemas, lists and mappings included (CFG-14)', async () => {
    const references = [
      { path: ['client'], type: 'inference_client', form: 'spec' },
      { path: ['renderer'], type: 'renderer', form: 'name' },
      { path: ['phases', '*'], type: 'algorithm', form: 'spec' },
    ] as const
    const marked = { card: (type: string) => (type === 'algorithm' ? { references } : undefined) } as unknown as Catalog
    const params = `{ client: { kind: i2 }, renderer: r2, other: { kind: zz }, phases: { one: { kind: a2, params: { client: { kind: i3 } } } } }`
    const found = lines(await usesIn(text.replace('{ kind: a1 }', `{ kind: a1, params: ${params} }`), marked))
    expect(found.filter((line) => line.endsWith(' 5'))).toEqual([
      'algorithm a1 5',
      'algorithm a2 5',
      'inference_client i2 5',
      'inference_client i3 5',
      'renderer r2 5',
    ])
  })

  it('of a data block that names a stored dataset are its transforms alone (CFG-14)', async () => {
    for (const key of ['dataset_id', 'dataset_name']) {
      const found = lines(await usesIn(text.replace('path: x', `${key}: x, transforms: [{ kind: t3 }]`)))
      expect(found.filter((line) => line.endsWith(' 24'))).toEqual(['transform t3 24'])
    }
  })
})
