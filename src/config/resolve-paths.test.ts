import { describe, expect, it } from 'vitest'
import { faultsIn, planOf } from '../../tests/load-text.ts'

const file = (path: string, more = '') => `name: e
run:
  data: { path: ${path} }
  model: { name: m }
  algorithm: { kind: sft }
${more}`

describe('the hash of a run', () => {
  const hash = async (path: string, cwd: string) => (await planOf(file(path), { cwd })).runs[0]?.config_hash

  it('moves along with a relative path, also out of the project (CFG-16, CFG-17)', async () => {
    expect(await hash('../far/x.jsonl', '/one/p')).toBe(await hash('../far/x.jsonl', '/two/p'))
    expect(await hash('./x.jsonl', '/one/p')).toBe(await hash('./x.jsonl', '/two/p'))
    expect(await hash('..', '/one/p')).toBe(await hash('..', '/two/p'))
  })

  it('takes an absolute path in the project for the relative one, and one outside for that very place (CFG-17)', async () => {
    expect(await hash('/one/p/x.jsonl', '/one/p')).toBe(await hash('x.jsonl', '/one/p'))
    expect(await hash('/far/x.jsonl', '/one/p')).toBe(await hash('/far/x.jsonl', '/two/q/r'))
    expect(await hash('/one/far/x.jsonl', '/one/p')).not.toBe(await hash('../far/x.jsonl', '/one/p'))
    expect(await hash('/one/..far/x.jsonl', '/one')).toBe(await hash('./..far/x.jsonl', '/one'))
  })
})

it('paths of a data store stay as they are written, wherever data stands (CFG-16)', async () => {
  const text = `name: e
data_store: { kind: acme }
run: { model: { name: m }, algorithm: { kind: sft } }
continual: { datasets: [{ path: bucket/a, hf_dataset: ./hf }] }
metadata: { benchmark: [{ name: val, path: v, data: { path: bucket/v } }] }
`
  const stored = await planOf(text)
  expect(stored.runs[0]?.config.data).toMatchObject({ path: 'bucket/a', hf_dataset: '/project/hf' })
  expect(stored.experiment.metadata.benchmark[0]).toMatchObject({ path: '/project/v', data: { path: 'bucket/v' } })
  const read = await planOf(text.replace('data_store: { kind: acme }\n', ''))
  expect(read.runs[0]?.config.data.path).toBe('/project/bucket/a')
  expect(read.experiment.metadata.benchmark[0]?.data?.path).toBe('/project/bucket/v')
})

it('paths of stages and of agents in benchmarks are made absolute (CFG-16)', async () => {
  const agent =
    'agent: { kind: a, params: { user: "./u.ts#u", tools: ["./t.ts#t", web], mcp_servers: [{ cwd: ./s }] } }'
  const { runs, experiment } = await planOf(`name: e
run: { data: { path: a }, model: { name: ./m, init_from_checkpoint: ./w } }
stages:
  - { algorithm: { kind: rl, params: { agent_import_path: "./agent.ts#A" } }, data: { path: rl.jsonl } }
metadata: { benchmark: [{ name: val, path: v, ${agent} }] }
`)
  expect(runs[0]?.config).toMatchObject({
    data: { path: '/project/rl.jsonl' },
    model: { name: '/project/m', init_from_checkpoint: '/project/w' },
    algorithm: { params: { agent_import_path: '/project/agent.ts#A' } },
  })
  expect(experiment.metadata.benchmark[0]?.agent?.params).toEqual({
    user: '/project/u.ts#u',
    tools: ['/project/t.ts#t', 'web'],
    mcp_servers: [{ cwd: '/project/s' }],
  })
})

it('files of plugins are distinguished from packages, and addresses from paths (CFG-16)', async () => {
  const { experiment } = await planOf(file('"s3://bucket/x"', 'plugins: [lib/a.ts, acme, "@acme/b.ts", ./c, d.mjs]\n'))
  expect(experiment.plugins).toEqual(['/project/lib/a.ts', 'acme', '@acme/b.ts', '/project/c', '/project/d.mjs'])
  expect(experiment.runs[0]?.data.path).toBe('s3://bucket/x')
})

it('a path with a NUL character is refused where it was written (CFG-16, ERR-1)', async () => {
  expect(await faultsIn(file('"a\\0b"'))).toEqual([
    '3:17 CONFIG_PATH run.data.path: a path cannot hold a NUL character',
  ])
})
