import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { sourceLoader } from '../../kernel/index.ts'
import { takeEngineProcess } from './early-engine-process.ts'
import type { FromEngine, StartHome, ToEngine } from './engine-messages.ts'
import { messagePipe } from './message-pipe.ts'

/** Starts a process for an engine: native code that fails, or takes all memory, ends it and nothing else. */
export const startEngineProcess: StartHome = (module, take) => {
  const extension = extname(import.meta.url)
  const folder = mkdtempSync(join(tmpdir(), 'evsys-engine-'))
  const child = takeEngineProcess(extension === '.ts' ? ['--import', sourceLoader()] : [])
  let complaints = ''
  child.stderr?.on('data', (text: Buffer) => {
    complaints = `${complaints}${text}`.slice(-1000)
  })
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(`it did not start (${error.message})`))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : reason(code, signal, complaints)))
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
  child.send({ module, folder })
  const pipe = messagePipe<ToEngine, FromEngine>(child, folder, take)
  return { send: pipe.send, ended, kill: () => void child.kill('SIGKILL') }
}

function reason(code: number | null, signal: NodeJS.Signals | null, complaints: string): string {
  const last = complaints.trim()
  if (signal === 'SIGKILL') return 'it was killed, as the system does where memory runs out'
  return `${signal ?? `exit code ${code}`}${last === '' ? '' : `: ${last}`}`
}
