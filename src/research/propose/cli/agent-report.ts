// What a program reported of itself, by its end or until it was ended.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import type { TokenPrice, Usage } from '../../../contracts/index.ts'
import { costOf, findPrice } from '../../../models/index.ts'
import { readJson } from '../llm/parse-reply.ts'

export interface AgentReport {
  readonly spent?: AgentSpending | undefined
  /** The last that it said. */
  readonly words?: string | undefined
  /** Why it gave up, in its own words, with the status that its provider answered. */
  readonly failure?: { readonly text: string; readonly status?: number | undefined } | undefined
}

/** `prompt` counts what was in a cache as well. */
interface AgentSpending {
  readonly prompt: number
  readonly completion: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Absent: it does not say. */
  readonly costUsd?: number | undefined
}

/** What goes into the ledger. A price of the user's wins over what the program says. */
export function usageOf(
  spent: AgentSpending | undefined,
  { latencyS, price }: { readonly latencyS: number; readonly price?: TokenPrice | undefined },
): Usage | undefined {
  if (spent === undefined) return undefined
  const costUsd = price === undefined ? spent.costUsd : costOf(spent, price)
  return {
    promptTokens: spent.prompt,
    completionTokens: spent.completion,
    cachedPromptTokens: spent.cacheRead > 0 ? spent.cacheRead : undefined,
    latencyS,
    costUsd,
  }
}

/** The JSON objects that stand on lines of their own, in order. */
function jsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    try {
      return [JSON.parse(line)]
    } catch {
      return [] // the first line of what was kept, or the last before it was ended
    }
  })
}

/** Of any program: the last JSON object of its output that reports tokens or dollars. */
export function readAnyReport(stdout: string): AgentReport {
  const lines = stdout.trimEnd().split('\n').slice(-200).reverse()
  for (const text of [...lines.filter((line) => line.trimStart().startsWith('{')), stdout.slice(-100_000)]) {
    for (const value of readJson(text).flat()) {
      const spent = spentIn(value)
      if (spent !== undefined) return { spent }
    }
  }
  return {}
}

/** `usage` and the cost beside it, in the words of OpenAI and of Anthropic. */
function spentIn(value: unknown): AgentSpending | undefined {
  const top = fields(value)
  const usage = fields(top.usage)
  const cost = number(top.total_cost_usd) ?? number(top.cost_usd) ?? number(usage.cost_usd)
  const input = number(usage.input_tokens) ?? number(usage.prompt_tokens)
  const output = number(usage.output_tokens) ?? number(usage.completion_tokens)
  if (cost === undefined && input === undefined && output === undefined) return undefined
  // Anthropic counts what was in the cache beside its input, OpenAI as a part of it.
  const read = number(usage.cache_read_input_tokens) ?? 0
  const written = number(usage.cache_creation_input_tokens) ?? 0
  return {
    prompt: (input ?? 0) + read + written,
    completion: output ?? 0,
    cacheRead: read > 0 ? read : (number(usage.cached_input_tokens) ?? 0),
    cacheWrite: written > 0 ? written : (number(usage.cache_write_input_tokens) ?? 0),
    costUsd: cost,
  }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

// The lines of `codex exec --json`, and the record of the session in its home: the lines report tokens only when a turn is complete.
const count = z.number().min(0).default(0)
const Counts = z.looseObject({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_input_tokens: count,
  output_tokens: count,
})
type Counts = z.output<typeof Counts>

const Completed = z.looseObject({ type: z.literal('turn.completed'), usage: Counts })
const Failed = z.looseObject({ type: z.literal('turn.failed'), error: z.looseObject({ message: z.string() }) })
const CodexMessage = z.looseObject({
  type: z.literal('item.completed'),
  item: z.looseObject({ type: z.literal('agent_message'), text: z.string() }),
})
const Total = z.looseObject({ total_token_usage: Counts })
const Recorded = z.looseObject({ payload: z.looseObject({ type: z.literal('token_count'), info: Total }) })
const Context = z.looseObject({ type: z.literal('turn_context'), payload: z.looseObject({ model: z.string() }) })

/** `sessions`: the texts of its records. `isOpenai`: its models have the prices of OpenAI. */
export function readCodexReport(
  stdout: string,
  { sessions, model, isOpenai }: { sessions: readonly string[]; model?: string | undefined; isOpenai: boolean },
): AgentReport {
  const lines = jsonLines(stdout)
  const recorded = sessions.map(jsonLines)
  const reported = lines.flatMap((line) => Completed.safeParse(line).data?.usage ?? [])
  const totalIn = (line: unknown) => Recorded.safeParse(line).data?.payload.info.total_token_usage ?? []
  const until = recorded.flatMap((each) => each.flatMap(totalIn).slice(-1))
  const names = recorded.flat().flatMap((line) => Context.safeParse(line).data?.payload.model ?? [])
  const spent = spentOf(reported.length > 0 ? reported : until, isOpenai ? [model, ...names] : [])
  const failed = lines.flatMap((line) => Failed.safeParse(line).data?.error.message ?? []).at(-1)
  const status = /status:? (\d{3})\b/.exec(failed ?? '')?.[1]
  const words = lines.flatMap((line) => CodexMessage.safeParse(line).data?.item.text ?? []).at(-1)
  const failure = failed === undefined ? undefined : { text: failed, status: status ? Number(status) : undefined }
  return { spent, words, failure }
}

/** The records of the sessions in a home folder. */
export async function readCodexSessions(home: string): Promise<string[]> {
  const folder = join(home, '.codex', 'sessions')
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const records = files.filter((file) => file.endsWith('.jsonl')).sort()
  return Promise.all(records.map((file) => readFile(join(folder, file), 'utf8')))
}

function spentOf(all: readonly Counts[], models: readonly (string | undefined)[]): AgentSpending | undefined {
  if (all.length === 0) return undefined
  const sum = (name: 'input_tokens' | 'output_tokens' | 'cached_input_tokens' | 'cache_write_input_tokens') =>
    all.reduce((total, each) => total + each[name], 0)
  const spent = {
    prompt: sum('input_tokens'),
    completion: sum('output_tokens'),
    cacheRead: sum('cached_input_tokens'),
    cacheWrite: sum('cache_write_input_tokens'),
  }
  // It reports sums alone: prompts are taken to be of the usual length.
  const price = findPrice('openai', 0, ...models)
  return price === undefined ? spent : { ...spent, costUsd: costOf(spent, price) }
}

// The lines of `claude -p --output-format stream-json`: each message, and at the end the result with the bill of all models.
const ModelUsage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheReadInputTokens: count,
  cacheCreationInputTokens: count,
})
const Result = z.looseObject({
  type: z.literal('result'),
  is_error: z.boolean().default(false),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  api_error_status: z.int().nullish(),
  total_cost_usd: z.number().min(0).optional(),
  modelUsage: z.record(z.string(), ModelUsage).default({}),
})

