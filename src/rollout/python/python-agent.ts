// A Harbor agent written in Python. The class runs on this machine, as Harbor runs it; its commands run in the environment of the
// task, and its model is the policy, through the capture proxy.
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { type OpenEnvironment, pythonClass } from '../../contracts/index.ts'
import { defineAgent, EvsysError, temporaryFolder } from '../../kernel/index.ts'
import { limitParams } from '../agents/conversation.ts'
import { openAgentSession, serveProxy } from '../proxy/serve-proxy.ts'
import { runShim, type ShimCall } from './shim-process.ts'

const ExecArgs = z.object({
  command: z.string(),
  cwd: z.string().nullish(),
  env: z.record(z.string(), z.string()).nullish(),
  timeout_sec: z.number().positive().nullish(),
  user: z.union([z.string(), z.int()]).nullish(),
})
const CopyArgs = z.object({ source: z.string(), target: z.string() })

export const python = defineAgent({
  kind: 'python',
  summary: 'A Harbor agent class written in Python, such as my_project.agents:ToolUseAgent.',
  params: z.strictObject({
    ...limitParams({ maxTurns: 100 }),
    import_path: z
      .string()
      .refine((text) => pythonClass(text) !== undefined, 'expected a class such as package.module:Class')
      .describe('The class: package.module:Class, or package.module.Class.'),
    kwargs: z.record(z.string(), z.unknown()).default({}).describe('Further arguments of the class.'),
    python: z.string().min(1).default('python3').describe('The interpreter, 3.10 or newer.'),
    path: z.array(z.string()).default(['.']).describe('Folders in which modules are looked for first.'),
    env: z.record(z.string(), z.string()).default({}).describe('Further environment variables.'),
    model: z.string().min(1).default('openai/policy').describe('`model_name` of the agent.'),
    sampling: z
      .enum(['trial', 'client'])
      .default('trial')
      .describe('Whose temperature counts. Training needs that of the trial.'),
  }),
  async run({ params, task, policy, environment, sampling, random, signal, logsDir }) {
    const importPath = pythonClass(params.import_path) ?? params.import_path
    await using server = await serveProxy()
    const opened = openAgentSession(server, {
      policy,
      sampling,
      random: (...path) => random('python', ...path),
      params,
    })
    using trial = opened.trial
    const ending = AbortSignal.any([signal, opened.ended])
    const own = temporaryFolder('agent')
    try {
      const { failure, log } = await runShim({
        python: params.python,
        importPath,
        start: {
          import_path: importPath,
          kwargs: params.kwargs,
          path: params.path.map((each) => resolve(each)),
          logs_dir: logsDir ?? own,
          model_name: params.model,
          instruction: task.instruction,
          workdir: environment?.workdir ?? '/',
          session_id: task.task_id,
        },
        env: {
          OPENAI_BASE_URL: trial.openaiUrl,
          OPENAI_API_BASE: trial.openaiUrl,
          OPENAI_API_KEY: trial.key,
          ANTHROPIC_BASE_URL: trial.anthropicUrl,
          ANTHROPIC_API_KEY: trial.key,
          ...params.env,
        },
        answer: (call) => answered(call, environment, ending),
        signal: ending,
      })
      if (logsDir !== undefined) await writeFile(join(logsDir, 'python.txt'), log.replaceAll(trial.key, '[REDACTED]'))
      if (failure !== undefined) {
        const name = /^[A-Z]\w{2,60}(Error|Exception)$/.test(failure.name) ? failure.name : 'RuntimeError'
        const cause = trial.failure
        throw new EvsysError('PLUGIN_FAILED', `${name}: ${failure.message}`, cause === undefined ? {} : { cause })
      }
      return { output: trial.turns.at(-1)?.text ?? '' }
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  },
})

async function answered(
  { method, args }: ShimCall,
  environment: OpenEnvironment | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  if (environment === undefined) throw new Error('the task has no environment')
  if (method !== 'exec') {
    const { source, target } = CopyArgs.parse(args)
    await (method === 'upload' ? environment.upload(source, target) : environment.download(source, target))
    return undefined
  }
  const { command, cwd, env, timeout_sec, user } = ExecArgs.parse(args)
  const { exitCode, stdout, stderr, limitHit } = await environment.exec(
    {
      argv: ['bash', '-c', command],
      cwd: cwd ?? undefined,
      env: env ?? undefined,
      user: user ?? undefined,
      limits: timeout_sec == null ? undefined : { timeoutMs: timeout_sec * 1000 },
    },
    signal,
  )
  if (limitHit === 'timeoutMs') throw new Error(`the command was not done after ${timeout_sec} s`)
  return { stdout, stderr, return_code: exitCode ?? 137 }
}
