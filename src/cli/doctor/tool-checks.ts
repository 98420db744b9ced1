// Programs that evsys can use when they are there. None of them is required.
import { execFile } from 'node:child_process'
import type { CommandContext } from '../command-context.ts'
import type { Check } from './check.ts'

interface Tool {
  readonly name: string
  /** Command lines to try in order; the first that works counts. */
  readonly tries: readonly (readonly [string, ...string[]])[]
  readonly gives: string
  readonly get: string
  /** How to mend it when it is there and does not work. */
  readonly mend?: string
}

/** A program that hangs (a container engine whose service is gone) is as good as none. */
const timeoutMs = 5_000

const tools: readonly Tool[] = [
  {
    name: 'git',
    tries: [['git', '--version']],
    gives: 'the commit of your code in the record of every experiment',
    get: 'install git with your package manager, e.g. `apt install git`',
  },
  {
    name: 'bubblewrap',
    // A version says little: whether it may make namespaces here is the question.
    tries: [['bwrap', '--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', 'bwrap', '--version']],
    gives: 'a sandbox for code that a model wrote, without containers (Linux)',
    get: '`apt install bubblewrap`',
    mend: 'allow user namespaces: `sysctl kernel.unprivileged_userns_clone=1`, or run the container with that right',
  },
  {
    name: 'docker',
    tries: [['docker', 'version', '--format', 'server {{.Server.Version}}']],
    gives: 'tasks that bring their own container, and the strongest sandbox',
    get: 'https://docs.docker.com/engine/install',
    mend: 'start the service, and add your user to the group `docker`',
  },
  {
    name: 'C compiler',
    tries: [
      ['cc', '--version'],
      ['clang', '--version'],
      ['gcc', '--version'],
    ],
    gives: 'native kernels built for this processor; without it the portable ones are used',
    get: '`apt install gcc`, or the command line tools of Xcode',
  },
  {
    name: 'python',
    tries: [
      ['python3', '--version'],
      ['python', '--version'],
    ],
    gives: 'the optional torch worker, and tasks whose tests are Python',
    get: '`apt install python3`, or https://www.python.org/downloads',
  },
]

/** Looks for every tool at once. */
export async function toolChecks({ env, signal }: CommandContext): Promise<Check[]> {
  return await Promise.all(tools.map((tool) => checkTool(tool, env, signal)))
}

async function checkTool(tool: Tool, env: CommandContext['env'], signal: AbortSignal): Promise<Check> {
  const { name, gives, get, mend } = tool
  let failure: string | undefined
  for (const argv of tool.tries) {
    const answer = await ask(argv, env, signal)
    if ('version' in answer) return { name, status: 'ok', required: false, found: answer.version, gives }
    failure ??= answer.failure
  }
  return failure === undefined
    ? { name, status: 'missing', required: false, found: 'not found', gives, get }
    : { name, status: 'broken', required: false, found: `does not work: ${failure}`, gives, get: mend ?? get }
}

type Answer = { readonly version: string } | { readonly failure: string | undefined }

function ask(
  [program, ...args]: readonly [string, ...string[]],
  env: CommandContext['env'],
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env },
      signal,
      timeout: timeoutMs,
      killSignal: 'SIGKILL' as const,
      maxBuffer: 1_000_000,
    }
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null) return resolve({ version: firstLine(stdout) || 'found' })
      if (error.code === 'ENOENT') return resolve({ failure: undefined })
      resolve({ failure: error.killed === true ? 'it does not answer' : firstLine(stderr) || error.message })
    })
  })
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0]?.trim() ?? ''
}
