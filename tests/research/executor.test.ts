import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { appendFileSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { lineTask } from '../../src/arena/adversary/line-task.ts'
import type { CandidateFiles, CurveSample, Executor, RunOutcome } from '../../src/contracts/index.ts'
import { type DryRunEstimate, openExecutor } from '../../src/research/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { floor, linux } from './task-folders.ts'

const folder = temporaryFolders()
const signal = AbortSignal.timeout(600_000)

const run = (executor: Executor, files: CandidateFiles, split: 'val' | 'test' = 'val', seed = 1): Promise<RunOutcome> =>
  executor.run({ files, seed, split, trainSeconds: 1 }, signal)
const node = (text: string): CandidateFiles => ({ 'train.mjs': text })
/** A candidate that does `train` in its first phase and answers by `answer`, an expression of `question`. */
const phases = (train: string, answer = 'question.map(() => 0)') =>
  node(`import * as api from './api.mjs'
import fs from 'node:fs'
if (api.phase === 'train') { ${train} } else await api.onAnswer((question) => ${answer})
`)

linux.describe('an executor', () => {
  for (const language of ['node', 'python'] as const)
    it(`trains a candidate in ${language} and scores its answers (RES-401, RES-403, RES-626)`, async () => {
      const workDir = folder()
      const task = lineTask(folder(), language)
      await using executor = await openExecutor(task, { workDir })
      const samples: CurveSample[] = []
      const watch = (sample: CurveSample) => {
        samples.push(sample)
        return 'continue' as const
      }
      expect(await executor.check(task.baseline, signal)).toEqual([])
      const request = { files: task.baseline, seed: 1, split: 'val', trainSeconds: 1, watch } as const
      const outcome = await executor.run(request, signal)
      expect(outcome).toMatchObject({
        status: 'scored',
        secondary: { rows: 100 },
        memoryBy: expect.stringMatching(/^(?:cgroup v[12]|rlimit and watch)$/),
      })
      if (outcome.status !== 'scored') return
      expect(outcome.value).toBeLessThan(0.1)
      expect(outcome.value).toBeGreaterThan(floor)
      expect(Object.keys(outcome.claimed ?? {})).toEqual(['mse'])
      expect(samples.length).toBeGreaterThan(1)
      expect(outcome.peakMemoryBytes).toBeGreaterThan(1e6)
      expect(outcome.peakMemoryBytes).toBeLessThan(4e9)
      await executor[Symbol.asyncDispose]()
      expect(readdirSync(workDir)).toEqual([])
    })

  it('ends a scorer that hangs within its time, once, says so on the way, and hears an interruption (USE-144)', async () => {
    const heard: unknown[] = []
    const hear = (text: unknown) => heard.push(text)
    subscribe('evsys.wait', hear)
    const scorer = join(folder(), 'scorer.mjs')
    const starts = join(folder(), 'starts')
    const hangs = `appendFileSync(${JSON.stringify(starts)}, 'x'); await new Promise((resolve) => setInterval(() => {}, 1000))`
    writeFileSync(scorer, `import { appendFileSync } from 'node:fs'\nexport default { async score() { ${hangs} } }\n`)
    const task = lineTask(folder(), 'node', { program: { scorer, scorerSeconds: 6 } })
    await using executor = await openExecutor(task, { workDir: folder() })
    const outcome = await run(executor, task.baseline)
    unsubscribe('evsys.wait', hear)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: 'infra', again: false } })
    if (outcome.status === 'failed')
      expect(outcome.failure.reason).toMatch(
        /^the scorer took more than 6 s and was ended \(.*scorer\.mjs\); .*scorer_seconds/,
      )
    expect(readFileSync(starts, 'utf8')).toBe('x')
    expect(heard).toEqual([expect.stringMatching(/^waiting for the scorer .*: \d+ s so far, at most 6 s$/)])
    const abort = new AbortController()
    const begun = new Promise<void>((resolve) => {
      const watcher = watch(starts, () => {
        watcher.close()
        resolve()
      })
    })
    const request = { files: task.baseline, seed: 1, split: 'val', trainSeconds: 1 } as const
    const stopped = executor.run(request, abort.signal)
    await begun
    abort.abort(new Error('enough'))
    await expect(stopped).rejects.toThrow('enough')
  })

  it('shows programs where they lie, also below the folders of candidates (RES-401)', async () => {
    const source = folder()
    writeFileSync(join(source, 'engine.txt'), 'an engine')
    const task = lineTask(folder(), 'node', { program: { mounts: [{ source, target: '/work/lab' }] } })
    await using executor = await openExecutor(task, { workDir: folder() })
    const seen = `if (fs.readFileSync('/work/lab/engine.txt', 'utf8') !== 'an engine') throw new Error('not there')
const w = [0]; api.saveCheckpoint(w)`
    expect(await run(executor, phases(seen))).toMatchObject({ status: 'scored' })
    expect(await executor.check(node('const = 1\n'), signal)).toMatchObject([{ class: 'syntax' }])
  })

  it('gives the same score for the same seed, and another for another seed or split (RES-401)', async () => {
    const task = lineTask(folder())
    await using executor = await openExecutor(task, { workDir: folder() })
    const files = node((task.baseline['train.mjs'] ?? '').replace('batchSize: 16', 'batchSize: 4, steps: 40'))
    const value = async (split: 'val' | 'test', seed: number) => {
      const outcome = await run(executor, files, split, seed)
      return outcome.status === 'scored' ? outcome.value : outcome
    }
    const first = await value('val', 1)
    expect(await value('val', 1)).toBe(first)
    expect(await value('val', 2)).not.toBe(first)
    expect(await value('test', 1)).not.toBe(first)
  })

  it('shows a candidate the GPU of its task, and says so with its score (RES-409)', async () => {
    const node0 = { source: '/dev/null', target: '/dev/nvidia0' }
    const accelerator = { name: 'A card', devices: [node0], mounts: [], env: { CUDA_VISIBLE_DEVICES: '0' } }
    const train = `fs.accessSync('/dev/nvidia0', 6); if (process.env.CUDA_VISIBLE_DEVICES !== '0') throw new Error('no choice')`
    for (const program of [{ accelerator }, {}]) {
      await using executor = await openExecutor(lineTask(folder(), 'node', { program }), { workDir: folder() })
      const outcome = await run(executor, phases(train))
      if (program.accelerator === undefined) expect(outcome).toMatchObject({ status: 'failed' })
      else expect(outcome).toMatchObject({ status: 'scored', accelerator: 'A card' })
    }
  })

  it('ends a run that its watcher gives up (RES-403)', async () => {
    const task = lineTask(folder())
    await using executor = await openExecutor(task, { workDir: folder() })
    const files = phases('api.evaluate(() => 0); await new Promise(() => setInterval(() => {}, 1000))')
    const watch = ({ value }: CurveSample) => (value > 0 ? ('kill' as const) : ('continue' as const))
    const outcome = await executor.run({ files, seed: 1, split: 'val', trainSeconds: 600, watch }, signal)
    expect(outcome).toMatchObject({ status: 'killed' })
  })

  it.each([
    ['crash', phases('missing()'), /ReferenceError: missing is not defined/],
    ['crash', phases('console.error("no such \\u001b[31mlayer"); process.exit(3)'), /exit code 3/],
    ['crash', phases('api.saveCheckpoint(1)', 'process.exit(0)'), /before every question/],
    ['oom', phases('const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1))'), /memory/],
    ['syntax', node('const = 3'), /SyntaxError|exit code/],
    ['timeout', phases('for (;;);'), /took more than 2 s/],
    ['timeout', phases('', 'new Promise(() => setInterval(() => {}, 1000))'), /more than 2 s/],
    ['divergence', phases('', 'question.map(() => NaN)'), /score is NaN/],
    ['divergence', phases('', 'question.map(() => 1e200)'), /score is Infinity/],
    ['validation', phases('', '"all zero"'), /asked for 50 numbers/],
    [
      'tamper',
      phases('', `(console.log('@evsys {"id":"0","answer":1}'), new Promise(() => setInterval(() => {}, 1000)))`),
      /does not wait/,
    ],
    ['validation', phases('fs.writeFileSync(process.env.EVSYS_OUT + "/big", Buffer.alloc(1 << 27))'), /wrote more/],
  ] as const)('tells a %s apart (RES-402)', async (failureClass, files, reason) => {
    const task = lineTask(folder(), 'node', {
      program: { memoryBytes: 256 << 20, ...(failureClass === 'timeout' ? { startSeconds: 1, answerSeconds: 2 } : {}) },
    })
    await using executor = await openExecutor(task, { workDir: folder() })
    const outcome = await run(executor, files)
    expect(outcome).toMatchObject({ status: 'failed', failure: { class: failureClass } })
    if (outcome.status !== 'failed') return
    expect(outcome.failure.reason).toMatch(reason)
    for (const line of outcome.failure.log?.split('\n') ?? []) expect(line).toMatch(/^> /)
    expect(outcome.failure.log ?? '').not.toContain('\u001b')
  })

  it('tries twice what is not the fault of a candidate, and never scores it (RES-402)', async () => {
    const task = lineTask(folder())
    const scorer = join(task.dir, 'scorer.mjs')
    const counter = join(folder(), 'count')
    writeFileSync(
      scorer,
      `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(counter)}, 'x')\nprocess.exit(9)\n`,
    )
    await using executor = await openExecutor(task, { workDir: folder() })
    const outcome = await run(executor, task.baseline)
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { class: 'infra', reason: expect.stringContaining('exit code 9') },
    })
    expect(readFileSync(counter, 'utf8')).toBe('xx')
  })

  it('compares no score of a task whose scorer or data has changed (RES-402)', async () => {
    const task = lineTask(folder())
    await using executor = await openExecutor(task, { workDir: folder() })
    appendFileSync(join(task.dir, 'train.mjs'), '\n// the baseline is a person\u2019s own\n')
    expect(await run(executor, task.baseline)).toMatchObject({ status: 'scored' })
    appendFileSync(join(task.dir, 'sealed/test/rows.json'), ' ')
    expect(await run(executor, task.baseline)).toMatchObject({
      status: 'failed',
      failure: { class: 'infra', reason: expect.stringContaining('sealed/test/rows.json') },
    })
  })

  it('rejects when it is cancelled, and leaves nothing behind (RES-401)', async () => {
    const workDir = folder()
    const task = lineTask(folder())
    await using executor = await openExecutor(task, { workDir })
    const controller = new AbortController()
    const files = phases('api.evaluate(() => 0); await new Promise(() => setInterval(() => {}, 1000))')
    const watch = () => {
      controller.abort(new Error('enough'))
      return 'continue' as const
    }
    const going = executor.run({ files, seed: 1, split: 'val', trainSeconds: 600, watch }, controller.signal)
    await expect(going).rejects.toThrow('enough')
    await executor[Symbol.asyncDispose]()
    expect(readdirSync(workDir)).toEqual([])
  })

  it('tries a candidate for a step or two, and tells what it took (RES-407, RES-410)', async () => {
    const estimates: DryRunEstimate[] = []
    const task = lineTask(folder(), 'node', { program: { memoryBytes: 256 << 20, startSeconds: 1 } })
    await using executor = await openExecutor(task, { workDir: folder(), onDryRun: (each) => estimates.push(each) })
    expect(await executor.check(task.baseline, signal)).toEqual([])
    expect(estimates).toMatchObject([{ memoryLimitBytes: 256 << 20 }])
    const [{ peakMemoryBytes = 1 << 20 } = {}] = estimates
    expect(peakMemoryBytes).toBeLessThan(256 << 20)
    expect(await executor.check(phases('missing()'), signal)).toMatchObject([{ class: 'crash' }])
    expect(await executor.check(phases('Buffer.alloc(1 << 29, 1)'), signal)).toMatchObject([{ class: 'oom' }])
    // The first questions are asked as well.
    const estimate = estimates[0]
    expect(estimate?.answeringBytes ?? 1).toBeLessThan(256 << 20)
    expect(Math.max(estimate?.trainingBytes ?? 0, estimate?.answeringBytes ?? 0)).toBe(estimate?.peakMemoryBytes ?? 0)
    expect(await executor.check(phases('', 'undefinedLayer(question)'), signal)).toMatchObject([{ class: 'crash' }])
    expect(await executor.check(phases('', '"all zero"'), signal)).toMatchObject([
      { class: 'validation', reason: expect.stringContaining('asked for 50 numbers') },
    ])
    expect(await executor.check(phases('', 'Buffer.alloc(1 << 29, 1).length'), signal)).toMatchObject([
      { class: 'oom' },
    ])
    expect(await executor.check(phases('', 'question.map(() => NaN)'), signal)).toEqual([])
    expect(estimates).toHaveLength(2)
    // One that cares for no budget is not judged before it runs.
    expect(await executor.check(phases('for (;;);'), signal)).toEqual([])
  })

  it('names every file, line and fix of what it turns down (RES-404)', async () => {
    const task = lineTask(folder(), 'node', { program: { requiredCalls: ['saveCheckpoint'] } })
    await using executor = await openExecutor(task, { workDir: folder() })
    const reasons = async (files: CandidateFiles) => (await executor.check(files, signal)).map(({ reason }) => reason)
    expect(
      await reasons({ 'train.mjs': 'const a = 1\nconst a = 2\n', 'lib/x.mjs': `import 'net'\n` }),
    ).toMatchInlineSnapshot(`
      [
        "the candidate never calls saveCheckpoint of the API; fix: import it from api.mjs and call it.",
        "lib/x.mjs:1: it imports net: no processes, network or generated code; fix: do without it.",
        "train.mjs:2: Identifier 'a' has already been declared; fix: correct the syntax.",
      ]
    `)
    expect(
      await reasons({
        '../scorer.mjs': '',
        'api.mjs': '',
        'lib/frozen/x.mjs': '',
        'notes.txt': '',
        'lib/a.mjs': 'x'.repeat(1_000_001),
      }),
    ).toMatchInlineSnapshot(`
      [
        "../scorer.mjs: this is no path inside the candidate; fix: name files by relative paths, such as lib/net.mjs.",
        "api.mjs: the API module is fixed; fix: leave it out of the candidate, and import from it.",
        "lib/a.mjs: the file has 1000001 bytes; fix: keep code below 1000000 bytes, and learned values out of it.",
        "lib/frozen/x.mjs: no candidate may change this file; fix: leave it out; in scope are train.mjs, lib/**/*.mjs.",
        "notes.txt: the file is not in scope; fix: in scope are train.mjs, lib/**/*.mjs.",
      ]
    `)
    expect(await run(executor, { '../scorer.mjs': '' })).toMatchObject({
      status: 'failed',
      failure: { class: 'validation' },
    })
    expect(readdirSync(task.dir)).toContain('scorer.mjs')
  })

  it('has an answer for syntax in TypeScript (RES-404)', async () => {
    const task = { ...lineTask(folder()), scope: ['train.mjs', 'lib/*.ts', 'lib/*.mts'] }
    await using executor = await openExecutor(task, { workDir: folder() })
    const files = {
      ...task.baseline,
      'lib/good.ts': 'export const half = <T extends number>(x: T): number => x / 2\nenum Size { Small }\n',
      'lib/bad.mts': 'const a: number = 1\nconst b: = 2\n',
      'lib/deep.ts': '('.repeat(50_000),
    }
    const found = (await executor.check(files, signal)).map(
      ({ class: kind, reason }) => `${kind} ${reason.split(':').slice(0, 2).join(':')}`,
    )
    expect(found).toEqual(['syntax lib/bad.mts:2', 'syntax lib/deep.ts:1'])
  })

  it('has an answer for syntax in Python (RES-404)', async () => {
    const task = lineTask(folder(), 'python')
    await using executor = await openExecutor(task, { workDir: folder() })
    expect(await executor.check({ 'train.py': 'x = 1\nif x\n  pass\n' }, signal)).toMatchObject([
      { class: 'syntax', reason: expect.stringMatching(/^train\.py:2: /) },
    ])
  })
})

