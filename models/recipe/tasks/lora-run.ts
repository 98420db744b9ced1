// One training by LoRA of rank 8 through a trainer on this machine, and the exact match of what is said after it.
import type { Datum } from '../../../src/contracts/index.ts'
import { keyedRandom } from '../../../src/kernel/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../../../src/models/index.ts'
import type { Sampler, TinkerClient } from '../../../src/tinker/index.ts'
import type { Item } from './item.ts'

export interface LoraRun {
  readonly client: TinkerClient
  /** Name or folder of the base model. */
  readonly model: string
  readonly train: readonly Item[]
  readonly seed: number
  readonly steps: number
  /** Stays over the first half of the steps and falls to nothing over the second. */
  readonly rate: number
}

export interface TrainedTask {
  /** The share of items that are answered exactly, greedily. */
  score(items: readonly Item[]): Promise<number>
  readonly seconds: number
  readonly tokens: number
}

const batchSize = 16

/** Trains on batches of 16 that the seed draws. */
export async function trainOnTask({ client, model, train, seed, steps, rate }: LoraRun): Promise<TrainedTask> {
  const text = await openText(model)
  const lora = await client.createModel({ baseModel: model, rank: 8, seed })
  let [seconds, tokens] = [0, 0]
  for (let step = 0; step < steps; step++) {
    const random = keyedRandom(seed, 'batch', step)
    const batch = Array.from({ length: batchSize }, () => datum(text, random.pick(train)))
    tokens += batch.reduce((sum, each) => sum + each.tokens.length, 0)
    const began = performance.now()
    const pass = lora.forwardBackward(batch, { name: 'cross_entropy' })
    const decay = Math.min(1, (steps - step) / (0.5 * steps))
    await lora.optimStep({ learningRate: rate * decay, beta1: 0.9, beta2: 0.95, eps: 1e-8 })
    await pass
    seconds += (performance.now() - began) / 1000
  }
  const sampler = await client.sampler({ samplingSessionId: await lora.snapshot() })
  return {
    async score(items) {
      const right = await Promise.all(items.map((item) => isRight(text, sampler, item)))
      return right.filter(Boolean).length / right.length
    },
    seconds,
    tokens,
  }
}

type Text = Awaited<ReturnType<typeof openText>>

async function openText(model: string) {
  const { folder } = await resolveModelFolder(model)
  const tokenizer = await openTokenizer(folder)
  const chat = await openChatTemplate({ tokenizer, template: (await readChatTemplate(folder)) ?? '' })
  return { tokenizer, chat }
}

function datum({ tokenizer, chat }: Text, { user, answer }: Item): Datum {
  const prompt = chat.prompt([{ role: 'user', content: user }])
  const said = tokenizer.encode(`${answer}<|im_end|>`, { special: true })
  const all = Int32Array.from([...prompt, ...said])
  // The mean over the answers of a batch, so that the rate does not depend on its size.
  const weights = Float32Array.from(all.subarray(1), (_, at) =>
    at + 1 >= prompt.length ? 1 / (batchSize * said.length) : 0,
  )
  const shape = [all.length - 1]
  return {
    tokens: all.slice(0, -1),
    lossInputs: { target_tokens: { data: all.slice(1), shape }, weights: { data: weights, shape } },
  }
}

async function isRight({ chat }: Text, sampler: Sampler, { user, answer }: Item): Promise<boolean> {
  const [sample] = await sampler.sample({
    prompt: chat.prompt([{ role: 'user', content: user }]),
    ...{ numSamples: 1, maxTokens: 24, temperature: 0, seed: 0 },
    stop: chat.stop.filter((token) => typeof token === 'number'),
  })
  return sample !== undefined && chat.parse(sample.tokens).message.content === answer
}
