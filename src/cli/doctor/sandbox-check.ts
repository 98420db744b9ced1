// Where code that a model wrote would run on this machine: the strongest level that works, found out by running a command in it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import type { Check } from './check.ts'

export async function sandboxCheck(): Promise<Check> {
  const base = {
    name: 'sandbox',
    required: false,
    gives: 'tasks, verifiers and candidates that run code of a model',
  } as const
  const { openSandbox } = await import('../../sandbox/index.ts')
  const folder = await mkdtemp(join(tmpdir(), 'evsys-doctor-'))
  try {
    await using sandbox = await openSandbox({ stateDir: folder })
    const { memory, processes } = sandbox.limits
    return { ...base, status: 'ok', found: `${sandbox.level}; memory by ${memory}, processes by ${processes}` }
  } catch (error) {
    const fix = EvsysError.is(error) ? error.fix : undefined
    return { ...base, status: 'missing', found: messageOf(error), ...(fix === undefined ? {} : { get: fix }) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
