// How well-known coding agents are started without a person, and where they tell what they used.
import type { Usage } from '../../../contracts/index.ts'
import { readJson } from '../llm/read-json.ts'

export interface AgentPreset {
  /** `{instruction}` is filled in. */
  readonly command: readonly string[]
  /** Secrets that it needs. */
  readonly secrets: readonly string[]
}

export const agentPresets: Readonly<Record<'claude' | 'codex', AgentPreset>> = {
  claude: {
    command: ['claude', '-p', '{instruction}', '--output-format', 'json', '--permission-mode', 'acceptEdits'],
    secrets: ['ANTHROPIC_API_KEY'],
  },
  codex: {
    command: ['codex', 'exec', '--skip-git-repo-check', '--sandbox', 'workspace-write', '--json', '{instruction}'],
    secrets: ['OPENAI_API_KEY'],
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
  const read = number(usage.cache_read_input_tokens) ?? 0
  const written = number(usage.cache_creation_input_tokens) ?? 0
  return {
    promptTokens: (input ?? 0) + read + written,
    completionTokens: output ?? 0,
    ...(read > 0 ? { cachedPromptTokens: read } : {}),
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
