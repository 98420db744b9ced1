// What a program told of itself, by its end or until it was ended.
import type { TokenPrice, Usage } from '../../../contracts/index.ts'
import { costOf } from '../../../models/index.ts'
import { readJson } from '../llm/read-json.ts'

export interface AgentReport {
  readonly spent?: AgentSpending
  /** The last that it said. */
  readonly words?: string
  /** Why it gave up, in its own words, with the status that its provider answered. */
  readonly failure?: { readonly text: string; readonly status?: number }
}

/** `prompt` counts what was in a cache as well. */
export interface AgentSpending {
  readonly prompt: number
  readonly completion: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** Absent: it does not say. */
  readonly costUsd?: number
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
    ...(spent.cacheRead > 0 ? { cachedPromptTokens: spent.cacheRead } : {}),
    latencyS,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** The JSON objects that stand on lines of their own, in order. */
export function jsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    if (!line.startsWith('{')) return []
    try {
      return [JSON.parse(line)]
    } catch {
      return [] // the first line of what was kept, or the last before it was ended
    }
  })
}

/** Of any program: the last JSON object of its output that tells tokens or dollars. */
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
export function spentIn(value: unknown): AgentSpending | undefined {
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
    ...(cost === undefined ? {} : { costUsd: cost }),
  }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
