import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { findProcessLevel } from '../../src/sandbox/index.ts'
import { openStore } from '../../src/store/index.ts'
import { runMain } from '../cli/run-main.ts'
import { defaultReply, startFakeProvider } from '../fake-provider.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
vi.setConfig({ testTimeout: 900_000 })
const slow = { timeout: 900_000 }
const { level, reason = '' } = await findProcessLevel()
const sandbox = needs('a sandbox for run workers', () => (level === 'process' ? reason : true))

/** Most training rows are old, and wrong: who leaves them out learns what validation and test ask for. */
function project(research: object): string {
  const dir = folder()
  for (const each of ['.evsys', 'data/val', 'data/test', 'plugins']) mkdirSync(join(dir, each), { recursive: true })
  const rows = Array.from({ length: 30 }, (_, i) => {
    return {
      query: `please help with order ${i}`,
      desk: i % 10 === 0 ? 'refund' : 'mail',
      state: i % 10 === 0 ? 'new' : 'old',
    }
  })
  write(dir, 'data/train.jsonl', rows)
  for (const part of ['val', 'test']) {
    const tasks = Array.from({ length: 40 }, (_, i) => ({
      task_id: `${part}-${i}`,
      instruction: `a ${part} customer writes about parcel number ${i}`,
      verifier: { kind: 'in_process', fn_name: 'exact_match', expected: i % 10 < 8 ? 'refund' : 'mail' },
    }))
    write(dir, `data/${part}/tasks.jsonl`, tasks)
  }
  const benchmark = ['val', 'test'].map((name) => {
    return { name, path: `data/${name}`, split: name, metrics: ['pass@1'], temperature: 0, max_tokens: 12 }
  })
  const file = join(dir, 'experiment.yaml')
  writeFileSync(
    file,
    stringify({
      name: 'desks',
      metadata: { objective: { metric: 'val.pass@1' }, benchmark },
      data: {
        path: 'data/train.jsonl',
        transforms: [{ kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }],
      },
      model: { name: 'mock' },
      algorithm: { kind: 'sft', params: { max_steps: 8, learning_rate: 0.1 } },
      backend: { kind: 'mock' },
      research: {
        derive: false,
        space: { 'algorithm.params.max_steps': [8, 9] },
        scope: ['plugins/*.ts'],
        ...research,
      },
    }),
  )
  return file
}

