// LoRA on tasks that are not in the recipe, through the trainer, from the bundled weights and from others of the same shape.
//   TINKER_BASE_URL=... npx jiti models/recipe/check-tasks.ts MODEL TASK SEED [STEPS] [EVERY] [RATE]
// The URL is that of `evsys serve --model MODEL`, with a name or a folder. Prints exact match on held-out items every so many steps, and the seconds of the training steps.
import type { Datum } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { openChatTemplate, openTokenizer, readChatTemplate, resolveModelFolder } from '../../src/models/index.ts'
import { createTinkerClient, type Sampler } from '../../src/tinker/index.ts'
import { type Item, tasks } from './tasks/tasks.ts'

const [model = 'evsys/tiny', task = 'routing', seed = '0', steps = '60', every = '20', rate = '0.005'] =
  process.argv.slice(2)
const batchSize = 16
const baseUrl = process.env.TINKER_BASE_URL ?? ''
const make = tasks[task]
if (make === undefined) throw new Error(`no task is called ${task}: ${Object.keys(tasks).join(', ')}`)
const [train, heldout] = [make('train', 1500), make('heldout', 64)]

const { folder } = await resolveModelFolder(model)
const tokenizer = await openTokenizer(folder)
const renderer = await openChatTemplate({ tokenizer, template: (await readChatTemplate(folder)) ?? '' })
const wrong: string[][] = []
{
  await using client = await createTinkerClient({ preset: 'evsys', baseUrl, apiKey: 'tml-local' })
  const lora = await client.createModel({ baseModel: model, rank: 8, seed: Number(seed) })
  const scores: Record<string, number> = {}
  let seconds = 0
  let tokens = 0
  const score = async (step: number) => {
    const sampler = await client.sampler({ samplingSessionId: await lora.snapshot() })
    const right = await Promise.all(heldout.map((item) => isRight(sampler, item)))
    scores[step] = right.filter(Boolean).length / right.length
  }
  for (let step = 0; step < Number(steps); step++) {
    if (step > 0 && step % Number(every) === 0) await score(step)
    const random = keyedRandom(Number(seed), 'batch', step)
    const batch = Array.from({ length: batchSize }, () => datum(random.pick(train)))
    tokens += batch.reduce((sum, each) => sum + each.tokens.length, 0)
    const began = performance.now()
    const pass = lora.forwardBackward(batch, { name: 'cross_entropy' })
    const decay = Math.min(1, (Number(steps) - step) / (0.5 * Number(steps)))
    await lora.optimStep({ learningRate: Number(rate) * decay, beta1: 0.9, beta2: 0.95, eps: 1e-8 })
    await pass
    seconds += (performance.now() - began) / 1000
  }
  await score(Number(steps))
  console.log(
    JSON.stringify({
      model,
      task,
      seed: Number(seed),
      steps: Number(steps),
      scores,
      train_seconds: Number(seconds.toFixed(1)),
      tokens,
      wrong: wrong.slice(-3),
    }),
  )
}

function datum({ user, answer }: Item): Datum {
  const prompt = renderer.prompt([{ role: 'user', content: user }])
  const said = tokenizer.encode(`${answer}<|im_end|>`, { special: true })
  const all = Int32Array.from([...prompt, ...said])
  // The mean over the answers of a batch, so that the rate does not depend on its size.
  const weights = Float32Array.from(all.subarray(1), (_, at) =>
    at + 1 >= prompt.length ? 1 / (batchSize * said.length) : 0,
  )
  const size = [all.length - 1]
  return {
    tokens: all.slice(0, -1),
    lossInputs: { target_tokens: { data: all.slice(1), shape: size }, weights: { data: weights, shape: size } },
  }
}

async function isRight(sampler: Sampler, { user, answer }: Item): Promise<boolean> {
  const prompt = renderer.prompt([{ role: 'user', content: user }])
  const [sample] = await sampler.sample({
    prompt,
    numSamples: 1,
    maxTokens: 24,
    temperature: 0,
    seed: 0,
    stop: renderer.stop.filter((token) => typeof token === 'number'),
  })
  const said = sample === undefined ? '' : renderer.parse(sample.tokens).message.content
  if (said !== answer) wrong.push([user, answer, String(said)])
  return said === answer
}
