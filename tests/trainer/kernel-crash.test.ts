import { describe, expect } from 'vitest'
import { mockVocabSize } from '../../src/backends/models/mock-models.ts'
import { findCompiler } from '../../src/engine/cpu/native-build.ts'
import { openEngineHost } from '../../src/trainer/index.ts'
import { compiledUrl } from '../compiled-url.ts'
import { builtKernels } from '../engine/kernels/kernel-runtimes.ts'
import { needs } from '../needs.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { writeTinyModel } from '../tiny-model.ts'
import { abortRate, trapRate } from './crashing-engine.ts'
import { datum, forwardBackward, optimStep, type RunningTrainer, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()
const data = [datum([1, 2, 3, 4]), datum([9, 8, 7])]
const found = await findCompiler()

/** A trainer with an adapter and a whole model, each a step old. */
async function started(kind: 'native' | 'wasm') {
  const model = writeTinyModel(folder(), 'qwen3', { vocab_size: mockVocabSize })
  const url = compiledUrl(new URL('./crashing-engine.ts', import.meta.url)).href
  const engine = await openEngineHost({ url, options: { kind, model, cacheFolder: builtKernels }, home: 'process' })
  const trainer = await start({ engine })
  const session = await trainer.session()
  const models = [await trainer.model(session), await trainer.model(session, { seq: 1, rank: 0 })] as const
  for (const each of models) await train(trainer, each, 1)
  return { trainer, session, models }
}

async function train(trainer: RunningTrainer, model: string, seq: number): Promise<unknown> {
  await trainer.run('forward_backward', forwardBackward(model, seq, data))
  return trainer.run('optim_step', optimStep(model, seq + 1))
}

/** Asks both models at once: one for what fails, the other for a pass. */
async function failOne(
  trainer: RunningTrainer,
  [first, second]: readonly [string, string],
  rate: number,
  seq: { first: number; second: number },
) {
  const promises = [
    await trainer.post('optim_step', optimStep(first, seq.first, { learning_rate: rate })),
    await trainer.post('forward_backward', forwardBackward(second, seq.second, data)),
  ]
  return Promise.all(promises.map((promise) => trainer.result(promise)))
}

describe.each(['native', 'wasm'] as const)('the CPU engine (%s) in a trainer', { timeout: 240_000 }, (kind) => {
  const able = needs('a C compiler', () => kind === 'wasm' || found !== undefined || 'none was found')

  able.it('fails one request when a kernel is lost on any thread; all models go on (TRN-19)', async () => {
    const { trainer, models } = await started(kind)
    const { trainer: plain, models: same } = await started(kind)
    for (const [round, seq] of [3, 5].entries()) {
      const [lost, passed] = await failOne(trainer, models, trapRate, { first: seq + round, second: seq })
      expect(lost).toEqual({
        error: expect.stringContaining("the engine's kernels failed"),
        category: 'server',
      })
      expect(passed).toEqual(await plain.run('forward_backward', forwardBackward(same[1], seq, data)))
      await trainer.run('forward_backward', forwardBackward(models[0], seq + round + 1, data))
      await plain.run('forward_backward', forwardBackward(same[0], seq, data))
      for (const [i, model] of models.entries()) {
        const stepped = await trainer.run('optim_step', optimStep(model, seq + (i === 0 ? round + 2 : 1)))
        expect(stepped).toEqual(await plain.run('optim_step', optimStep(same[i] ?? '', seq + 1)))
      }
    }
  })

  able.it('that is gone fails what was asked; checkpoints go on in a new one, bit for bit (TRN-19)', async () => {
    const { trainer, session, models } = await started(kind)
    const saved = []
    for (const model of models) {
      const { path } = await trainer.run('save_weights', { model_id: model, seq_id: 3, path: 'a' })
      saved.push({ path, next: await train(trainer, model, 4) })
    }
    const ended = expect.stringMatching(
      /the engine has ended: .*SIGABRT.*models in training are lost: make the model again from its last checkpoint/s,
    )
    // The second request waits for the engine, or comes when it is gone already: it is told the same.
    const aborted = await trainer.post('optim_step', optimStep(models[0], 6, { learning_rate: abortRate }))
    const beside = await trainer.send('forward_backward', forwardBackward(models[1], 6, data))
    expect(await trainer.result(aborted)).toEqual({ error: ended, category: 'server' })
    if (beside.status === 200) {
      expect(await trainer.result(beside.body)).toEqual({ error: ended, category: 'server' })
    } else expect(beside).toMatchObject({ status: 410, body: { detail: ended } })
    for (const model of models) {
      const { status, body } = await trainer.send('forward_backward', forwardBackward(model, 7, data))
      expect({ status, body }).toEqual({ status: 410, body: { detail: expect.stringContaining('last checkpoint') } })
    }
    for (const [i, { path, next }] of saved.entries()) {
      await trainer.run('load_weights', { session_id: session, model_seq_id: 2 + i, path, optimizer: true })
      expect(await train(trainer, `${session}:train:${2 + i}`, 1)).toEqual(next)
    }
  })
})
