// Sessions of the toy world in processes of their own, which may be killed.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ErrorRecord } from '../../src/contracts/index.ts'
import { type KeptSession, keptSession } from '../../src/research/bench/chaos/kept-session.ts'
import { startChild } from '../start-child.ts'

export interface SessionFolder {
  readonly record: string
  readonly calls: string
  /** Folder of the cassette. */
  readonly tapes: string
}

export function sessionFolder(dir: string, tapes: string): SessionFolder {
  return { record: join(dir, 'evsys.db'), calls: join(dir, 'calls'), tapes }
}

/** Runs a session to its end, or until it kills itself. */
export async function playSession(
  { record, calls, tapes }: SessionFolder,
  flags: readonly string[] = [],
): Promise<{ code: number | string; lines: string[]; operations: number; error: ErrorRecord | undefined }> {
  await using child = startChild('run-research', [record, calls, tapes, ...flags])
  const lines: string[] = []
  let operations = 0
  for (let line = await child.line().catch(() => undefined); line !== undefined; ) {
    const [at = '', ...rest] = line.split(' ')
    operations = Number(at)
    lines.push(rest.join(' '))
    line = await child.line().catch(() => undefined)
  }
  const said = lines.find((line) => line.startsWith('error '))?.slice('error '.length)
  const error = said === undefined ? undefined : ErrorRecord.parse(JSON.parse(said))
  return { code: await child.exit(), lines, operations, error }
}

export interface Kept extends KeptSession {
  /** Calls that were really sent. */
  readonly sent: number
}

export async function keptOf({ record, calls }: SessionFolder): Promise<Kept> {
  const sent = existsSync(calls) ? readFileSync(calls, 'utf8').split('\n').length - 1 : 0
  return { ...(await keptSession(record)), sent }
}
