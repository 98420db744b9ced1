// Models and answers from elsewhere beside the arms, and as arms: any server, addresses of the environment, files of answers.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/index.ts'
import { runMain } from '../cli/run-main.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()

/** A server with the Chat Completions API that always says the same. */
async function startServer() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    request.resume()
    const message = { role: 'assistant', content: 'refund' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', model: 'm', choices, usage }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    asked,
    url: `http://127.0.0.1:${port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

const experiment = (models: readonly unknown[], more: object = {}) => ({
  name: 'beside',
  metadata: {
    objective: { metric: 'val.pass@1' },
    benchmark: [{ name: 'val', path: 'data/val', metrics: ['pass@1'], max_tokens: 6, models }],
  },
  run: { ...twoByTwo.matrix.base_run, algorithm: { kind: 'sft', params: { max_steps: 2 } } },
  ...more,
})

describe('a model behind any server', { timeout: 120_000 }, () => {
  it('stands beside the arms as { kind, base_url, model }, and one that fails says why (USE-48)', async () => {
    await using server = await startServer()
    const dir = folder()
    const entry = { kind: 'openai_compatible', base_url: server.url, model: 'llama' }
    const away = { ...entry, base_url: 'http://127.0.0.1:59999/v1', name: 'away', max_attempts: 1 }
    const result = await runExperiment(experimentProject(dir, experiment([entry, away])), { projectDir: dir })
    expect(result.baselines).toMatchObject([
      { model: 'openai_compatible:llama', metrics: { 'pass@1': 0.6 } },
      { model: 'away', error: { message: expect.stringContaining('127.0.0.1:59999') } },
    ])
    expect(result.conclusion?.text).toMatch(/openai_compatible:llama 0\.6, away has no score \(.*127\.0\.0\.1:59999/)
  })

  it('is refused with its params before anything starts (USE-48)', async () => {
    const dir = folder()
    const file = experimentProject(dir, experiment([{ kind: 'openai_compatible', model: 'llama' }]))
    await expect(runExperiment(file, { projectDir: dir })).rejects.toMatchObject({
      code: 'PLUGIN_PARAMS',
      message: expect.stringContaining('base_url'),
    })
  })

  it('is evaluated by eval and benchmark run, and OPENAI_BASE_URL is where openai is (USE-49)', async () => {
    await using server = await startServer()
    const dir = folder()
    experimentProject(dir, experiment([]))
    const client = `{ kind: openai_compatible, base_url: "${server.url}", model: llama }`
    const args = ['--benchmark', 'data/val', '--metric', 'pass@1', '--json']
    const direct = await runMain(['eval', client, ...args], { cwd: dir })
    expect(JSON.parse(direct.stdout)).toMatchObject({ model: 'openai_compatible:llama', metrics: { 'pass@1': 0.6 } })
    const env = { OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'key-of-mine' }
    const run = ['benchmark', 'run', '--path', 'data/val', '--model', 'openai:mine', '--metric', 'pass@1', '--json']
    const named = await runMain(run, { cwd: dir, env })
    expect(JSON.parse(named.stdout)).toMatchObject({ model: 'openai:mine', metrics: { 'pass@1': 0.6 } })
    expect(server.asked).toHaveLength(10)
  })
})

describe('a client that answers a benchmark', { timeout: 120_000 }, () => {
  it('is asked where OPENAI_BASE_URL of .env says, in the worker too (USE-177)', async () => {
    await using server = await startServer()
    const dir = folder()
    const { metadata, ...rest } = experiment([])
    const inference = { kind: 'openai', params: { model: 'mine' } }
    const benchmark = metadata.benchmark.map((each) => ({ ...each, inference }))
    const file = experimentProject(dir, { ...rest, metadata: { ...metadata, benchmark } })
    writeFileSync(join(dir, '.env'), `OPENAI_BASE_URL=${server.url}\nOPENAI_API_KEY=key-of-mine\n`)
    const result = await runExperiment(file, { projectDir: dir })
    expect(result).toMatchObject({ status: 'completed', arms: [{ score: { mean: 0.6 } }] })
    expect(server.asked).toHaveLength(5)
  })
})

describe('answers of another system', { timeout: 120_000 }, () => {
  const csv = 'task_id,answer\nval-0,refund\nval-1,refund\nval-2,refund\nval-3,mail\n'

  it('are an arm that is scored and compared like any other; a missing answer is counted (USE-50)', async () => {
    const dir = folder()
    const { base_run } = twoByTwo.matrix
    const linear = { ...base_run, name: 'linear', algorithm: { kind: 'score_only', params: {} } }
    const file = experimentProject(
      dir,
      experiment([], {
        run: undefined,
        n_repeats: 1,
        runs: [
          { ...linear, agent: { kind: 'predictions', params: { path: 'linear.csv' } } },
          { ...linear, name: 'other', agent: { kind: 'predictions', params: { path: 'other.jsonl' } } },
        ],
      }),
    )
    writeFileSync(join(dir, 'linear.csv'), csv)
    const rows = [0, 1, 2, 3, 4].map((i) => JSON.stringify({ task_id: `val-${i}`, prediction: 'shop' }))
    writeFileSync(join(dir, 'other.jsonl'), rows.join('\n'))
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.arms.map(({ name, score }) => [name, score?.mean])).toEqual([
      ['linear', 0.8],
      ['other', 0.2],
    ])
    expect(result.failures).toMatchObject([{ run: expect.stringContaining('linear'), kind: 'agents', n: 1, of: 5 }])
    expect(result.conclusion?.text).toContain('has no answer to the task "val-4"')
  })

  it('are scored by eval from a file (USE-50)', async () => {
    const dir = folder()
    experimentProject(dir, experiment([]))
    writeFileSync(join(dir, 'linear.csv'), csv)
    const args = ['eval', join(dir, 'linear.csv'), '--benchmark', 'data/val', '--metric', 'pass@1', '--json']
    const { stdout } = await runMain(args, { cwd: dir })
    expect(JSON.parse(stdout)).toMatchObject({ model: 'linear.csv', metrics: { 'pass@1': 0.8 }, n_agent_failed: 1 })
  })
})
