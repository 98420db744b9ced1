// A program on this machine, outside any sandbox: for those who trust it and say so. It sees a scrubbed environment, an empty folder,
// and is ended with all that it started.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EvsysError, messageOf, onAbort } from '../../kernel/index.ts'
import { boundedText } from './bounded-text.ts'
import type { CliEnd, CliRun } from './cli-run.ts'

const passed = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']

export async function runOnHost({ argv, env, stdin, timeoutMs, outputBytes, signal }: CliRun): Promise<CliEnd> {
  signal.throwIfAborted()
  const folder = await mkdtemp(join(tmpdir(), 'evsys-agent-'))
  const [command = '', ...args] = argv
  const own = Object.fromEntries(
    passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
  const stdout = boundedText(outputBytes)
  const stderr = boundedText(outputBytes)
  try {
    const child = spawn(command, args, {
      cwd: folder,
      env: { ...own, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const endAll = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL') // its group: all that it started
      } catch {
        // it is gone already
      }
    }
    let isLate = false
    const deadline = setTimeout(() => {
      isLate = true
      endAll()
    }, timeoutMs)
    const stopListening = onAbort(signal, endAll)
    try {
      child.stdout.on('data', (data: Buffer) => stdout.add(data))
      child.stderr.on('data', (data: Buffer) => stderr.add(data))
      child.stdin.on('error', () => {}) // a program that reads nothing
      child.stdin.end(stdin)
      const [exitCode, killed] = await new Promise<[number | null, string | null]>((resolve, reject) => {
        child.once('error', (cause) => {
          reject(
            new EvsysError('PLUGIN_FAILED', `the program of the agent cannot be started: ${messageOf(cause)}`, {
              cause,
              fix: 'check `command`: the program must be on the PATH.',
            }),
          )
        })
        // Of what it left behind the streams may stay open: it is over when it is.
        child.once('exit', (code, by) => {
          endAll()
          child.once('close', () => resolve([code, by]))
        })
      })
      signal.throwIfAborted()
      if (isLate)
        throw new EvsysError('PLUGIN_FAILED', `the program of the agent was not done after ${timeoutMs / 1000} s`)
      return { exitCode, signal: killed, stdout: stdout.text(), stderr: stderr.text() }
    } finally {
      clearTimeout(deadline)
      stopListening()
      endAll()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
