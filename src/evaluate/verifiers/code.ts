import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { ExecResult, ExecSpec, Level, Mount, OpenEnvironment, Sandbox } from '../../contracts/index.ts'
import { defineVerifier, EvsysError, temporaryFolder } from '../../kernel/index.ts'

export const code = defineVerifier({
  kind: 'code',
  summary: 'Runs the code of the answer with the tests of the task in a sandbox: reward 1 if all of them pass.',
  params: z.strictObject({
    language: z
      .enum(['python', 'javascript', 'sh'])
      .default('python')
      .describe('Language of the answer and its tests.'),
    command: z
      .array(z.string())
      .min(1)
      .optional()
      .describe(
        'Program and arguments that test instead; the answer is the file `answer`, the tests `tests`. Exit code 0 passes.',
      ),
    tests: z
      .union([z.string(), z.array(z.string()).min(1)])
      .optional()
      .describe('Tests of every task; absent: what a task expects.'),
    reward: z.enum(['all', 'share']).default('all').describe('1 if all tests pass, or the share that does.'),
    timeout_s: z.number().positive().max(600).default(10).describe('Longest that code and tests may take.'),
    memory_mb: z.int().min(16).max(65_536).default(512).describe('Most memory that they may use.'),
  }),
  needs: { sandbox: true },
  async verify({ output, expected }, { params, signal, openSandbox }) {
    const tests = testsOf(params.tests ?? expected)
    const folder = temporaryFolder('code')
    try {
      const answer = params.command === undefined ? codeOf(output, params.language) : codeOf(output)
      const { passed, reason, level } = await runTests({ ...params, folder, answer, tests, openSandbox, signal })
      const share = passed / tests.length
      const info = { passed, tests: tests.length, sandbox: level, reason }
      return { reward: params.reward === 'share' || share === 1 ? share : 0, info }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
})

/** Throws SANDBOX_MISSING where answers cannot be run: known when a benchmark is opened, before anything else. */
export async function needSandbox(): Promise<void> {
  const folder = temporaryFolder('code')
  try {
    const sandbox = await openCodeSandbox(folder)
    await sandbox[Symbol.asyncDispose]()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Tasks that bring a container for a service which evsys does not use. */
export function noContainer(): EvsysError {
  return new EvsysError('SANDBOX_MISSING', 'tasks of kind "e2b" run in a service that evsys does not use', {
    fix: 'score them with the verifier `code`, or keep them as task folders, which run in the sandbox.',
  })
}

function testsOf(value: unknown): readonly string[] {
  const tests = z.union([z.string().transform((text) => [text]), z.array(z.string()).min(1)]).safeParse(value)
  if (tests.success && tests.data.every((test) => test.trim() !== '')) return tests.data
  throw new EvsysError('DATA_INVALID', 'the verifier "code" needs tests: a text or a list of texts', {
    fix: 'write them as `expected` of the task, or as `tests` of the verifier.',
  })
}

// An answer and its tests in a sandbox. What the answer does wrong, also running too long or taking too much, is a test that
// fails; what keeps the sandbox or an interpreter from working is thrown.

interface TestRun {
  readonly folder: string
  readonly language: 'python' | 'javascript' | 'sh'
  readonly command?: readonly string[] | undefined
  readonly answer: string
  readonly tests: readonly string[]
  readonly timeout_s: number
  readonly memory_mb: number
  /** Absent: it is opened here. */
  readonly openSandbox?: (() => Promise<OpenEnvironment>) | undefined
  readonly signal: AbortSignal
}

interface TestOutcome {
  readonly passed: number
  /** Why the first of the others failed. */
  readonly reason?: string | undefined
}

/** The outcome, and how well the code was shut in. */
type ShutInOutcome = TestOutcome & { readonly level: Level }

/** Node itself may lie in a folder that a sandbox does not show. */
const node = '/opt/evsys/node'

async function runTests(run: TestRun): Promise<ShutInOutcome> {
  await using place = run.openSandbox === undefined ? await openHere(run) : await openElsewhere(run.openSandbox)
  return { ...(await outcome(run, place)), level: place.level }
}

/** A sandbox with the folder /work, in which its files can be executed. */
interface Place extends AsyncDisposable {
  readonly level: Level
  write(name: string, text: string): Promise<void>
  exec(spec: ExecSpec, signal: AbortSignal): Promise<ExecResult>
}

async function openHere(run: TestRun): Promise<Place> {
  const work = join(run.folder, 'work')
  mkdirSync(work)
  const mounts: Mount[] = [{ source: work, target: '/work', writable: true }]
  if (run.language === 'javascript') mounts.push({ source: process.execPath, target: node })
  const sandbox = await openCodeSandbox(join(run.folder, 'state'), mounts)
  return {
    level: sandbox.level,
    write: async (name, text) => writeFileSync(join(work, name), text, { mode: 0o755 }),
    exec: (spec, signal) => sandbox.exec(spec, signal),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  }
}

async function openElsewhere(open: () => Promise<OpenEnvironment>): Promise<Place> {
  const held = await open()
  return {
    level: held.level,
    write: (name, text) => held.write(`/work/${name}`, Buffer.from(text)),
    exec: (spec, signal) => held.exec(spec, signal),
    [Symbol.asyncDispose]: () => held[Symbol.asyncDispose](),
  }
}

async function outcome(run: TestRun, place: Place): Promise<TestOutcome> {
  if (run.command !== undefined) return await byCommand(run, run.command, place)
  return run.language === 'sh' ? await byShell(run, place) : await byDriver(run, place)
}

const Reported = z.object({ word: z.string(), passed: z.int().min(0), reason: z.string().nullish() })

// Programs that load an answer and try its tests, each in turn, in one interpreter. Orders come by stdin and are read before the
// answer runs; what it prints is dropped. How many tests passed is reported together with a word that the answer was not given, so
// that an answer which ends the process early has passed none. It shares the interpreter with its tests all the same: code that
// goes looking for the word finds it.
const drivers = fileURLToPath(new URL('../../../templates/verify', import.meta.url))
const driver = (file: string) => readFile(join(drivers, file), 'utf8')

async function byDriver(run: TestRun, place: Place): Promise<TestOutcome> {
  const isPython = run.language === 'python'
  const argv = isPython ? ['python3', '-I', '-c', await driver('driver.py')] : [node, '-e', await driver('driver.cjs')]
  const word = randomBytes(16).toString('hex')
  const stdin = JSON.stringify({ word, answer: run.answer, tests: run.tests })
  const result = await execute(run, place, argv, stdin)
  const reported = Reported.safeParse(parsed(result.stdout))
  if (!reported.success || reported.data.word !== word) return { passed: 0, reason: endOf(result) }
  const { passed, reason } = reported.data
  return { passed: Math.min(passed, run.tests.length), reason: reason ?? undefined }
}

/** Every test is a script beside `answer.sh`, in a separate process. */
async function byShell(run: TestRun, place: Place): Promise<TestOutcome> {
  let passed = 0
  let reason: string | undefined
  for (const [i, test] of run.tests.entries()) {
    await place.write('answer.sh', run.answer)
    const result = await execute(run, place, ['/bin/sh', '-c', test])
    if (result.exitCode === 0) passed += 1
    else reason ??= `test ${i + 1}: ${endOf(result)}`
  }
  return { passed, reason }
}

async function byCommand(run: TestRun, command: readonly string[], place: Place): Promise<TestOutcome> {
  await place.write('answer', run.answer)
  await place.write('tests', run.tests.join('\n'))
  const result = await execute(run, place, command)
  return result.exitCode === 0 ? { passed: run.tests.length } : { passed: 0, reason: endOf(result) }
}

async function execute(run: TestRun, place: Place, argv: readonly string[], stdin = ''): Promise<ExecResult> {
  const [program = ''] = argv
  const limits = {
    timeoutMs: run.timeout_s * 1000,
    memoryBytes: run.memory_mb * 2 ** 20,
    outputBytes: 64_000,
    processes: 64,
    diskBytes: 64 * 2 ** 20,
  }
  const result = await place.exec({ argv, cwd: '/work', stdin, limits }, run.signal)
  // The shell that starts a command says so before anything of the answer runs.
  if (result.exitCode === 127 && result.stderr.includes(`${program}: not found`))
    throw new EvsysError('SANDBOX_FAILED', `the sandbox has no program ${program}`, {
      fix: `install it below /usr: a sandbox shows what lies there. Level: ${place.level}.`,
    })
  return result
}

function endOf({ exitCode, signal, limitHit, stderr }: ExecResult): string {
  if (limitHit !== undefined) return `ended at its limit: ${limitHit}`
  const last = stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
  return `ended with ${signal ?? `exit code ${exitCode}`}${last === '' ? ', before its tests were through' : `: ${last}`}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '')
  } catch {
    return undefined
  }
}

/** Loaded only where answers are code. */
async function openCodeSandbox(stateDir: string, mounts: readonly Mount[] = []): Promise<Sandbox> {
  const { openSandbox } = await import('../../sandbox/index.ts')
  return await openSandbox({ stateDir, mounts })
}

// The code in an answer: models put it between fences, with words around it.
const names: Readonly<Record<string, readonly string[]>> = {
  python: ['python', 'py', 'python3'],
  javascript: ['javascript', 'js', 'node', 'mjs', 'cjs'],
  sh: ['sh', 'bash', 'shell', 'console'],
}

/** The last block of the language, else the last block, else the whole answer. */
export function codeOf(output: string, language?: string): string {
  const blocks: { name: string; text: string }[] = []
  let open: { fence: string; name: string; lines: string[] } | undefined
  for (const line of output.split('\n')) {
    const [, fence = '', name = ''] = /^\s*(`{3,}|~{3,})\s*([^\s`]*)/.exec(line) ?? []
    if (open === undefined && fence !== '') open = { fence, name: name.toLowerCase(), lines: [] }
    else if (open !== undefined && fence.startsWith(open.fence) && name === '') {
      blocks.push({ name: open.name, text: open.lines.join('\n') })
      open = undefined
    } else open?.lines.push(line)
  }
  // An answer that was cut short ends inside its block.
  if (open !== undefined) blocks.push({ name: open.name, text: open.lines.join('\n') })
  const fitting = blocks.filter(({ name }) => language !== undefined && names[language]?.includes(name) === true)
  return (fitting.at(-1) ?? blocks.at(-1))?.text ?? output
}
