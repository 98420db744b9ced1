import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ErrorReport, ExperimentResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { cleanEnv, evsysBin, runProcess } from './run-process.ts'
import { writeSmallLab } from './small-lab.ts'

const folder = temporaryFolders()
const slow = 180_000
/** Two runs, one of each rate. */
const small = { steps: 48, file: { n_repeats: 1 } }

interface Running {
  readonly process: ChildProcess
  readonly output: { stdout: string; stderr: string }
  /** Resolves when stderr holds the text; rejects when the process ends before. */
  until(text: string): Promise<void>
  readonly ended: Promise<number | string>
}

function start(cwd: string, args: readonly string[]): Running {
  const child = spawn(process.execPath, [evsysBin, ...args], { cwd, env: cleanEnv() })
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk
    for (const look of waiting) look()
  })
  return {
    process: child,
    output,
    ended,
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (output.stderr.includes(text)) resolve()
        }
        waiting.add(look)
        look()
        ended.then((code) => reject(new Error(`ended with ${code} before "${text}": ${output.stderr}`)), reject)
      }),
  }
}

async function canonical(cwd: string, id: string): Promise<unknown> {
  await using store = await openStore(join(cwd, '.evsys', 'evsys.db'))
  return await store.canonicalRecord(id)
}

describe('a run in a process of its own', () => {
  const whole = folder()
  let expected: unknown
  beforeAll(async () => {
    writeSmallLab(whole, small)
    const { code, stdout } = await runProcess(['run', 'config.yaml', '--json'], { cwd: whole })
    expect(code).toBe(0)
    expected = await canonical(whole, ExperimentResult.parse(JSON.parse(stdout)).experiment_id)
  }, slow)

  const lab = () => {
    const cwd = folder()
    writeSmallLab(cwd, small)
    return cwd
  }
  const resumed = async (cwd: string) => {
    const { code, stdout, stderr } = await runProcess(['run', 'config.yaml', '--resume', '--json'], { cwd })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return await canonical(cwd, ExperimentResult.parse(JSON.parse(stdout)).experiment_id)
  }

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'saves and leaves on %s with exit 130, and is resumed to the same record (CLI-3, CLI-11)',
    async (signal) => {
      const cwd = lab()
      const running = start(cwd, ['run', 'config.yaml', '--max-concurrent', '1'])
      await running.until('step 8:')
      running.process.kill(signal)
      expect(await running.ended).toBe(130)
      expect(running.output.stdout).toBe('')
      expect(running.output.stderr).toContain('evsys run config.yaml --max-concurrent 1 --resume')
      expect(await resumed(cwd)).toEqual(expected)
    },
    slow,
  )

  it(
    'ends at once on the second Ctrl-C, and is resumed to the same record (CLI-11)',
    async () => {
      const cwd = lab()
      const running = start(cwd, ['run', 'config.yaml'])
      await running.until('step 4:')
      running.process.kill('SIGINT')
      running.process.kill('SIGINT')
      expect(await running.ended).toBe(130)
      expect(await resumed(cwd)).toEqual(expected)
    },
    slow,
  )

  it(
    'says on the first signal what the second does, and on the second that it is done (USE-83)',
    async () => {
      const running = start(lab(), ['run', 'config.yaml', '--set', 'backend.params.latency_ms=60000'])
      await running.until('started')
      running.process.kill('SIGINT')
      await running.until('a second signal ends it at once')
      running.process.kill('SIGINT')
      expect(await running.ended).toBe(130)
      expect(running.output.stderr).toContain('interrupted again: ended at once')
    },
    slow,
  )

  it(
    'is resumed to the same record after kill -9 (CLI-11)',
    async () => {
      const cwd = lab()
      const running = start(cwd, ['run', 'config.yaml'])
      await running.until('step 12:')
      running.process.kill('SIGKILL')
      expect(await running.ended).toBe('SIGKILL')
      expect(await resumed(cwd)).toEqual(expected)
    },
    slow,
  )

  it(
    'is not resumed by a second process while the first one works on it (CLI-11)',
    async () => {
      const cwd = lab()
      const running = start(cwd, [
        'run',
        'config.yaml',
        '--max-concurrent',
        '1',
        '--set',
        'algorithm.params.max_steps=2000',
      ])
      await running.until('step 4:')
      const args = ['run', 'config.yaml', '--set', 'algorithm.params.max_steps=2000', '--resume', '--json']
      const second = await runProcess(args, { cwd })
      expect(second.code).toBe(1)
      expect(ErrorReport.parse(JSON.parse(second.stdout)).errors).toMatchObject([{ code: 'STORE_CONFLICT' }])
      running.process.kill('SIGINT')
      expect(await running.ended).toBe(130)
    },
    slow,
  )
})
