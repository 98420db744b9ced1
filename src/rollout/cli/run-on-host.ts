// A program on this machine, outside any sandbox: for those who trust it and say so. It sees a scrubbed environment, an empty folder,
// and is ended with all that it started.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EvsysError, messageOf, runProgram } from '../../kernel/index.ts'
import type { CliEnd, CliRun } from './cli-run.ts'

const passed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']

export async function runOnHost(run: CliRun): Promise<CliEnd> {
  const { env, timeoutMs, signal } = run
  signal.throwIfAborted()
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const cwd = await mkdtemp(join(tmpdir(), 'evsys-agent-'))
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