it('looks up a configuration in a table (RES-408)', async () => {
  const dir = folder()
  const [header, values] = [join(dir, 'table.json'), join(dir, 'table.f32.gz')]
  const axes = [
    { name: 'depth', values: [1, 2] },
    { name: 'act', values: ['relu', 'tanh', 'none'] },
  ]
  writeFileSync(header, JSON.stringify({ name: 't', direction: 'minimize', seeds: 2, axes }))
  const numbers = Float32Array.from({ length: 12 }, (_, i) => (i === 5 ? Number.NaN : i))
  writeFileSync(values, gzipSync(Buffer.from(numbers.buffer)))
  const { program: _, ...task } = lineTask(folder())
  await using executor = await openExecutor({ ...task, table: { header, values } })
  const config = (value: unknown) => ({ 'config.json': JSON.stringify(value) })
  expect(await run(executor, config({ depth: 2, act: 'tanh' }), 'val', 7)).toMatchObject({
    status: 'scored',
    value: 9,
    level: 'in-process',
  })
  expect(await run(executor, config({ depth: 1, act: 'none' }), 'val', 1)).toMatchObject({
    status: 'failed',
    failure: { class: 'divergence' },
  })
  expect(await executor.check(config({ depth: 1, act: 'relu' }), signal)).toEqual([])
  const reasons = (await executor.check(config({ depht: 1, act: 'gelu' }), signal)).map(({ reason }) => reason)
  expect(reasons).toMatchInlineSnapshot(`
    [
      "config.json: there is no axis "depht"; fix: did you mean depth?",
      "config.json: depth is undefined; fix: choose one of 1, 2",
      "config.json: act is "gelu"; fix: choose one of relu, tanh, none",
    ]
  `)
  expect(await executor.check({ 'config.json': '[' }, signal)).toMatchObject([{ class: 'syntax' }])
})
