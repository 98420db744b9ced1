// How well-known coding agents are started without a person, and where they tell what they used.
import type { Usage } from '../../../contracts/index.ts'
import { readJson } from '../llm/read-json.ts'

interface AgentPreset {
  /** `{instruction}` is filled in. */
  readonly command: readonly string[]
  /** Secrets that it needs. */
  readonly secrets: readonly ('ANTHROPIC_API_KEY' | 'OPENAI_API_KEY')[]
  /** Under which further name it reads a secret. */
  readonly alias?: Readonly<Record<string, string>>
  /** Option that bounds what it may spend, in dollars; absent: it has none. */
  readonly budget?: string
}

export const agentPresets: Readonly<Record<'claude' | 'codex', AgentPreset>> = {
  claude: {
    command: ['claude', '-p', '{instruction}', '--output-format', 'json', '--permission-mode', 'acceptEdits'],
    secrets: ['ANTHROPIC_API_KEY'],
    budget: '--max-budget-usd',
  },
  codex: {
    command: ['codex', 'exec', '--skip-git-repo-check', '--sandbox', 'workspace-write', '--json', '{instruction}'],
    secrets: ['OPENAI_API_KEY'],
    alias: { OPENAI_API_KEY: 'CODEX_API_KEY' }, // the one that `codex exec` reads without a login
  },
}

/** What a program says it used: the last JSON object of its output that tells tokens or dollars. */
export function toldUsage(stdout: string, latencyS: number): Usage | undefined {
  const lines = stdout.trimEnd().split('\n').slice(-200).reverse()
  for (const text of [...lines.filter((line) => line.trimStart().startsWith('{')), stdout.slice(-100_000)]) {
    for (const value of readJson(text).flat()) {
      const told = usageIn(value, latencyS)
      if (told !== undefined) return told
    }
  }
  return undefined
}

function usageIn(value: unknown, latencyS: number): Usage | undefined {
  const top = fields(value)
  const usage = fields(top.usage)
  const cost = number(top.total_cost_usd) ?? number(top.cost_usd) ?? number(usage.cost_usd)
  const input = number(usage.input_tokens) ?? number(usage.prompt_tokens)
  const output = number(usage.output_tokens) ?? number(usage.completion_tokens)
  if (cost === undefined && input === undefined && output === undefined) return undefined
  // Claude Code counts what was in the cache beside its input, Codex as a part of it.
  const read = number(usage.cache_read_input_tokens) ?? 0
  const written = number(usage.cache_creation_input_tokens) ?? 0
  const cached = read > 0 ? read : (number(usage.cached_input_tokens) ?? 0)
  return {
    promptTokens: (input ?? 0) + read + written,
    completionTokens: output ?? 0,
    ...(cached > 0 ? { cachedPromptTokens: cached } : {}),
    latencyS,
    ...(cost === undefined ? {} : { costUsd: cost }),
  }
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
