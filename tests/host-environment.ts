// An environment of this machine itself, for tests of what happens in one: a folder, and commands that start there. It shuts nothing in.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EnvironmentCommand, ExecResult, OpenEnvironment, SandboxProcess } from '../src/contracts/index.ts'

/** Commands run with bash’s own PATH, in `workdir`. */
export function hostEnvironment(workdir: string): OpenEnvironment {
  const running = new Set<ChildProcess>()
  const start = ({ argv: [command = '', ...args], env = {}, cwd = workdir }: EnvironmentCommand): ChildProcess => {
    const child = spawn(command, args, { cwd, env: { PATH: process.env.PATH, HOME: workdir, ...env }, detached: true })
    running.add(child)
    child.on('close', () => running.delete(child))
    return child
  }
  const killAll = async () => {
    for (const child of running) kill(child)
  }
  return {
    level: 'process',
    workdir,
    async exec(command) {
      const child = start(command)
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        kill(child)
      }, command.limits?.timeoutMs ?? 30_000)
      const result = await resultOf(child)
      clearTimeout(timer)
      return isLate ? { ...result, limitHit: 'timeoutMs' } : result
    },
    async spawn(command): Promise<SandboxProcess> {
      const child = start(command)
      const exit = resultOf(child)
      return {
        output: outputOf(child),
        exit,
        write: (text) => new Promise((resolve) => child.stdin?.write(text, () => resolve())),
        async end() {
          child.stdin?.end()
        },
        async [Symbol.asyncDispose]() {
          kill(child)
          await exit
        },
      }
    },
    read: (path) => readFile(join(workdir, path)),
    write: (path, bytes) => writeFile(join(workdir, path), bytes),
    upload: () => Promise.reject(new Error('nothing is uploaded here')),
    download: () => Promise.reject(new Error('nothing is downloaded here')),
    async empty(path) {
      await rm(path, { recursive: true, force: true })
      await mkdir(path)
    },
    killAll,
    [Symbol.asyncDispose]: killAll,
  }
}

function resultOf(child: ChildProcess): Promise<ExecResult> {
  let [stdout, stderr] = ['', '']
  child.stdout?.on('data', (bytes) => {
    stdout += String(bytes)
  })
  child.stderr?.on('data', (bytes) => {
    stderr += String(bytes)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr, truncated: false }))
  })
}

async function* outputOf(child: ChildProcess): AsyncGenerator<{ stream: 'stdout' | 'stderr'; text: string }> {
  const waiting: { stream: 'stdout' | 'stderr'; text: string }[] = []
  let isOver = false
  let wake = () => {}
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (bytes) => {
      waiting.push({ stream, text: String(bytes) })
      wake()
    })
  }
  child.on('close', () => {
    isOver = true
    wake()
  })
  for (;;) {
    yield* waiting.splice(0)
    if (isOver && waiting.length === 0) return
    if (waiting.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
}

function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // gone already
  }
}