const ClaudeMessage = z.looseObject({
  type: z.literal('assistant'),
  message: z.looseObject({
    id: z.string(),
    model: z.string(),
    content: z.unknown(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count }),
  }),
})

export function readClaudeReport(stdout: string): AgentReport {
  const lines = jsonLines(stdout)
  const result = lines.flatMap((line) => Result.safeParse(line).data ?? []).at(-1)
  if (result === undefined) return readUnended(lines)
  const spent = spentOn(result) ?? spentIn(result)
  const { is_error, result: words, errors = [], api_error_status: status } = result
  const report = { spent, words }
  if (!is_error) return report
  return { ...report, failure: { text: words ?? errors.join('; '), status: status ?? undefined } }
}

// `usage` of a result is that of the main conversation alone.
function spentOn({ modelUsage, total_cost_usd: costUsd }: z.output<typeof Result>): AgentSpending | undefined {
  const models = Object.values(modelUsage)
  if (models.length === 0) return undefined
  const sum = (of: (model: (typeof models)[number]) => number) => models.reduce((total, each) => total + of(each), 0)
  const cacheRead = sum((each) => each.cacheReadInputTokens)
  const cacheWrite = sum((each) => each.cacheCreationInputTokens)
  return {
    prompt: sum((each) => each.inputTokens) + cacheRead + cacheWrite,
    completion: sum((each) => each.outputTokens),
    cacheRead,
    cacheWrite,
    costUsd,
  }
}

/** Characters of a token, about. */
const tokenLength = 4

// It was ended before it gave a result. A message reports its tokens when it begins: what it wrote since is estimated.
function readUnended(lines: readonly unknown[]): AgentReport {
  const messages = new Map<string, AgentSpending & { readonly model: string }>()
  for (const { message } of lines.flatMap((line) => ClaudeMessage.safeParse(line).data ?? [])) {
    const stated = spentIn(message)
    if (stated === undefined) continue
    const written = JSON.stringify(message.content)?.length ?? 0
    const before = messages.get(message.id)?.completion ?? stated.completion
    const completion = before + Math.ceil(written / tokenLength)
    messages.set(message.id, { ...stated, model: message.model, completion })
  }
  return [...messages.values()].reduce<AgentReport>((sum, each) => ({ spent: added(sum.spent, priced(each)) }), {})
}

function priced({ model, ...spent }: AgentSpending & { readonly model: string }): AgentSpending {
  const price = findPrice('anthropic', spent.prompt, model)
  return price === undefined ? spent : { ...spent, costUsd: costOf(spent, price) }
}

function added(a: AgentSpending | undefined, b: AgentSpending): AgentSpending {
  if (a === undefined) return b
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    costUsd: a.costUsd === undefined || b.costUsd === undefined ? undefined : a.costUsd + b.costUsd,
  }
}
