import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs } from '../../../tests/needs.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { Benchmark, type Prediction } from '../../contracts/index.ts'
import { openNamedDatasets } from '../../data/index.ts'
import { openCatalog } from '../../kernel/index.ts'
import { type OpenScorer, openScorer, type ScorerOptions } from './open-scorer.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
// A process takes seconds to start from the sources on a busy machine.
const slow = { timeout: 240_000 }
const shutIn = needs('a sandbox (bwrap) and python3', () => {
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  execFileSync('/bin/sh', ['-c', 'command -v python3 && bwrap --ro-bind / / --unshare-all true'], { env })
  return true
})

const verifier = `import { defineVerifier, z } from 'evsys/plugin'
export default defineVerifier({
  kind: 'obeying',
  summary: 'Does what the answer says.',
  needs: { secrets: ['JUDGE_KEY'] },
  async verify({ output, expected }, { secret }) {
    if (output === 'hang') for (;;);
    if (output === 'exit') process.exit(3)
    if (output === 'throw later') setTimeout(() => { throw new Error('boom') }, 0), await new Promise(() => {})
    if (output === 'recipe?') return 'recipeRan' in globalThis ? 0 : 1
    if (output === 'secret') throw new Error('the key is ' + secret('JUDGE_KEY'))
    return output === expected ? 1 : 0
  },
})
`
const recipe = `import { defineTransform } from 'evsys/plugin'
globalThis.recipeRan = true
export default defineTransform({ kind: 'recipe', summary: 'Part of a recipe.', async *run(rows) { yield* rows } })
`