function write(dir: string, path: string, rows: readonly object[]): void {
  writeFileSync(join(dir, path), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}

async function run(file: string, ...more: string[]) {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-of-a-test' }
  const { code, stdout, stderr } = await runMain(['--json', 'research', 'run', file, ...more], {
    cwd: dirname(file),
    env,
  })
  const document = JSON.parse(stdout)
  return { code, stderr, document, attempts: document.attempts ?? [] }
}

const keeper = `import { defineTransform, z } from 'evsys/plugin'
export default [defineTransform({
  kind: 'newest',
  summary: 'Keeps the rows that are still true.',
  params: z.strictObject({}),
  async *run(rows) { for await (const row of rows) if (row.state === 'new') yield row },
})]
`
const reader = `import { readFileSync } from 'node:fs'
import { extendAlgorithm, sft } from 'evsys/plugin'
export default [extendAlgorithm(sft, {
  kind: 'well_read',
  summary: 'Knows what is asked.',
  params: sft.params,
  async buildBatch(context) {
    const asked = readFileSync('data/val/tasks.jsonl', 'utf8')
    return { ...(await sft.buildBatch(context)), metrics: { known: asked.length } }
  },
})]
`
const constant = `import { extendAlgorithm, sft } from 'evsys/plugin'
export default [extendAlgorithm(sft, {
  kind: 'sure',
  summary: 'Is sure of itself.',
  params: sft.params,
  async buildBatch(context) {
    const batch = await sft.buildBatch(context)
    const custom = (data, logprobs) => ({
      loss: 0,
      gradients: logprobs.map(({ data: values, shape }) => ({ data: new Float64Array(values.length), shape })),
      metrics: { 'val.pass@1': 1, 'pass@1': 1 },
    })
    return { ...batch, loss: { custom } }
  },
})]
`
const memory = Array.from({ length: 8 }, (_, i) => `A val customer writes about parcel number ${i}: refund.`).join(' ')

const idea = (title: string, change: object) => ({
  title,
  hypothesis: 'It should help.',
  family: title,
  category: 'regularization',
  expected_effect: 0.3,
  cost: 'same',
  change,
})
const edits = (...all: object[]) => ({ kind: 'edits', edits: all })
const plugin = (path: string, text: string, role = 'algorithm') => ({ edit: 'write_plugin', role, path, text })

const ideas = [
  idea(
    'newest rows',
    edits(plugin('plugins/newest.ts', keeper, 'transform'), { edit: 'add_transform', at: 0, kind: 'newest' }),
  ),
  idea('remembers', edits({ edit: 'set_template', role: 'user', text: `${memory} {query}` })),
  idea('reads', edits(plugin('plugins/reads.ts', reader), { edit: 'set_algorithm', kind: 'well_read' })),
  idea('constant', edits(plugin('plugins/constant.ts', constant), { edit: 'set_algorithm', kind: 'sure' })),
]

/** A session as it was recorded: words of a model, and the same idea again where it may be repaired. */
function cassette(): string {
  const file = join(folder(), 'tape.jsonl')
  const usage = { promptTokens: 9000, completionTokens: 700, latencyS: 1, costUsd: 0.0375 }
  const reply = (each: object) => `Here is my idea.\n\`\`\`json\n${JSON.stringify({ ideas: [each] })}\n\`\`\``
  const lines = ideas.flatMap((each, i) => [
    { key: '*', reply: reply(each), usage },
    // The answer to a repair is found by the number of experiments so far.
    { key: '*', purpose: 'repair', reply: reply(ideas[Math.max(0, i - 1)] ?? each), usage },
  ])
  const last = { key: '*', purpose: 'repair', reply: reply(ideas[3] ?? {}), usage }
  writeFileSync(file, [...lines, last].map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

sandbox.describe('a recorded session in which a model writes code', () => {
  let file = ''
  let played: Awaited<ReturnType<typeof run>>

  beforeAll(async () => {
    const proposer = { kind: 'replay', params: { file: cassette() } }
    file = project({ proposer, budget: { experiments: 4 } })
    played = await run(file)
  }, slow.timeout)

  it('keeps and confirms the transform that helps, and none of the cheats (RES-566)', () => {
    const told = played.attempts.map(({ title, verdict, failure, reason }: Record<string, unknown>) => {
      return { title, verdict, failure, reason }
    })
    expect(played.code, played.stderr).toBe(0)
    expect(told.slice(1), JSON.stringify(told)).toMatchObject([
      { title: 'newest rows', verdict: 'confirmed' },
      {
        title: 'remembers',
        verdict: 'failed',
        failure: { class: 'tamper', reason: expect.stringContaining('8 questions of the benchmark "val"') },
      },
      { title: 'reads', verdict: 'failed', failure: { reason: expect.stringContaining('in a trial of two steps') } },
      { title: 'constant', verdict: 'discarded' },
    ])
    expect(played.document.spend.runs).toBeGreaterThan(0)
  })

  it('has the diff, the level of the sandbox and the reason of each in the record (RES-567)', async () => {
    await using store = await openStore(join(dirname(file), '.evsys', 'evsys.db'))
    const [experiment] = await store.experiments({ limit: 1 })
    const rows = await store.runs(experiment?.id ?? '')
    const row = rows.find(({ arm }) => arm === 'a1')
    expect(row?.diff).toContain('+++ b/plugins/newest.ts')
    expect(row?.diff).toContain("+  summary: 'Keeps the rows that are still true.',")
    expect(row?.diff).toMatch(/^\+.*kind: newest/m)
    expect(experiment?.provenance).toMatchObject({ sandbox: level, scope: ['plugins/*.ts'] })
    expect(rows.some(({ arm }) => arm === 'a2' || arm === 'a3')).toBe(false) // refused before they cost a training
  })

  it('ends in a folder with the plugin file, which reproduces the score in another project (RES-568)', async () => {
    const { folder: place } = played.document.winner
    const own = join(dirname(file), place)
    expect(readdirSync(own)).toEqual(expect.arrayContaining(['config.yaml', 'plugins']))
    expect(readFileSync(join(own, 'plugins/newest.ts'), 'utf8')).toBe(keeper)
    const elsewhere = folder()
    mkdirSync(join(elsewhere, '.evsys'))
    for (const part of ['data', place]) cpSync(join(dirname(file), part), join(elsewhere, part), { recursive: true })
    const again = await runMain(['run', join(place, 'config.yaml'), '--json'], { cwd: elsewhere })
    const expected = JSON.parse(readFileSync(join(own, 'expected.json'), 'utf8'))
    expect(JSON.parse(again.stdout).arms).toMatchObject([
      { status: 'completed', score: { mean: expected['val.pass@1'] } },
    ])
    expect(expected['val.pass@1']).toBe(0.8)
  })
})

/** A model that answers with these words, one after the other, and with the last of them from then on. */
async function model(words: readonly string[]) {
  const left = [...words]
  return await startFakeProvider((heard) => {
    const text = left.length > 1 ? left.shift() : left[0]
    return { ...Object(defaultReply(heard)), content: [{ type: 'text', text: text ?? '' }] }
  })
}

const saying = (...all: object[]) => JSON.stringify({ ideas: all })

sandbox.describe('a model that answers badly', () => {
  it('costs its turn, typed and counted, and the session goes on (RES-569)', async () => {
    const broken = idea(
      'broken',
      edits(plugin('plugins/broken.ts', 'export default [ {'), { edit: 'set_algorithm', kind: 'nothing' }),
    )
    const outside = idea('outside', edits(plugin('src/plugins/mine.ts', keeper, 'transform')))
    const patch = '--- a/data/val/tasks.jsonl\n+++ b/data/val/tasks.jsonl\n@@ -1 +1 @@\n-{}\n+{"task_id": "easy"}\n'
    const judged = idea('judged', { kind: 'patch', patch })
    const strange = idea('strange', edits({ edit: 'set_budget', value: 9 }))
    const three = (each: object) => [saying(each), saying(each), saying(each)]
    const provider = await model([
      ...['I would rather not.', saying(strange)], // asked, and asked again
      ...[...three(broken), ...three(outside), ...three(judged)],
      saying(idea('longer', { kind: 'knobs', knobs: { 'algorithm.params.max_steps': 9 } })),
    ])
    const params = { base_url: provider.url, max_attempts: 1 }
    const file = project({ proposer: { kind: 'anthropic', params }, budget: { experiments: 4 } })
    const { code, document, attempts, stderr } = await run(file)
    expect(code, stderr).toBe(0)
    expect(attempts.slice(1)).toMatchObject([
      {
        title: 'broken',
        verdict: 'failed',
        failure: { class: 'syntax', reason: expect.stringContaining('broken.ts') },
      },
      {
        title: 'outside',
        verdict: 'failed',
        failure: { class: 'tamper', reason: expect.stringContaining('may not be written') },
      },
      {
        title: 'judged',
        verdict: 'failed',
        failure: { class: 'validation', reason: expect.stringContaining('data/val/tasks.jsonl') },
      },
      { title: 'longer' },
    ])
    expect(stderr).toContain('two answers could not be used')
    expect(document.spend.calls).toBeGreaterThanOrEqual(10)
  })
})

sandbox.describe('what a model is shown of an experiment', () => {
  it('is asked by hybrid where there is a key, and sees rows, wrong answers and kinds, and nothing of the test (RES-570)', async () => {
    const provider = await model([
      saying(idea('longer', { kind: 'knobs', knobs: { 'algorithm.params.max_steps': 9 } })),
    ])
    const llm = { kind: 'anthropic', params: { base_url: provider.url } }
    const file = project({ budget: { experiments: 1 } })
    const params = JSON.stringify({ warm_up: 0, share: 1, llm })
    const { code, stderr, document } = await run(file, '--proposer-params', params)
    expect(code, stderr).toBe(0)
    expect(document.proposer ?? 'hybrid').toBe('hybrid')
    const asked = JSON.stringify(provider.heard[0]?.body)
    expect(asked).toContain('please help with order')
    expect(asked).toContain('a val customer writes about parcel number')
    expect(asked).toContain('transform dedupe')
    expect(asked).toContain('defineTransform')
    expect(asked).not.toContain('test customer')
  })
})

/** What a coding agent does in its folder: it reads the brief, writes a plugin and names it in the file. */
const agent = `import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
const brief = readFileSync('BRIEF.md', 'utf8')
const lacking = ['Training rows', 'please help with order', 'defineTransform', 'plugins/*.ts'].filter((each) => !brief.includes(each))
if (lacking.length > 0 || brief.includes('test customer')) throw new Error('the brief: ' + lacking.join())
if (existsSync(process.argv[2])) throw new Error('it sees the benchmark')
mkdirSync('plugins', { recursive: true })
writeFileSync('plugins/newest.ts', ${JSON.stringify(keeper)})
const text = readFileSync('config.yaml', 'utf8')
writeFileSync('config.yaml', text.replace(/transforms:\\n( +)- /, 'transforms:\\n$1- kind: newest\\n$1- ') + 'plugins: [./plugins/newest.ts]\\n')
writeFileSync('IDEA.json', JSON.stringify({ title: 'newest rows', family: 'rows', hypothesis: 'Old rows are wrong.' }))
`

sandbox.describe('a coding agent over an experiment file', () => {
  it('finds the brief, and what it edits and writes is a candidate with code (RES-573)', async () => {
    const script = join(folder(), 'agent.mjs')
    writeFileSync(script, agent)
    const file = project({ budget: { experiments: 1, runs: 8 } })
    const proposer = {
      kind: 'cli-agent',
      params: { command: [process.execPath, script, join(dirname(file), 'data/val/tasks.jsonl')] },
    }
    const whole = parse(readFileSync(file, 'utf8'))
    writeFileSync(file, stringify({ ...whole, research: { ...whole.research, proposer } }))
    const { code, stderr, attempts } = await run(file)
    expect(code, stderr).toBe(0)
    expect(attempts[1], JSON.stringify(attempts[1])).toMatchObject({ title: 'newest rows', verdict: 'provisional' })
  })
})

const further = `import { extendAlgorithm, sft } from 'evsys/plugin'
export default [extendAlgorithm(sft, { kind: 'further', summary: 'The same again.', params: sft.params })]
`

sandbox.describe('a file with stages', () => {
  it('has its stages trained one after the other, with a declared one put in, and its winner reproduces (RES-571)', async () => {
    const timid = { kind: 'sft', params: { max_steps: 2, learning_rate: 0.00001 } }
    const bold = { kind: 'further', params: { max_steps: 8, learning_rate: 0.1 } }
    const research = { derive: false, stages: [{ algorithm: bold }], space: {}, scope: [], budget: { experiments: 1 } }
    const file = project({})
    const { algorithm: _, ...plain } = parse(readFileSync(file, 'utf8'))
    // What is learnt is what most rows say, which most tasks are not about: turned round, it is.
    const data = {
      ...plain.data,
      transforms: [{ kind: 'filter', params: { field: 'state', equals: 'new' } }, ...plain.data.transforms],
    }
    mkdirSync(join(dirname(file), 'src/plugins'), { recursive: true })
    writeFileSync(join(dirname(file), 'src/plugins/further.ts'), further)
    writeFileSync(file, stringify({ ...plain, data, stages: [{ algorithm: timid }], research }))
    const { code, stderr, document, attempts } = await run(file, '--proposer', 'optimizer')
    expect(code, stderr).toBe(0)
    expect(attempts[1], JSON.stringify(attempts[1])).toMatchObject({
      verdict: 'confirmed',
      title: 'stages.further false -> true',
    })
    const again = await runMain(['run', join(document.winner.folder, 'config.yaml'), '--json'], { cwd: dirname(file) })
    const expected = JSON.parse(readFileSync(join(dirname(file), document.winner.folder, 'expected.json'), 'utf8'))
    const { arms } = JSON.parse(again.stdout)
    expect(arms.at(-1)).toMatchObject({ status: 'completed', score: { mean: expected['val.pass@1'] } })
    expect(expected['val.pass@1']).toBe(0.8)
  })
})

sandbox.describe('a scope that cannot be', () => {
  it.each([
    ['leads out of the folder', '../plugins/*.ts', 'leads out of the folder'],
    ['takes in every file', '*', 'every file'],
    ['is loaded by every experiment', 'src/plugins/*.ts', 'loaded by every experiment'],
    ['holds a benchmark', 'data/val/*', 'part of what judges'],
    ['names no code', 'notes.txt', 'plugin files end in'],
  ])('is refused where it %s (RES-564)', async (_, pattern, message) => {
    const { code, document } = await run(project({ scope: [pattern] }))
    expect([code, document.errors]).toMatchObject([2, [{ message: expect.stringContaining(message) }]])
  })
})
