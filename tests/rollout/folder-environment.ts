// An environment for tests of trials: real processes and real files below a temporary folder, and no walls. The places of a task (/logs,
// /tests, /solution, /app) lie below `root`; commands find it as $ROOT, and paths in commands are led there.
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { EnvironmentCommand, ExecResult, OpenEnvironment } from '../../src/contracts/index.ts'
import { onAbort } from '../../src/kernel/index.ts'

export interface FolderEnvironment extends OpenEnvironment {
  readonly root: string
  readonly closed: number
}

export function openFolderEnvironment(root: string): FolderEnvironment {
  const running = new Set<ChildProcess>()
  let closed = 0
  for (const place of ['logs/agent', 'logs/verifier', 'logs/artifacts', 'app'])
    mkdirSync(join(root, place), { recursive: true })
  const inside = (path: string) => join(root, path)
  const led = (text: string) => text.replace(/(?<![\w$}])\/(tests|logs|solution|app)(?=\/|\b)/g, `${root}/$1`)
  const kill = (child: ChildProcess) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL') // its group: a shell and what it started
    } catch {
      // it is gone
    }
  }

  function exec({ argv, cwd, env, limits }: EnvironmentCommand, signal: AbortSignal): Promise<ExecResult> {
    const [program = 'sh', ...args] = argv.map(led)
    const child = spawn(program, args, {
      cwd: cwd === undefined || cwd === '/' ? inside('/app') : led(cwd),
      env: { PATH: process.env.PATH, ROOT: root, ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
    let limitHit = false
    const timer = setTimeout(
      () => {
        limitHit = true
        kill(child)
      },
      Math.min(limits?.timeoutMs ?? 60_000, 2 ** 31 - 1),
    )
    const stopListening = onAbort(signal, () => kill(child))
    return new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (exitCode, killedBy) => {
        clearTimeout(timer)
        stopListening()
        resolve({
          exitCode,
          signal: killedBy,
          stdout,
          stderr,
          truncated: false,
          ...(limitHit ? { limitHit: 'timeoutMs' } : {}),
        })
      })
    })
  }

  return {
    root,
    level: 'process',
    workdir: '/app',
    get closed() {
      return closed
    },
    exec,
    spawn: () => Promise.reject(new Error('not in this environment')),
    read: (path) => readFile(inside(path)),
    write: (path, bytes) => writeFile(inside(path), bytes),
    async upload(source, target) {
      mkdirSync(dirname(inside(target)), { recursive: true })
      cpSync(source, target.startsWith(root) ? target : inside(target), { recursive: true, force: true })
    },
    async download(source, target) {
      cpSync(inside(source), target, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith('.sock'),
      })
    },
    async empty(path) {
      rmSync(inside(path), { recursive: true, force: true })
      mkdirSync(inside(path), { recursive: true })
    },
    async killAll() {
      for (const child of running) kill(child)
      running.clear()
    },
    async [Symbol.asyncDispose]() {
      closed += 1
      for (const child of running) kill(child)
    },
  }
}
