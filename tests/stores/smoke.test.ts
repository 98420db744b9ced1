import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { findPostgres, startPostgres } from './postgres-server.ts'

const pg = findPostgres()
const server = 'bin' in pg ? startPostgres(pg.bin) : undefined
afterAll(() => server?.stop())
const RunC = (name: string, seed: number) => ({
  name,
  arm: 'a',
  seed,
  config: {
    name,
    data: { source_kind: 'jsonl', path: 'x', hf_split: 'train', transforms: [] },
    model: { name: 'mock' },
    algorithm: { kind: 'sft', params: {} },
    backend: { kind: 'mock', params: {} },
    seed,
    tags: [],
  },
  config_hash: 'h',
})
for (const [label, address] of [
  ['sqlite', () => join(mkdtempSync(join(tmpdir(), 's-')), 'x.db')],
  ['pg', () => server!.createDatabase()],
] as const) {
  it(label, async () => {
    await using store = await openStore(address())
    const runs = [RunC('r1', 1), RunC('r2', 2)]
    const plan: any = {
      experiment: {
        version: 1,
        name: 'e',
        description: '',
        log_rollouts: false,
        callbacks: [],
        plugins: [],
        n_repeats: 1,
        metadata: { tags: [], benchmark: [], hypothesis: 'Focal loss helps' },
        runs: runs.map((r) => r.config),
      },
      config_hash: 'c',
      arms: [{ name: 'a', params: {}, seeds: [1, 2] }],
      runs,
      notices: [],
    }
    await store.createExperiment({
      experimentId: 'exp_1',
      at: new Date().toISOString(),
      plan,
      runIds: ['run_1', 'run_2'],
      provenance: {},
    })
    await store.createExperiment({
      experimentId: 'exp_1',
      at: new Date().toISOString(),
      plan,
      runIds: ['run_1', 'run_2'],
      provenance: {},
    })
    const at = new Date().toISOString()
    const items: any[] = [
      { seq: 1, at, run_id: 'run_1', type: 'run.started', config_hash: 'h', attempt: 1, num_steps: 2 },
      { seq: 2, at, run_id: 'run_1', type: 'step.finished', step: 0, metrics: { loss: 2, lr: 1 } },
      { type: 'points', run_id: 'run_1', key: ['x', 'x'], step: [0, 1], value: [1, 2], at_ms: [1, 2] },
    ]
    expect(await store.push({ stream: 'run:run_1', fromSeq: 1, items })).toEqual({ stream: 'run:run_1', nextSeq: 4 })
    expect(await store.push({ stream: 'run:run_1', fromSeq: 2, items: items.slice(1) })).toEqual({
      stream: 'run:run_1',
      nextSeq: 4,
    })
    await expect(store.push({ stream: 'run:run_1', fromSeq: 9, items })).rejects.toThrow(/missing/)
    expect(await store.events({ stream: 'run:run_1', afterSeq: 0, limit: 10 })).toEqual(
      items.slice(0, 2).map((i) => (i.seq === 2 ? { ...i, metrics: { loss: 2, lr: 1 } } : i)),
    )
    expect(await store.curve({ runId: 'run_1', key: 'x', maxPoints: 10 })).toEqual([
      { step: 0, min: 1, max: 1, mean: 1 },
      { step: 1, min: 2, max: 2, mean: 2 },
    ])
    expect((await store.experiments({ text: 'focal', limit: 3 })).map((e) => e.id)).toEqual(['exp_1'])
    expect(await store.experiments({ text: 'nothing" OR', limit: 3 })).toEqual([])
    const l = await store.leases.acquire('x', 'me', 1000)
    expect(await store.leases.acquire('x', 'you', 1000)).toBeUndefined()
    expect(await store.leases.renew(l!, 1000)).toBe(true)
    await store.leases.release(l!)
    expect((await store.leases.acquire('x', 'you', 1000))?.epoch).toBe(2)
    expect(await store.leases.renew(l!, 1000)).toBe(false)
    expect(await store.canonicalRecord('exp_1')).toMatchObject({ name: 'e' })
    await store.collect({ before: at })
    console.log(await store.usage())
    const t = performance.now()
    const n = 100_000
    for (let b = 0; b < n; b += 1000)
      await store.points({
        type: 'points',
        run_id: 'run_1',
        key: Array(1000).fill('y'),
        step: Array.from({ length: 1000 }, (_, i) => b + i),
        value: Array.from({ length: 1000 }, (_, i) => i),
        at_ms: Array(1000).fill(1),
      })
    await store.flush()
    console.log(label, (n / (performance.now() - t)) * 1000, 'points/s')
  })
}
