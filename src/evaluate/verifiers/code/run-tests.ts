// An answer and its tests in a sandbox. What the answer does wrong, also running too long or taking too much, is a test that
// fails; what keeps the sandbox or an interpreter from working is thrown.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { ExecResult, Level, Mount, Sandbox } from '../../../contracts/index.ts'
import { EvsysError } from '../../../kernel/index.ts'
import { javascriptDriver, pythonDriver } from './drivers.ts'

export interface TestRun {
  readonly folder: string
  readonly language: 'python' | 'javascript' | 'sh'
  readonly command?: readonly string[] | undefined
  readonly answer: string
  readonly tests: readonly string[]
  readonly timeout_s: number
  readonly memory_mb: number
  readonly signal: AbortSignal
}

export interface TestOutcome {
  readonly passed: number
  /** Why the first of the others failed. */
  readonly reason?: string
}

/** The outcome, and how well the code was shut in. */
export type ShutInOutcome = TestOutcome & { readonly level: Level }

/** Node itself may lie in a folder that a sandbox does not show. */
const node = '/opt/evsys/node'

export async function runTests(run: TestRun): Promise<ShutInOutcome> {
  const work = join(run.folder, 'work')
  mkdirSync(work)
  const mounts: Mount[] = [{ source: work, target: '/work', writable: true }]
  if (run.language === 'javascript') mounts.push({ source: process.execPath, target: node })
  await using sandbox = await openCodeSandbox(join(run.folder, 'state'), mounts)
  return { ...(await outcome(run, work, sandbox)), level: sandbox.level }
}

async function outcome(run: TestRun, work: string, sandbox: Sandbox): Promise<TestOutcome> {
  if (run.command !== undefined) return await byCommand(run, run.command, work, sandbox)
  return run.language === 'sh' ? await byShell(run, work, sandbox) : await byDriver(run, sandbox)
}

const Told = z.object({ word: z.string(), passed: z.int().min(0), reason: z.string().nullish() })

async function byDriver(run: TestRun, sandbox: Sandbox): Promise<TestOutcome> {
  const isPython = run.language === 'python'
  const argv = isPython ? ['python3', '-I', '-c', pythonDriver] : [node, '-e', javascriptDriver]
  const word = randomBytes(16).toString('hex')
  const stdin = JSON.stringify({ word, answer: run.answer, tests: run.tests })
  const result = await execute(run, sandbox, argv, stdin)
  const told = Told.safeParse(parsed(result.stdout))
  if (!told.success || told.data.word !== word) return { passed: 0, reason: endOf(result) }
  const { passed, reason } = told.data
  return { passed: Math.min(passed, run.tests.length), ...(typeof reason === 'string' ? { reason } : {}) }
}

/** Every test is a script beside `answer.sh`, in a process of its own. */
async function byShell(run: TestRun, work: string, sandbox: Sandbox): Promise<TestOutcome> {
  let passed = 0
  let reason: string | undefined
  for (const [i, test] of run.tests.entries()) {
    writeFileSync(join(work, 'answer.sh'), run.answer, { mode: 0o755 })
    const result = await execute(run, sandbox, ['/bin/sh', '-c', test])
    if (result.exitCode === 0) passed += 1
    else reason ??= `test ${i + 1}: ${endOf(result)}`
  }
  return { passed, ...(reason === undefined ? {} : { reason }) }
}

async function byCommand(
  run: TestRun,
  command: readonly string[],
  work: string,
  sandbox: Sandbox,
): Promise<TestOutcome> {
  writeFileSync(join(work, 'answer'), run.answer, { mode: 0o755 })
  writeFileSync(join(work, 'tests'), run.tests.join('\n'), { mode: 0o644 })
  const result = await execute(run, sandbox, command)
  return result.exitCode === 0 ? { passed: run.tests.length } : { passed: 0, reason: endOf(result) }
}

async function execute(run: TestRun, sandbox: Sandbox, argv: readonly string[], stdin = ''): Promise<ExecResult> {
  const [program = ''] = argv
  const limits = {
    timeoutMs: run.timeout_s * 1000,
    memoryBytes: run.memory_mb * 2 ** 20,
    outputBytes: 64_000,
    processes: 64,
    diskBytes: 64 * 2 ** 20,
  }
  const result = await sandbox.exec({ argv, cwd: '/work', stdin, limits }, run.signal)
  // The shell that starts a command says so before anything of the answer runs.
  if (result.exitCode === 127 && result.stderr.includes(`${program}: not found`))
    throw new EvsysError('SANDBOX_FAILED', `the sandbox has no program ${program}`, {
      fix: `install it below /usr: a sandbox shows what lies there. Level: ${sandbox.level}.`,
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
export async function openCodeSandbox(stateDir: string, mounts: readonly Mount[] = []): Promise<Sandbox> {
  const { openSandbox } = await import('../../../sandbox/index.ts')
  return await openSandbox({ stateDir, mounts })
}
