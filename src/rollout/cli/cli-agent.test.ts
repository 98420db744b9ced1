import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { codeBlocks } from '../../../tests/readme.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type {
  EnvironmentCommand,
  ExecResult,
  GenerateRequest,
  HarborTask,
  OpenEnvironment,
  OpenInferenceClient,
  SandboxProcess,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { LimitReached } from '../policy/limit-reached.ts'
import { python } from '../python/python-agent.ts'
import { classifyOutput, cli } from './cli-agent.ts'
import { cliCommand } from './cli-command.ts'

const folder = temporaryFolders()
const sampling = { maxTokens: 64, temperature: 1 }
const task: HarborTask = {
  task_id: 't',
  instruction: "say 'hi' to $USER",
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'x', params: {} },
  metadata: {},
}

/** The contract of environments, kept by plain processes of this machine. */
function hostEnvironment(env: Record<string, string> = {}): OpenEnvironment {
  const start = async ({ argv, stdin }: EnvironmentCommand, signal: AbortSignal): Promise<SandboxProcess> => {
    const [command = '', ...args] = argv.map((word) => (word === 'node' ? process.execPath : word))
    const child = spawn(command, args, {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal,
    })
    child.on('error', () => {})
    child.stdin.on('error', () => {})
    const out = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const) child[stream].on('data', (data) => (out[stream] += data))
    if (stdin !== undefined) child.stdin.end(stdin)
    const exit = new Promise<ExecResult>((resolve) => {
      child.once('close', (exitCode, killed) => resolve({ ...out, exitCode, signal: killed, truncated: false }))
    })
    async function* output() {
      for await (const data of child.stdout) yield { stream: 'stdout' as const, text: String(data) }
    }
    return {
      output: output(),
      write: (text) =>
        new Promise((resolve, reject) => child.stdin.write(text, (error) => (error ? reject(error) : resolve()))),
      end: async () => void child.stdin.end(),
      exit,
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL')
        await exit
      },
    }
  }
  const nothing = () => Promise.reject(new Error('not part of this test'))
  return {
    level: 'process',
    workdir: '/',
    async exec(command, signal) {
      const process = await start({ ...command, stdin: '' }, signal)
      return process.exit
    },
    spawn: start,
    ...{ read: nothing, write: nothing, upload: nothing, download: nothing, empty: nothing },
    killAll: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
}

function scripted(script: (request: GenerateRequest, number: number) => string | Error) {
  const asked: GenerateRequest[] = []
  const policy: OpenInferenceClient = {
    async generate(request) {
      asked.push(request)
      const given = script(request, asked.length - 1)
      if (typeof given !== 'string') throw given
      return { text: given, stopReason: 'stop', usage: { promptTokens: 1, completionTokens: 1, latencyS: 0 } }
    },
  }
  return { policy, asked }
}

/** A program that asks twice by the wire of OpenAI, then prints the answers. */
const program = `
const [url, key, model, instruction] = process.argv.slice(1)
const messages = [{ role: 'user', content: instruction }]
const ask = async () => {
  const response = await fetch(url + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, temperature: 0 }),
  })
  const body = await response.json()
  if (!response.ok) { console.error('API Error: ' + response.status + ' ' + body.error.message); process.exit(3) }
  messages.push(body.choices[0].message)
  return body.choices[0].message.content
}
;(async () => {
  const first = await ask()
  messages.push({ role: 'user', content: 'and now?' })
  console.log(first + ' | ' + (await ask()))
})()
`
const command = ['node', '-e', program, '{base_url}', '{api_key}', '{model}', '{instruction}']
const hostCommand = [process.execPath, ...command.slice(1)]

function context(
  params: Record<string, unknown>,
  policy: OpenInferenceClient,
  environment?: OpenEnvironment,
  signal?: AbortSignal,
) {
  const made = pluginContext(cli, { command, ...params }, signal === undefined ? {} : { signal })
  return { ...made, task, policy, sampling, maxTurns: 10, ...(environment === undefined ? {} : { environment }) }
}