function project(ids: readonly string[] = ['a', 'b', 'c', 'd']): string {
  const dir = folder()
  mkdirSync(join(dir, 'src', 'plugins'), { recursive: true })
  mkdirSync(join(dir, 'val'))
  writeFileSync(join(dir, 'src', 'plugins', 'obeying.ts'), verifier)
  writeFileSync(join(dir, 'src', 'plugins', 'recipe.ts'), recipe)
  const tasks = ids.map((task_id) => ({
    task_id,
    instruction: `say ${task_id}`,
    verifier: { kind: 'in_process', fn_name: 'obeying', expected: `${task_id}!` },
  }))
  writeFileSync(join(dir, 'val', 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
  return dir
}

function open(dir: string, changes: Partial<ScorerOptions> = {}) {
  const benchmark = Benchmark.parse({ name: 'val', path: join(dir, 'val'), metrics: ['pass@1'] })
  return openScorer({ benchmark, projectDir: dir, plugins: [], signal, ...changes })
}

const say = (...outputs: string[]): Prediction[] =>
  outputs.map((output, i) => ({ task_id: 'abcd'.charAt(i), sample: 0, output }))

describe('a scorer', slow, () => {
  it('makes tasks of a stored dataset that the data of a benchmark names, by version (EVL-10)', async () => {
    const dir = project()
    const datasets = openNamedDatasets(dir)
    const file = join(dir, 'answers.jsonl')
    for (const expected of ['old', 'new']) {
      writeFileSync(file, `${JSON.stringify({ task_id: 'q', instruction: 'say it', expected })}\n`)
      await datasets.add('answers', file, { signal })
    }
    const made = (dataset_name: string) =>
      open(dir, {
        benchmark: Benchmark.parse({
          name: 'val',
          data: { dataset_name },
          verifier: { kind: 'exact_match' },
          metrics: ['pass@1'],
        }),
      })
    for (const [name, score] of [
      ['answers@1', 0],
      ['answers', 1],
    ] as const) {
      await using scorer = await made(name)
      expect(scorer.sealedTasks()).toEqual([{ task_id: 'q', instruction: 'say it' }])
      const { metrics } = await scorer.score([{ task_id: 'q', sample: 0, output: 'new' }])
      expect(metrics['pass@1']).toBe(score)
    }
    await expect(made('nothing')).rejects.toMatchObject({ code: 'DATA_READ' })
  })

  shutIn.it('runs the code of answers in a sandbox (BOX-10)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'val'))
    const judged = { kind: 'in_process', fn_name: 'code', expected: ['assert f(1) == 2', 'assert f(2) == 3'] }
    const rows = ['a', 'b', 'c'].map((task_id) => ({ task_id, instruction: 'add one', verifier: judged }))
    const broken = { ...judged, params: { command: ['no-such-tool'] } }
    rows.push({ task_id: 'd', instruction: 'add one', verifier: broken })
    writeFileSync(join(dir, 'val', 'tasks.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await using scorer = await open(dir)
    const right = 'def f(x): return x + 1'
    const { rewards } = await scorer.score(say(right, 'def f(x): return 2', 'import os; os._exit(0)', right))
    expect(rewards).toEqual({ a: [1], b: [0], c: [0], d: [null] })
  })

  it('neither runs nor believes compiled code, files or packages that recipe code has written over (KER-7, LAB-12)', async () => {
    const dir = project()
    const judge = `import { right } from 'right'\n${verifier.replace('output === expected', 'right(output, expected)')}`
    const right = 'exports.right = (output, expected) => output === expected'
    mkdirSync(join(dir, 'node_modules', 'right'), { recursive: true })
    writeFileSync(join(dir, 'node_modules/right/package.json'), '{"name":"right","version":"1.0.0","main":"index.js"}')
    writeFileSync(join(dir, 'node_modules/right/index.js'), right)
    writeFileSync(join(dir, 'src/plugins/obeying.ts'), judge)
    await using catalog = await openCatalog({ builtins: [], projectDir: dir, plugins: [], signal })
    const hashes = new Set<string>()
    const scores = async () => {
      await using scorer = await open(dir, { catalog })
      hashes.add(scorer.hash)
      return (await scorer.score(say('a!', 'wrong', '', ''))).rewards
    }
    const honest = { a: [1], b: [0], c: [0], d: [0] }
    expect(await scores()).toEqual(honest)
    const cache = join(dir, '.evsys/cache/jiti')
    const poisoned = readdirSync(cache).map((name) => join(cache, name))
    expect(poisoned.length).toBeGreaterThan(1)
    for (const file of poisoned) {
      const text = readFileSync(file, 'utf8')
      writeFileSync(file, text.replaceAll('? 1 : 0', '? 1 : 1').replaceAll('return output', 'return 1; return output'))
    }
    expect(await scores()).toEqual(honest)
    expect(hashes.size).toBe(1)
    writeFileSync(join(dir, 'node_modules/right/index.js'), 'exports.right = () => true')
    await expect(scores()).rejects.toMatchObject({ code: 'PLUGIN_CHANGED' })
    writeFileSync(join(dir, 'node_modules/right/index.js'), right)
    writeFileSync(join(dir, 'src/plugins/obeying.ts'), judge.replace('? 1 : 0', '? 1 : 1'))
    await expect(scores()).rejects.toMatchObject({ code: 'PLUGIN_CHANGED' })
  })

  it('has the same hash in every process, and another one when a verifier is changed (LAB-13)', async () => {
    const dir = project()
    const hashes: string[] = []
    for (const text of [verifier, verifier, `${verifier}// changed`]) {
      writeFileSync(join(dir, 'src', 'plugins', 'obeying.ts'), text)
      await using scorer = await open(dir)
      hashes.push(scorer.hash)
    }
    expect(hashes[0]).toBe(hashes[1])
    expect(hashes[2]).not.toBe(hashes[0])
  })

  it.each([
    ['tasks that are none', (dir: string) => writeFileSync(join(dir, 'val', 'tasks.jsonl'), '{}\n'), 'DATA_INVALID'],
    [
      'a verifier that cannot be loaded',
      (dir: string) => writeFileSync(join(dir, 'src', 'plugins', 'obeying.ts'), 'export default 1 +'),
      'PLUGIN_LOAD',
    ],
  ])('is not opened over %s (LAB-12)', async (_name, spoil, code) => {
    const dir = project()
    spoil(dir)
    await expect(open(dir)).rejects.toMatchObject({ code })
  })
})

describe('a scorer in use', slow, () => {
  let scorer: OpenScorer
  beforeAll(async () => {
    scorer = await open(project(), { secrets: { JUDGE_KEY: 'correct horse battery' } })
  }, slow.timeout)
  afterAll(() => scorer[Symbol.asyncDispose]())

  it('tells what is asked and never what is expected, and scores (LAB-12)', async () => {
    const tasks = scorer.sealedTasks()
    expect(tasks).toEqual(['a', 'b', 'c', 'd'].map((task_id) => ({ task_id, instruction: `say ${task_id}` })))
    expect(JSON.stringify(tasks)).not.toContain('!')
    const scored = await scorer.score(say('a!', 'b!', 'c', 'd'))
    expect(scored).toMatchObject({ metrics: { 'pass@1': 0.5 }, rewards: { a: [1], c: [0] }, scorer_hash: scorer.hash })
  })

  it('runs no code of the recipe that lies beside its verifiers (LAB-12)', async () => {
    const scored = await scorer.score(say('recipe?', 'b!', 'c!', 'd!'))
    expect(scored.rewards).toMatchObject({ a: [1] })
  })

  it('hands verifiers the secrets they declare, and lets none of them out (LAB-2)', async () => {
    const scored = await scorer.score(say('secret', 'b!', 'c!', 'd!'))
    expect(scored).toMatchObject({
      rewards: { a: [null] },
      failures: [{ message: expect.stringContaining('[secret:JUDGE_KEY]') }],
    })
    expect(JSON.stringify(scored)).not.toContain('correct horse')
  })

  it('answers several runs at once, each with its own score (LAB-12)', async () => {
    const answers = [say('a!'), say('a!', 'b!'), say('a!', 'b!', 'c!'), say('a!', 'b!', 'c!', 'd!')]
    const scored = await Promise.all(answers.map((predictions) => scorer.score(predictions)))
    expect(scored.map(({ metrics }) => metrics['pass@1'])).toEqual([0.25, 0.5, 0.75, 1])
  })

  it('refuses predictions that do not fit, and goes on (LAB-14)', async () => {
    await expect(scorer.score([{ task_id: 'z', sample: 0, output: '' }])).rejects.toMatchObject({
      code: 'DATA_INVALID',
    })
    expect(await scorer.score(say('a!', 'b!', 'c!', 'd!'))).toMatchObject({ metrics: { 'pass@1': 1 } })
  })
})

describe('a scorer that dies', slow, () => {
  it('at one answer is started again; that answer has no reward, the others have theirs (LAB-15)', async () => {
    await using scorer = await open(project(), { verifierMs: 1_500 })
    for (const act of ['hang', 'exit', 'throw later']) {
      const scored = await scorer.score(say('a!', act, 'c!', 'd'))
      expect(scored, act).toMatchObject({
        rewards: { a: [1], b: [null], c: [1], d: [0] },
        metrics: { 'pass@1': 0.5 },
        bounds: { 'pass@1': [0.5, 0.75] },
        n_infra_failed: 1,
        failures: [{ message: expect.stringContaining('the scorer of benchmark "val"'), count: 1 }],
      })
    }
    await expect(scorer.score(say('exit', 'exit', 'exit', 'exit'))).rejects.toMatchObject({
      code: 'WORKER_DIED', // again and again is the typed error of the evaluation
      message: expect.stringContaining('the scorer of benchmark "val" ended with exit code 3'),
      fix: expect.any(String),
    })
    expect(await scorer.score(say('a!', 'b!', 'c!', 'd!'))).toMatchObject({ metrics: { 'pass@1': 1 } })
  })

  it('finds its benchmark changed: results before and after would not compare (LAB-13)', async () => {
    const dir = project()
    await using scorer = await open(dir)
    writeFileSync(
      join(dir, 'val', 'tasks.jsonl'),
      '{"task_id":"a","instruction":"","verifier":{"kind":"in_process","fn_name":"exact_match","expected":"a"}}\n',
    )
    await expect(scorer.score(say('exit'))).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringContaining('has changed'),
    })
  })

  it('because it is cancelled or closed rejects with the reason (LAB-15)', async () => {
    const scorer = await open(project())
    const abort = new AbortController()
    const cancelled = scorer.score(say('throw later'), abort.signal)
    const waiting = scorer.score(say('a!', 'b!', 'c!', 'd!'))
    abort.abort(new Error('enough'))
    await expect(cancelled).rejects.toThrow('enough')
    expect(await waiting).toMatchObject({ metrics: { 'pass@1': 1 } })
    await scorer[Symbol.asyncDispose]()
    await expect(scorer.score(say('a!'))).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })
})
