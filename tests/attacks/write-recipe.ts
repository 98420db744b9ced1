// The plugin file of a row, and the arm of the experiment that uses it.
import type { RecipeRow, Target } from './rows.ts'

/** Name of the arm and the plugin of row number `i`. */
export function armOf(i: number): string {
  return `row${i}`
}

const head = (imports: string, place: object) => `import * as evsys from 'evsys/plugin'
import { z } from 'evsys/plugin'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import * as cp from 'node:child_process'
import * as net from 'node:net'
${imports}
const { join } = path
const place: any = ${JSON.stringify(place)}
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms))
const attempt = (what: () => unknown): any => { try { return what() } catch (error) { return undefined } }
const attemptAsync = async (what: () => Promise<unknown>): Promise<any> => { try { return await what() } catch (error) { return undefined } }
const state: any = {}
`

/** The text of the plugin that plays a row, of kind `kind`. */
export function pluginText({ target, code, imports = '' }: RecipeRow, kind: string, place: object): string {
  const summary = `summary: 'Row ${kind}.', params: z.strictObject({ row: z.number().default(0) })`
  const act = `async function act(given: any, say: (text: string) => void): Promise<any> {\n${code}\n}`
  const plugins: Record<Target, string> = {
    load: `const say = (text: string) => fs.writeSync(2, 'said ' + text + '\\n')
await (async () => {\n${code}\n})()
export default evsys.defineTransform({ kind: '${kind}', ${summary}, async *run(rows) { yield* rows } })`,
    transform: `${act}
export default evsys.defineTransform({ kind: '${kind}', ${summary}, async *run(rows, c) {
  const made = await act({ ...c, rows }, (text) => c.log('info', 'said ' + text))
  if (made !== undefined) yield* made
  else yield* rows
} })`,
    source: `${act}
export default evsys.defineDataSource({ kind: '${kind}', ${summary}, async *rows(c) {
  const made = await act(c, (text) => c.log('info', 'said ' + text))
  for (const [i, row] of (made ?? [{ query: 'a', desk: 'b' }, { query: 'c', desk: 'd' }]).entries()) yield { row, place: 'row ' + i }
} })`,
    callback: `${act}
export default evsys.defineCallback({ kind: '${kind}', ${summary}, async open(c) {
  const say = (text: string) => c.log('info', 'said ' + text)
  const hook = (name: string) => async (...told: any[]) => {
    if (name.startsWith('onExperiment') || told[0]?.run?.arm === '${kind}') await act({ ...c, hook: name, told, dir: told[0]?.outputDir }, say)
  }
  const hooks = ['onRunStart', 'onStepEnd', 'onCheckpoint', 'onBenchmarkEval', 'onRunEnd'${code.includes('onExperiment') ? ", 'onExperimentStart', 'onExperimentEnd'" : ''}]
  return Object.fromEntries(hooks.map((name) => [name, hook(name)]))
} })`,
    algorithm: `${act}
export default evsys.extendAlgorithm(evsys.sft, { kind: '${kind}', summary: 'Row ${kind}.', async buildBatch(c: any) {
  const made = await act(c, (text) => c.log('info', 'said ' + text))
  return made ?? await evsys.sft.buildBatch(c)
} })`,
    loss: `function act(given: any, say: (text: string) => void): any {\n${code}\n}
export default evsys.extendAlgorithm(evsys.sft, { kind: '${kind}', summary: 'Row ${kind}.', async buildBatch(c: any) {
  const batch = await evsys.sft.buildBatch(c)
  return { ...batch, loss: { custom: (data: any, logprobs: any) => act({ data, logprobs, step: c.step }, (text) => c.log('info', 'said ' + text)) } }
} })`,
    train: `${act}
export default evsys.defineAlgorithm({ kind: '${kind}', ${summary}.extend({ max_steps: z.number().default(2), batch_size: z.number().default(2) }), rowFormat: 'chat_messages', async train(c: any) {
  const made = await act(c, (text) => c.log('info', 'said ' + text))
  return made ?? { run_id: c.runId, status: 'completed', metrics: {}, artifacts: [] }
} })`,
    agent: `${act}
export default evsys.defineAgent({ kind: '${kind}', ${summary}, async run(c: any) {
  const made = await act(c, (text) => c.log('info', 'said ' + text))
  if (made !== undefined) return made
  const { text } = await c.policy.generate({ messages: [{ role: 'user', content: c.task.instruction }], ...c.sampling, seed: 1 }, c.signal)
  return { output: text }
} })`,
    renderer: `${act}
export default evsys.defineRenderer({ kind: '${kind}', ${summary}, async open(c: any) {
  const say = (text: string) => c.log('info', 'said ' + text)
  const made = await act(c, say)
  if (made !== undefined) return made
  const text = (messages: any[]) => messages.map(({ content }) => content).join('\\n')
  return {
    conversation(messages: any[]) {
      const tokens = c.tokenizer.encode(text(messages))
      return { tokens, message: new Int32Array(tokens.length).fill(messages.length - 1), produced: new Uint8Array(tokens.length).fill(1) }
    },
    prompt: (messages: any[]) => c.tokenizer.encode(text(messages)),
    parse: (completion: any) => ({ message: { role: 'assistant', content: c.tokenizer.decode(completion) }, complete: true }),
    stop: ['\\n'],
  }
} })`,
    metric: `const say = (text: string) => fs.writeSync(2, 'said ' + text + '\\n')
export default evsys.defineMetric({ kind: '${kind}', summary: 'Row ${kind}.', direction: 'max', params: z.strictObject({}), compute(rewards: any, given: any): any {\n${code}\n} })`,
    verifier: `const say = (text: string) => fs.writeSync(2, 'said ' + text + '\\n')
export default evsys.defineVerifier({ kind: '${kind}', summary: 'Row ${kind}.', params: z.strictObject({}), async verify(given: any): Promise<any> {\n${code}\n} })`,
  }
  return `${head(imports, place)}\n${plugins[target]}\n`
}

/** How an arm comes to use the plugin of its row. */
export function armConfig({ target, arm = {} }: RecipeRow, kind: string): Record<string, unknown> {
  const chat = { kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }
  const first = target === 'load' || target === 'transform' ? [{ kind }] : []
  const algorithm = ['algorithm', 'loss', 'train'].includes(target) ? kind : 'sft'
  const source = target === 'source' ? { source_kind: kind } : { path: 'data/train.jsonl' }
  return {
    name: kind,
    data: { ...source, transforms: [...first, chat] },
    model: target === 'renderer' ? { name: 'mock', renderer_name: kind } : { name: 'mock' },
    algorithm: { kind: algorithm, params: { max_steps: 2, batch_size: 2 } },
    backend: { kind: 'mock' },
    ...(target === 'agent' ? { agent: kind } : {}),
    ...arm,
  }
}
