// The published package, as tests use it.

import { join } from 'node:path'
import { inject } from 'vitest'
import { type CommandOptions, type CommandResult, runCommand, unhurried } from '../run-command.ts'

/** Path of the tarball that `npm pack` makes of the working tree; packed once per run of the integration lane. */
export function packOnce(): string {
  return inject('tarball')
}

/** A folder in which the tarball is installed and nothing else. Tests share it: what is installed stays as it is. */
export function installedOnce(): string {
  return inject('consumer')
}

/** The program of the installed package. */
export function installedProgram(): string {
  return join(installedOnce(), 'node_modules', 'evsys', 'bin', 'evsys.js')
}

/** Runs the installed program. */
export async function runInstalled(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const result = await runCommand(process.execPath, [installedProgram(), ...args], options)
  return { ...result, stderr: unhurried(result.stderr) }
}
