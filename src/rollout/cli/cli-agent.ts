// An agent that is a program of its own: any client of OpenAI or Anthropic. It talks to the capture proxy as if that were its model.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { defineAgent, EvsysError } from '../../kernel/index.ts'
import { limitParams } from '../agents/agent-params.ts'
import { openAgentTrial } from '../proxy/open-agent-trial.ts'
import { serveProxy } from '../proxy/serve-proxy.ts'
import { portMark } from './bridge-script.ts'
import { exitError } from './classify-failure.ts'
import { cliCommand } from './cli-command.ts'
import type { CliEnd } from './cli-run.ts'
import { runInEnvironment } from './run-in-environment.ts'
import { runOnHost } from './run-on-host.ts'

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
    model: z.string().min(1).default('policy').describe('What the program is told its model is called.'),
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
      throw new EvsysError(
        'SANDBOX_MISSING',
        'the agent "cli" runs its program in an environment, and the task has none',
        {
          fix: 'give the task an environment, or allow `run_on: host` for a program that you trust.',
        },
      )
    }
    await using server = await serveProxy()
    const opened = openAgentTrial(server, { policy, sampling, random: (...path) => random('cli', ...path), params })
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
