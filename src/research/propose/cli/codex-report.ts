// The lines of `codex exec --json`, and the record of the session in its home: the lines tell tokens only when a turn is complete.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { costOf, findPrice } from '../../../models/index.ts'
import { type AgentReport, type AgentSpending, jsonLines } from './agent-report.ts'

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
const Message = z.looseObject({
  type: z.literal('item.completed'),
  item: z.looseObject({ type: z.literal('agent_message'), text: z.string() }),
})
const Recorded = z.looseObject({
  payload: z.looseObject({
    type: z.literal('token_count'),
    info: z.looseObject({ total_token_usage: Counts }),
  }),
})
const Context = z.looseObject({ type: z.literal('turn_context'), payload: z.looseObject({ model: z.string() }) })

/** `sessions`: the texts of its records. `isOpenai`: its models have the prices of OpenAI. */
export function readCodexReport(
  stdout: string,
  { sessions, model, isOpenai }: { sessions: readonly string[]; model?: string | undefined; isOpenai: boolean },
): AgentReport {
  const lines = jsonLines(stdout)
  const recorded = sessions.map(jsonLines)
  const told = lines.flatMap((line) => Completed.safeParse(line).data?.usage ?? [])
  const until = recorded.flatMap((each) => each.flatMap((line) => totalIn(line) ?? []).slice(-1))
  const names = recorded.flat().flatMap((line) => Context.safeParse(line).data?.payload.model ?? [])
  const spent = spentOf(told.length > 0 ? told : until, isOpenai ? [model, ...names] : [])
  const failed = lines.flatMap((line) => Failed.safeParse(line).data?.error.message ?? []).at(-1)
  const status = /status:? (\d{3})\b/.exec(failed ?? '')?.[1]
  const words = lines.flatMap((line) => Message.safeParse(line).data?.item.text ?? []).at(-1)
  return {
    ...(spent === undefined ? {} : { spent }),
    ...(words === undefined ? {} : { words }),
    ...(failed === undefined
      ? {}
      : { failure: { text: failed, ...(status === undefined ? {} : { status: Number(status) }) } }),
  }
}

/** The records of the sessions in a home folder. */
export async function readCodexSessions(home: string): Promise<string[]> {
  const folder = join(home, '.codex', 'sessions')
  const files = await readdir(folder, { recursive: true }).catch(() => [])
  const records = files.filter((file) => file.endsWith('.jsonl')).sort()
  return Promise.all(records.map((file) => readFile(join(folder, file), 'utf8')))
}

function totalIn(line: unknown): Counts | undefined {
  return Recorded.safeParse(line).data?.payload.info.total_token_usage
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
  // It tells sums alone: prompts are taken to be of the usual length.
  const price = findPrice('openai', 0, ...models)
  return price === undefined ? spent : { ...spent, costUsd: costOf(spent, price) }
}
