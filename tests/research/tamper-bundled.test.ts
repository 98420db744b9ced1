// Attacks on the bundled tasks: models that seem to be certain, budgets of images, answers by place, tables.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Executor, ResearchTask, RunOutcome } from '../../src/contracts/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { bundledTasks, loadResearchTask, openExecutor } from '../../src/research/index.ts'
import { createLanguageModel, loadLanguageModel } from '../../src/research/tasks/engine/language-model-engine-module.ts'
import { needs } from '../needs.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { chant, copyTask, squares } from './task-folders.ts'

const folder = temporaryFolders()
const signal = AbortSignal.timeout(1_500_000)
const linux = needs('a Linux sandbox (bwrap or unshare)', () => {
  execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'true'])
  return true
})
/** Minutes: in the full lane alone. */
const whole = (name: string, tests: () => void) => (inFullLane ? linux.describe(name, tests) : undefined)
const shape = { layers: 1, hidden_size: 16, intermediate_size: 8, heads: 1, context: 128 }

/** The weights of a fresh model, all of some tensors replaced. */
async function forged(fills: Readonly<Record<string, number>>, head: object = shape): Promise<Buffer> {
  await using model = await createLanguageModel(shape, { seed: 1 })
  const bytes = Buffer.from(await model.save())
  const checkpoint = decodeCheckpoint(bytes.subarray(bytes.indexOf(10) + 1))
  for (const [name, value] of Object.entries(fills)) checkpoint.weights.get(name)?.data.fill(value)
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), encodeCheckpoint(checkpoint)])
}

const embedding = 'model.embed_tokens.weight'
const windows = Array.from({ length: 3 }, (_, i) => Buffer.from('what is certain? '.repeat(9)).subarray(i, i + 128))

async function bitsPerByte(bytes: Buffer): Promise<number> {
  await using model = await loadLanguageModel(bytes)
  const { nats, count } = await model.measure(windows, { from: 64 })
  return nats / Math.LN2 / count
}

describe('a model that seems to be certain', () => {
  it('has the bits per byte of a distribution, however large its logits are (RES-411)', async () => {
    for (const scale of inFullLane ? [1, 1e7, 1e9, 1e30] : [1e9])
      expect(await bitsPerByte(await forged({ [embedding]: 1, 'model.norm.weight': scale }))).toBeCloseTo(8, 5)
    expect(await bitsPerByte(await forged({ [embedding]: Number.NaN }))).toBeNaN()
  })

  it('is refused where its shape is larger than its weights (RES-411)', async () => {
    const huge = { ...shape, layers: 32, hidden_size: 4096, intermediate_size: 4096 }
    await expect(forged({}, huge).then(bitsPerByte)).rejects.toThrow('bytes of weights')
  })
})

describe('questions', () => {
  it('come in another order every time, and are scored by their own labels (RES-411)', async () => {
    const { imageScorer } = await import(pathToFileURL(join(bundledTasks, 'shared', 'image-scorer.mjs')).href)
    const dataDir = folder()
    const labels = Uint8Array.from({ length: 700 }, (_, i) => i % 10)
    writeFileSync(join(dataDir, 'labels.bin'), labels)
    writeFileSync(join(dataDir, 'images.bin'), labels) // an image of one byte that tells its label
    const orders: string[] = []
    const score = async (answer: (image: number) => number) => {
      let seen = ''
      const ask = async ({ images, count }: { images: string; count: number }) => {
        seen += images
        expect(Buffer.from(images, 'base64')).toHaveLength(count)
        return [...Buffer.from(images, 'base64')].map(answer)
      }
      const { value } = await imageScorer({ imageBytes: 1, worst: 'worst' }).score({ dataDir, ask })
      orders.push(seen)
      return value
    }
    expect(await score((image) => image)).toBe(0)
    expect(await score((image) => (image + 1) % 10)).toBe(1)
    let place = 0
    expect(await score(() => place++ % 10)).toBeGreaterThan(0.8) // prepared for the order of the files
    expect(new Set(orders).size).toBe(3)
  })
})

const run = (executor: Executor, task: ResearchTask, text: string): Promise<RunOutcome> =>
  executor.run({ files: { 'train.mjs': text }, seed: 0, split: 'val', trainSeconds: task.trainSeconds }, signal)

