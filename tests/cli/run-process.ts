// The command line as users run it: bin/evsys.js in a process of its own, over the compiled dist/.
import { spawn } from 'node:child_process'
import { unhurried } from '../run-command.ts'
import { root } from './run-main.ts'

export const evsysBin = `${root}bin/evsys.js`

export interface ProcessResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface ProcessOptions {
  cwd?: string | undefined
  env?: Record<string, string> | undefined
  /** Null leaves it open, as a terminal is. */
  stdin?: string | null | undefined
  nodeArgs?: readonly string[] | undefined
}

/** Runs `evsys` with arguments and waits for its end. */
export function runProcess(args: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
  const { cwd = root, env = {}, stdin, nodeArgs = [] } = options
  const child = spawn(process.execPath, [...nodeArgs, evsysBin, ...args], { cwd, env: { ...cleanEnv(), ...env } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  child.stdin.on('error', () => {}) // a command that reads nothing closes it early
  if (stdin !== null) child.stdin.end(stdin ?? '')
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr: unhurried(stderr) }))
  })
}

/** The environment without what a test runner adds. */
export function cleanEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(VITEST|NODE_OPTIONS|NODE_ENV|FORCE_COLOR|NO_COLOR|EVSYS_)/.test(name),
  )
  return Object.fromEntries(own.map(([name, value]) => [name, value ?? '']))
}
