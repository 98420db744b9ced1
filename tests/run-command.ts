// Runs a program in a folder and keeps what it said, so that a failing test shows it.

import { spawn } from 'node:child_process'

export interface CommandResult {
  status: number | null
  stdout: string
  stderr: string
}

export interface CommandOptions {
  cwd: string
  env?: NodeJS.ProcessEnv | undefined
  /** Milliseconds after which it is ended; absent: never. */
  timeout?: number | undefined
}

export async function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  return await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, stdout, stderr }))
  })
}

/** Runs a command that has to succeed; its whole output is in the error when it does not. */
export async function mustRun(command: string, args: readonly string[], options: CommandOptions): Promise<string> {
  const { status, stdout, stderr } = await runCommand(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} exited with ${status}\n${stdout}\n${stderr}`)
  return stdout
}

/** Without what the command line says of waits alone: on a busy machine anything may take long. */
export function unhurried(stderr: string): string {
  return stderr.replaceAll(/^(?:still at it after \d+ s: |\S+: no news for \d+ s: ).*\n/gm, '')
}