describe('a program as an agent', () => {
  it('reaches the policy from inside an environment without network of ours, by its own loopback (HAR-77, EXT-1)', async () => {
    const { policy, asked } = scripted((_, number) => `answer ${number}`)
    const logsDir = folder()
    const given = await cli.run({ ...context({}, policy, hostEnvironment()), logsDir })
    expect(given.output).toBe('answer 0 | answer 1\n')
    expect(asked.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      [task.instruction],
      [task.instruction, 'answer 0', 'and now?'],
    ])
    expect(asked.every(({ temperature }) => temperature === 1)).toBe(true)
    const log = readFileSync(join(logsDir, 'cli.txt'), 'utf8')
    expect(log).toBe('answer 0 | answer 1\n\n[exit] 0\n')
  })

  it('runs on this machine only where that is allowed by name (EXT-1)', async () => {
    const { policy } = scripted((_, number) => `answer ${number}`)
    await expect(cli.run(context({}, policy))).rejects.toMatchObject({ code: 'SANDBOX_MISSING' })
    const given = await cli.run(context({ command: hostCommand, run_on: 'host', output: 'last_answer' }, policy))
    expect(given.output).toBe('answer 1')
  })

  it('fails under the name that Harbor gives, by what it printed last (EXT-2)', async () => {
    const { policy } = scripted(() => new EvsysError('INFERENCE_FAILED', 'p m: 529 overloaded', { retryable: true }))
    const error = await cli
      .run(context({ command: hostCommand, run_on: 'host' }, policy))
      .catch((cause: unknown) => cause)
    expect(error).toMatchObject({
      name: 'ApiOverloadedError',
      code: 'INFERENCE_FAILED',
      message: expect.stringMatching(/^ApiOverloadedError: the program of the agent ended with 3/),
      cause: expect.objectContaining({ message: 'p m: 529 overloaded' }),
    })
    const other = cli.run(context({ command: 'echo nothing to say; exit 4', run_on: 'host' }, policy))
    await expect(other).rejects.toMatchObject({ name: 'NonZeroAgentExitCodeError', code: 'PLUGIN_FAILED' })
    const missing = cli.run(context({ command: ['no-such-program'], run_on: 'host' }, policy))
    await expect(missing).rejects.toMatchObject({ message: expect.stringContaining('cannot be started') })
  })

  it('is ended when it goes on asking after the last turn, and when its rollout is cancelled (EXT-1)', async () => {
    const limit = scripted(() => new LimitReached('max_turns'))
    const stubborn = program.replace(/if \(!response\.ok\).*/, 'if (!response.ok) return ask()')
    const again = ['node', '-e', stubborn, ...command.slice(3)]
    const ended = cli.run(context({ command: again }, limit.policy, hostEnvironment()))
    await expect(ended).rejects.toThrow()
    expect(limit.asked.length).toBeGreaterThanOrEqual(3)
    const cancelling = new AbortController()
    const { policy } = scripted(() => {
      cancelling.abort(new Error('cancelled'))
      return 'x'
    })
    const waits = [process.execPath, '-e', `${program}; setInterval(() => {}, 1000)`, ...command.slice(3)]
    await expect(
      cli.run(context({ command: waits, run_on: 'host' }, policy, undefined, cancelling.signal)),
    ).rejects.toThrow('cancelled')
  })

  it('says what an environment without node lacks (EXT-1)', async () => {
    const bare = {
      ...hostEnvironment(),
      exec: async () => ({ exitCode: 1, signal: null, stdout: '', stderr: '', truncated: false }),
    }
    await expect(cli.run(context({}, scripted(() => '').policy, bare))).rejects.toMatchObject({
      code: 'SANDBOX_MISSING',
      fix: expect.stringContaining('install node'),
    })
  })
})

describe('docs/guides/external-agents.md', () => {
  it('shows params that are valid (EXT-1, EXT-3)', () => {
    const page = readFileSync(new URL('../../../docs/guides/external-agents.md', import.meta.url), 'utf8')
    const specs = codeBlocks(page, 'yaml').map((block) => parse(block).agent)
    expect(specs.map(({ kind }) => kind)).toEqual(['cli', 'cli', 'cli', 'python'])
    for (const [at, plugin] of [cli, cli, cli, python].entries())
      expect(plugin.params.safeParse(specs[at].params).success).toBe(true)
  })
})

describe('the command', () => {
  const values = {
    instruction: "it's $HOME; rm -rf",
    base_url: 'http://h/v1',
    anthropic_url: 'http://h',
    api_key: 'k',
    model: 'm',
  }

  it('is filled in: words as they are, a line with quotes (EXT-1)', () => {
    expect(cliCommand({ command: 'run --m {model} {instruction} {other}', env: { A: '{api_key}' } }, values)).toEqual({
      argv: ['sh', '-c', "run --m 'm' 'it'\\''s $HOME; rm -rf' {other}"],
      env: {
        OPENAI_BASE_URL: 'http://h/v1',
        OPENAI_API_BASE: 'http://h/v1',
        OPENAI_API_KEY: 'k',
        ANTHROPIC_BASE_URL: 'http://h',
        ANTHROPIC_API_KEY: 'k',
        A: 'k',
      },
    })
    expect(cliCommand({ command: ['{instruction}'], env: {} }, values).argv).toEqual([values.instruction])
  })

  it.each([
    ['Error: 429 Too Many Requests', 'ApiRateLimitError'],
    ["You've hit your usage limit", 'ApiUsageLimitError'],
    ['API Error: 500 Internal server error', 'ApiInternalServerError'],
    ['API Error: Overloaded', 'ApiOverloadedError'],
    ['API Error: Connection closed mid-response', 'ApiConnectionClosedError'],
    ['prompt is too long: 9 tokens > 8 maximum', 'ContextWindowExceededError'],
    ['Not logged in', 'AgentAuthenticationError'],
    ['Cannot use this model', 'ModelNotFoundError'],
    ["There's an issue with the selected model (policy). It may not exist", 'ModelNotFoundError'],
    ['warning: Model metadata for `policy` not found. Defaulting to fallback metadata', 'NonZeroAgentExitCodeError'],
    ['Not logged in · Please run /login', 'AgentAuthenticationError'],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'ApiRateLimitError'],
    ['connect ECONNREFUSED 127.0.0.1:1', 'NetworkConnectionError'],
    ['API Error: strange', 'UnknownApiError'],
    ['rate limit hit, retried fine\n...\nAPI Error: Overloaded', 'ApiOverloadedError'],
    ['segmentation fault', 'NonZeroAgentExitCodeError'],
  ])('that fails with %j is a %s (EXT-2)', (output, name) => {
    expect(classifyOutput(output)).toBe(name)
  })
})
