// The lines of `claude -p --output-format stream-json`: each message, and at the end the result with the bill of all models.
import * as z from 'zod'
import { costOf, findPrice } from '../../../models/index.ts'
import { type AgentReport, type AgentSpending, jsonLines, spentIn } from './agent-report.ts'

const count = z.number().min(0).default(0)

const Result = z.looseObject({
  type: z.literal('result'),
  is_error: z.boolean().default(false),
  result: z.string().optional(),
  errors: z.array(z.string()).optional(),
  api_error_status: z.int().nullish(),
  total_cost_usd: z.number().min(0).optional(),
  modelUsage: z
    .record(
      z.string(),
      z.looseObject({
        inputTokens: count,
        outputTokens: count,
        cacheReadInputTokens: count,
        cacheCreationInputTokens: count,
      }),
    )
    .default({}),
})

const Message = z.looseObject({
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
  const told = { ...(spent === undefined ? {} : { spent }), ...(words === undefined ? {} : { words }) }
  if (!is_error) return told
  const text = words ?? errors.join('; ')
  return { ...told, failure: { text, ...(typeof status === 'number' ? { status } : {}) } }
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
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Characters of a token, about. */
const tokenLength = 4

// It was ended before it gave a result. A message tells its tokens when it begins: what it wrote since is estimated.
function readUnended(lines: readonly unknown[]): AgentReport {
  const messages = new Map<string, AgentSpending & { readonly model: string }>()
  for (const { message } of lines.flatMap((line) => Message.safeParse(line).data ?? [])) {
    const told = spentIn(message)
    if (told === undefined) continue
    const written = JSON.stringify(message.content)?.length ?? 0
    const before = messages.get(message.id)?.completion ?? told.completion
    messages.set(message.id, {
      ...told,
      model: message.model,
      completion: before + Math.ceil(written / tokenLength),
    })
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
    ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: a.costUsd + b.costUsd }),
  }
}