whole('an attack on moby', () => {
  const leaves = (bytes: Buffer) => `import { saveCheckpoint } from './api.mjs'
saveCheckpoint(Buffer.from('${bytes.toString('base64')}', 'base64'), 'model.evsys')`

  it('ends in a true score, or by a class of its own (RES-411)', { timeout: 300_000 }, async () => {
    const projectDir = folder()
    copyTask('moby', projectDir, chant)
    const task = await loadResearchTask('moby', { projectDir, signal })
    await using executor = await openExecutor(task)
    const certain = await run(executor, task, leaves(await forged({ [embedding]: 1, 'model.norm.weight': 1e9 })))
    expect(certain.status === 'scored' && certain.value).toBeCloseTo(8, 4)
    const ends = async (text: string) => {
      const outcome = await run(executor, task, text)
      return outcome.status === 'failed' ? outcome.failure.class : outcome
    }
    expect(await ends(leaves(await forged({ [embedding]: Number.NaN })))).toBe('divergence')
    expect(await ends(leaves(Buffer.from('no model\n')))).toBe('validation')
    expect(await ends(leaves(Buffer.from(`${JSON.stringify({ ...shape, hidden_size: 4096, layers: 32 })}\n`)))).toBe(
      'validation',
    )
    expect(await ends(leaves(await forged({}, { ...shape, context: 8 })))).not.toBe('infra') // windows are longer
    expect(await ends(leaves(await forged({}, { ...shape, heads: 3, kv_heads: 2 })))).toBe('validation')
    const answers = (logit: string) => `import { onAnswer } from './api.mjs'
await onAnswer(({ contexts }) => Buffer.from(Float32Array.from({ length: contexts.length * 256 }, (_, i) => ${logit}).buffer).toString('base64'))`
    expect(await ends(answers('Infinity'))).toBe('divergence')
    expect(await ends(answers('-Infinity'))).toBe('divergence')
    expect(await ends(answers('i % 2 ? 3e38 : -3e38'))).toMatchObject({ status: 'scored' })
    expect(await ends(`import { onAnswer } from './api.mjs'\nawait onAnswer(() => '')`)).toBe('validation')
  })
})

whole('an attack on digits', () => {
  it('gets no more images than others, no labels, and nothing for prepared answers (RES-411)', {
    timeout: 300_000,
  }, async () => {
    const projectDir = folder()
    copyTask('digits', projectDir, squares)
    const task = await loadResearchTask('digits', { projectDir, signal })
    await using executor = await openExecutor(task)
    const honest = task.baseline['train.mjs'] ?? ''
    const truth = await run(executor, task, honest)
    const again = honest.replace(
      'of getTrainLoader({ batchSize: BATCH_SIZE }))',
      'of (function* () { for (let i = 0; i < 5; i++) yield* getTrainLoader({ batchSize: BATCH_SIZE }) })())',
    )
    expect(again).not.toBe(honest)
    expect(await run(executor, task, again)).toMatchObject({
      status: 'scored',
      value: truth.status === 'scored' ? truth.value : 0,
    })
    const endless = `import { phase } from './api.mjs'\nif (phase === 'train') for (;;);`
    const late = { files: { 'train.mjs': endless }, seed: 0, split: 'val', trainSeconds: 1 } as const
    expect(await executor.run(late, signal)).toMatchObject({
      failure: { class: 'timeout', reason: 'training went on for 6 s; it has 1' },
    })
    const prepared = await run(
      executor,
      task,
      `import { getTrainLoader, onAnswer, phase } from './api.mjs'
if (phase === 'train') for (const _ of getTrainLoader({ batchSize: 8000 }));
let place = 0
await onAnswer(({ count }) => Array.from({ length: count }, () => place++ % 10))`,
    )
    expect(prepared.status === 'scored' && prepared.value).toBeGreaterThan(0.7)
    const told = await run(
      executor,
      task,
      `import { onAnswer } from './api.mjs'
await onAnswer(({ images }) => { console.error(images); for (let i = 0; i < 40; i++) console.error('Error: ' + images.slice(200 * i)); throw new Error(images) })`,
    )
    expect(told).toMatchObject({ status: 'failed', failure: { class: 'crash' } })
    expect(JSON.stringify(told).length).toBeLessThan(1500)
  })
})

describe('an attack on a table', () => {
  it('is told what there is, and looks nothing up (RES-408)', async () => {
    const task = await loadResearchTask('table-search', { projectDir: folder(), signal, env: {} })
    await using executor = await openExecutor(task)
    const base = JSON.parse(task.baseline['config.json'] ?? '')
    const texts = [
      ...[
        '',
        'null',
        '[]',
        '"best"',
        '{"__proto__": {"learning_rate": 0.003}}',
        '{"constructor": 1}',
        '['.repeat(100_000),
      ],
      ...[
        { ...base, learning_rate: '0.003' },
        { ...base, width: 1e9 },
        { ...base, value: 0 },
        { ...base, seed: 3 },
      ].map((each) => JSON.stringify(each)),
    ]
    for (const text of texts) {
      const files = { 'config.json': text }
      expect(await executor.check(files, signal)).not.toEqual([])
      expect(await executor.run({ files, seed: -7, split: 'val', trainSeconds: 0 }, signal)).toMatchObject({
        status: 'failed',
      })
    }
    const files = { 'config.json': task.baseline['config.json'] ?? '', 'table.f32.gz': '' }
    expect(await executor.run({ files, seed: 0, split: 'val', trainSeconds: 0 }, signal)).toMatchObject({
      status: 'failed',
    })
  })
})
