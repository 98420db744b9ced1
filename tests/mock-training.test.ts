// From a file of rows to a scored answer, on the mock backend, with nothing but built-in plugins: the parts fit together.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { learningRateAt, numSteps, sft } from '../src/algorithms/index.ts'
import { mockBackend, plainChat } from '../src/backends/index.ts'
import { type ChatMessagesRow, DataConfig } from '../src/contracts/index.ts'
import { parseRows, rowStream } from '../src/data/index.ts'
import { jsonlSource } from '../src/data/sources/file-sources.ts'
import { jsonlToChat } from '../src/data/transforms/chat-rows.ts'
import { dedupe } from '../src/data/transforms/dedupe.ts'
import { shuffle } from '../src/data/transforms/select-rows.ts'
import { exactMatch } from '../src/evaluate/index.ts'
import { collect } from './collect.ts'
import { pluginContext } from './plugin-context.ts'
import { temporaryFolders } from './temporary-folder.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal

async function rowsOf(dir: string, seed: number): Promise<ChatMessagesRow[]> {
  const source = jsonlSource.rows({
    ...pluginContext(jsonlSource),
    data: DataConfig.parse({ path: 'train.jsonl' }),
    resolve: (path) => join(dir, path),
  })
  const templates = { user_template: 'Query: {query}', assistant_template: '{tool}' }
  const steps = [
    { transform: dedupe, context: pluginContext(dedupe, { key: 'query' }) },
    { transform: shuffle, context: pluginContext(shuffle, {}, { seed }) },
    { transform: jsonlToChat, context: pluginContext(jsonlToChat, templates) },
  ]
  return collect(parseRows(rowStream(source, steps), 'chat_messages', { signal }))
}

async function trainOnce(seed: number) {
  const dir = folder()
  const raw = ['hi', 'hello', 'hi', 'good day', 'hey', 'howdy'].map((query) =>
    JSON.stringify({ query, tool: 'salute' }),
  )
  writeFileSync(join(dir, 'train.jsonl'), raw.join('\n'))
  const rows = await rowsOf(dir, seed)
  const context = pluginContext(
    sft,
    { learning_rate: 0.1, num_epochs: 60, batch_size: 2, lr_schedule: 'linear_decay' },
    { seed },
  )
  const { params } = context
  await using backend = await mockBackend.open({
    ...pluginContext(mockBackend),
    model: { name: 'mock' },
    loraRank: params.lora_rank,
    seed,
    runDir: dir,
  })
  const { service, modelId, tokenizer } = backend
  const renderer = await plainChat.open({ ...pluginContext(plainChat), tokenizer })
  const unused = () => {
    throw new Error('sft asks for none of this')
  }
  const total = numSteps(rows.length, params)
  const losses: number[] = []
  for (let step = 0; step < total; step++) {
    const batch = (size: number) =>
      Array.from({ length: size }, (_, i) => rows[(step * size + i) % rows.length] ?? unused())
    const stepContext = {
      ...context,
      step,
      batchIndex: step,
      numSteps: total,
      rows,
      batch,
      renderer,
      tokenizer,
      policy: unused,
      keepPolicy: unused,
      later: unused,
      reference: { baseModel: 'mock' },
      base: { baseModel: 'mock' },
      rollout: unused,
      service,
      others: { weights: unused, tokenizerOf: unused, client: unused },
      once: unused,
    }
    const built = await sft.buildBatch(stepContext)
    const plan = {
      schedule: params.lr_schedule,
      learningRate: params.learning_rate,
      numSteps: total,
      warmupSteps: params.lr_warmup_steps,
      minRatio: params.lr_min_ratio,
    }
    const adam = {
      learningRate: learningRateAt(step, plan),
      beta1: params.adam_beta1,
      beta2: params.adam_beta2,
      eps: params.adam_eps,
    }
    const pass = service.forwardBackward(modelId, built.data, built.loss)
    const update = service.optimStep(modelId, adam)
    const result = await pass
    await update
    losses.push(sft.stepMetrics?.({ ...stepContext, built, result }).train_mean_nll ?? Number.NaN)
  }
  await service.save(modelId, 'final', { kind: 'state' })
  const sampler = await service.save(modelId, 'final', { kind: 'sampler' })
  const prompt = renderer.prompt([{ role: 'user', content: 'Query: hi' }])
  const [sample] = await service.sample({
    model: sampler,
    prompt,
    numSamples: 1,
    maxTokens: 20,
    temperature: 0,
    stop: renderer.stop,
    seed,
  })
  const { message, complete } = renderer.parse(sample?.tokens ?? new Int32Array())
  return {
    rows,
    losses,
    answer: message.content,
    complete,
    state: readFileSync(join(dir, 'checkpoints/state/final.mock')),
  }
}

describe('a run made of built-in plugins', () => {
  it('learns to answer, and its answer is scored (PLG-10, PLG-14)', async () => {
    const { rows, losses, answer, complete } = await trainOnce(1)
    expect(rows).toHaveLength(5)
    expect(losses).toHaveLength(120)
    expect(losses[0]).toBeGreaterThan(5)
    // No letter of the answer occurs twice, so a bigram model can know all of it.
    expect(losses.at(-1)).toBeLessThan(0.01)
    expect({ answer, complete }).toEqual({ answer: 'salute', complete: true })
    const scored = { output: String(answer), expected: 'salute' }
    expect(await exactMatch.verify(scored, pluginContext(exactMatch))).toBe(1)
  })

  it('repeats byte for byte with its seed, and differs with another (PLG-13)', async () => {
    const [first, again, other] = [await trainOnce(1), await trainOnce(1), await trainOnce(2)]
    expect(again.losses).toEqual(first.losses)
    expect(again.state).toEqual(first.state)
    expect(other.state).not.toEqual(first.state)
  })
})
