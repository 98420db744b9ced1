import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { benchmarkFile } from '../../../tests/benchmark-file.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { plainChat } from '../../backends/index.ts'
import { byteTokenizer } from '../../backends/models/mock-models.ts'
import type { SampleReq, SealedBenchmark } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { OpenModel } from './open-model.ts'
import { readSealedTasks } from './run-context.ts'
import { answerTasks } from './score-benchmark.ts'

const folder = temporaryFolders()
const renderer = await plainChat.open({ ...pluginContext(plainChat), tokenizer: byteTokenizer })
const tasks = ['a', 'b'].map((task_id) => ({ task_id, instruction: `say ${task_id}` }))
const { signal } = new AbortController()

/** Asks with a model that says `ok`, unless `fails` says why it does not. */
async function ask(
  changes: Partial<SealedBenchmark>,
  { seed = 1, step = 0, fails = (_r: SampleReq): unknown => undefined } = {},
) {
  const requests: SampleReq[] = []
  const sample = async (request: SampleReq) => {
    requests.push(request)
    const failure = fails(request)
    if (failure !== undefined) throw failure
    const tokens = byteTokenizer.encode('ok')
    return Array.from({ length: request.numSamples }, () => ({
      tokens,
      logprobs: new Float64Array(tokens.length),
      stopReason: 'length' as const,
    }))
  }
  const benchmark = benchmarkFile(folder(), { name: 'val', ...changes })
  const model = { sample } as unknown as OpenModel // all that is asked of it
  const predictions = await answerTasks({
    benchmark,
    tasks,
    model,
    weights: { baseModel: 'm' },
    renderer,
    seed,
    step,
    signal,
  })
  return { predictions, requests }
}

describe('the answers to a benchmark', () => {
  it('are one per task and sample, in order, with what they took (LAB-54)', async () => {
    const { predictions } = await ask({ num_samples: 2 })
    expect(predictions.map(({ task_id, sample, output }) => [task_id, sample, output])).toEqual([
      ['a', 0, 'ok'],
      ['a', 1, 'ok'],
      ['b', 0, 'ok'],
      ['b', 1, 'ok'],
    ])
    expect(predictions[0]).toMatchObject({ complete: false, completion_tokens: 2, prompt_tokens: expect.any(Number) })
    for (const { latency_s } of predictions) expect(latency_s).toBeGreaterThanOrEqual(0)
  })

  it('are drawn at an address of their own: seed, benchmark, step and task (LAB-54)', async () => {
    const seeds = async (changes: Partial<SealedBenchmark>, at: object = {}) =>
      (await ask(changes, at)).requests.map(({ seed }) => seed)
    const [first, second] = await seeds({})
    expect(first).not.toBe(second)
    expect(await seeds({})).toEqual([first, second])
    for (const other of [await seeds({}, { seed: 2 }), await seeds({}, { step: 1 }), await seeds({ name: 'test' })]) {
      expect(other).not.toContain(first)
    }
  })

  it('are put in the words of the benchmark (LAB-54)', async () => {
    const chat_template = { system_prompt: 'Be brief.', user_template: '[{prompt}] {prompt}' }
    const { requests } = await ask({ chat_template })
    const wanted = renderer.prompt([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '[say a] say a' },
    ])
    expect([...(requests[0]?.prompt ?? [])]).toEqual([...wanted])
  })

  it('that fail are kept with their error; the others go on (LAB-54)', async () => {
    let asked = 0
    const fails = () => (asked++ === 0 ? new EvsysError('BACKEND_FAILED', 'gone') : undefined)
    const { predictions } = await ask({ n_concurrent: 1 }, { fails })
    expect(predictions).toMatchObject([
      { task_id: 'a', sample: 0, error: { code: 'BACKEND_FAILED', message: 'gone' } },
      { task_id: 'b', sample: 0, output: 'ok' },
    ])
  })

  it('answer questions that hold nothing of what is expected (LAB-12)', async () => {
    const file = join(folder(), 'tasks.jsonl')
    writeFileSync(file, '{"task_id":"a","instruction":"x"}\n')
    expect(await readSealedTasks(file)).toEqual([{ task_id: 'a', instruction: 'x' }])
    writeFileSync(file, '{"task_id":"a","instruction":"x","expected":"y"}\n')
    await expect(readSealedTasks(file)).rejects.toThrow()
  })
})
