// What is run: the command of the params with its placeholders filled in.
import { rm } from 'node:fs/promises'
import { EvsysError, messageOf, runProgram, temporaryFolder } from '../../kernel/index.ts'

/** What placeholders stand for. */
interface CliValues {
  readonly instruction: string
  /** Address for clients of OpenAI, with `/v1`. */
  readonly base_url: string
  /** Address for clients of Anthropic. */
  readonly anthropic_url: string
  readonly api_key: string
  readonly model: string
}

interface CliCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A list is run as it is; a text by `sh`, with values quoted. Braces that name no value stay. */
export function cliCommand(
  { command, env }: { readonly command: string | readonly string[]; readonly env: Readonly<Record<string, string>> },
  values: CliValues,
): CliCommand {
  const argv =
    typeof command === 'string'
      ? ['sh', '-c', filled(command, values, quoted)]
      : command.map((part) => filled(part, values))
  return {
    argv,
    env: {
      // What clients look for when nothing else is said.
      OPENAI_BASE_URL: values.base_url,
      OPENAI_API_BASE: values.base_url,
      OPENAI_API_KEY: values.api_key,
      ANTHROPIC_BASE_URL: values.anthropic_url,
      ANTHROPIC_API_KEY: values.api_key,
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value, values)])),
    },
  }
}

function filled(text: string, values: CliValues, write = (value: string) => value): string {
  return text.replace(/\{(instruction|base_url|anthropic_url|api_key|model)\}/g, (_, name: keyof CliValues) =>
    write(values[name]),
  )
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}

/** A program of an agent and what it may take. */
export interface CliRun {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly timeoutMs: number
  /** How much of its output is kept, of each stream. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

export interface CliEnd {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

// A program on this machine, outside any sandbox: for those who trust it and say so. It sees a scrubbed environment, an empty folder,
// and is ended with all that it started.

const passed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']

export async function runOnHost(run: CliRun): Promise<CliEnd> {
  const { env, timeoutMs, signal } = run
  signal.throwIfAborted()
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const cwd = temporaryFolder('agent')
  try {
    const { isLate, ...end } = await runProgram({ ...run, cwd, env: { ...own, ...env } }).catch((cause: unknown) => {
      signal.throwIfAborted()
      throw new EvsysError('PLUGIN_FAILED', `the program of the agent cannot be started: ${messageOf(cause)}`, {
        cause,
        fix: 'check `command`: the program must be on the PATH.',
      })
    })
    if (!isLate) return end
    throw new EvsysError('PLUGIN_FAILED', `the program of the agent was not done after ${timeoutMs / 1000} s`)
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
