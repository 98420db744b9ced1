// An agent that is a separate program: any client of OpenAI or Anthropic. It talks to the capture proxy as if that were its model.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { defineAgent, EvsysError } from '../../kernel/index.ts'
import { limitParams } from '../agents/conversation.ts'
import { openAgentSession, serveProxy } from '../proxy/serve-proxy.ts'
import { type CliEnd, cliCommand, runOnHost } from './cli-command.ts'
import { portMark, runInEnvironment } from './run-in-environment.ts'

export const cli = defineAgent({
  kind: 'cli',
  summary: 'A program that speaks to OpenAI or Anthropic: it gets the policy through a local proxy.',
  params: z.strictObject({
    ...limitParams({ maxTurns: 100 }),
    command: z
      .union([z.string().min(1), z.array(z.string()).min(1)])
      .describe(
        'The program: a list of words, or a line for sh. {instruction}, {base_url}, {anthropic_url}, {api_key} and {model} are filled in.',
      ),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Further environment variables, with the same placeholders.'),
    model: z.string().min(1).default('policy').describe('Name of the model that the program is given.'),
    stdin: z.enum(['none', 'instruction']).default('none').describe('What the program reads.'),
    output: z
      .enum(['stdout', 'last_answer'])
      .default('stdout')
      .describe('What is scored: what the program prints, or the last answer of the model.'),
    run_on: z
      .enum(['environment', 'host'])
      .default('environment')
      .describe('`host`: this machine, outside any sandbox, for programs that you trust.'),
    sampling: z
      .enum(['trial', 'client'])
      .default('trial')
      .describe('Whose temperature counts. Training needs that of the trial.'),
    max_output_bytes: z.int().min(1).default(1_000_000).describe('How much is kept of what the program prints.'),
  }),
  async run({ params, task, policy, environment, sampling, random, signal, logsDir }) {
    const isInside = params.run_on === 'environment'
    if (isInside && environment === undefined) {
      const message = 'the agent "cli" runs its program in an environment, and the task has none'
      throw new EvsysError('SANDBOX_MISSING', message, {
        fix: 'give the task an environment, or allow `run_on: host` for a program that you trust.',
      })
    }
    await using server = await serveProxy()
    const opened = openAgentSession(server, { policy, sampling, random: (...path) => random('cli', ...path), params })
    using trial = opened.trial
    const port = isInside ? portMark : String(server.port)
    const values = {
      instruction: task.instruction,
      base_url: `http://127.0.0.1:${port}${trial.path}/v1`,
      anthropic_url: `http://127.0.0.1:${port}${trial.path}`,
      api_key: trial.key,
      model: params.model,
    }
    const run = {
      ...cliCommand(params, values),
      stdin: params.stdin === 'instruction' ? task.instruction : '',
      timeoutMs: (params.timeout_s ?? 86_400) * 1000,
      outputBytes: params.max_output_bytes,
      signal: AbortSignal.any([signal, opened.ended]),
    }
    const end =
      isInside && environment !== undefined
        ? await runInEnvironment(environment, run, server.port)
        : await runOnHost(run)
    if (logsDir !== undefined)
      await writeFile(join(logsDir, 'cli.txt'), logText(end).replaceAll(trial.key, '[REDACTED]'))
    if (end.exitCode !== 0) {
      const how = end.signal === null ? `ended with ${end.exitCode}` : `was ended by ${end.signal}`
      throw exitError(how, `${end.stdout}\n${end.stderr}`, trial.failure)
    }
    return { output: params.output === 'stdout' ? end.stdout : (trial.turns.at(-1)?.text ?? '') }
  },
})

function logText({ exitCode, signal, stdout, stderr }: CliEnd): string {
  return `${stdout}${stderr === '' ? '' : `\n[stderr]\n${stderr}`}\n[exit] ${signal ?? exitCode}\n`
}

// Why a program of an agent failed, judged by what it printed, by the names that Harbor gives: retries and statistics go by them.
const patterns = [
  ['ApiRateLimitError', /rate.?limit|too many requests|\b429\b/],
  ['ApiUsageLimitError', /usage limits?\b|insufficient_quota|quota exceeded|unpaid invoice|credit balance is too low/],
  ['ApiInternalServerError', /\b500 internal server error|internal server error/],
  ['ApiOverloadedError', /overloaded|service ?unavailable|at capacity/],
  ['ApiConnectionClosedError', /connection closed mid-response|stream closed before completion|premature close/],
  ['ApiResponseStalledError', /response stalled mid-stream/],
  ['OutputTokenExceededError', /exceeded .{0,80}output token maximum|max_output_tokens/],
  [
    'ContextWindowExceededError',
    /context_length_exceeded|context window|maximum context length|prompt is too long|input token count exceeds/,
  ],
  ['AgentSafetyRefusalError', /safety measures that flagged|content_filter|flagged for possible/],
  ['AgentAuthenticationError', /not logged in|invalid api key|invalid_api_key|authentication_error|unauthorized/],
  [
    'ModelNotFoundError',
    /cannot use this model|model_not_found|model (?!metadata).{0,80}(not found|does not exist)|issue with the selected model/,
  ],
  ['ApiProviderResourceNotFoundError', /trouble finding the resource you requested/],
  [
    'NetworkConnectionError',
    /econnrefused|econnreset|enotfound|etimedout|could not resolve host|connection refused|ssl.{0,40}error|network is unreachable/,
  ],
  ['UnknownApiError', /\bapi ?error\b/],
] as const

type AgentExitName = (typeof patterns)[number][0] | 'NonZeroAgentExitCodeError'

/** Whatever an endless program printed before the end says nothing about the end. */
const looksBack = 200_000

/** The name of a failure by the output of the program: the match nearest to the end wins, of equal ones the first in the list. */
export function classifyOutput(output: string): AgentExitName {
  const text = output.slice(-looksBack)
  let best: { name: AgentExitName; end: number } = { name: 'NonZeroAgentExitCodeError', end: -1 }
  for (const [name, pattern] of patterns) {
    for (const found of text.matchAll(new RegExp(pattern, 'gi'))) {
      const end = found.index + found[0].length
      if (end > best.end) best = { name, end }
    }
  }
  return best.name
}

// The model's side failed: not the answer's fault.
const refusals: readonly AgentExitName[] = [
  'AgentAuthenticationError',
  'ModelNotFoundError',
  'ApiProviderResourceNotFoundError',
]
const answers: readonly AgentExitName[] = [
  'NonZeroAgentExitCodeError',
  'OutputTokenExceededError',
  'ContextWindowExceededError',
  'AgentSafetyRefusalError',
]

/** The error of a program that failed; `how` says how it ended. */
function exitError(how: string, output: string, cause?: unknown): EvsysError {
  const name = classifyOutput(output)
  const code = answers.includes(name)
    ? 'PLUGIN_FAILED'
    : refusals.includes(name)
      ? 'INFERENCE_REFUSED'
      : 'INFERENCE_FAILED'
  const last = output.trim().split('\n').slice(-5).join('\n').slice(-600)
  const message = `${name}: the program of the agent ${how}${last === '' ? '' : `: ${last}`}`
  const error = new EvsysError(code, message, cause === undefined ? {} : { cause })
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}
