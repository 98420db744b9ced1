import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { benchmarkFile } from '../../../tests/benchmark-file.ts'
import { type Act, writeHostilePlugin } from '../../../tests/hostile-plugin.ts'
import { runAssignment } from '../../../tests/run-assignment.ts'
import { startChild } from '../../../tests/start-child.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { RunAssignment } from '../../contracts/index.ts'
import { identify, isAlive } from '../../kernel/index.ts'
import { holderFile } from './run-holder.ts'
import { readSegment, type SegmentItem } from './segment-reader.ts'
import { createWorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
import type { RunOptions } from './worker-process.ts'

// Every lost run costs a process, which takes seconds to start from the sources on a busy machine.
const slow = { timeout: 240_000 }
const folder = temporaryFolders()
const project = folder()
const pluginFile = writeHostilePlugin(project)
const never = new AbortController().signal

const pools: AsyncDisposable[] = []
afterAll(async () => {
  for (const pool of pools) await pool[Symbol.asyncDispose]()
})
function openPool(options: Partial<WorkerPoolOptions> = {}) {
  const pool = createWorkerPool({ size: 2, projectDir: project, ...options })
  pools.push(pool)
  return pool
}
/** For tests that ask for nothing special: a process that one leaves clean does the run of the next. */
const common = openPool()

function acting(
  act: Act | 'tell its version',
  params: { ms?: number | undefined; file?: string | undefined } = {},
): RunAssignment {
  const assignment = runAssignment(project)
  // Each with a value of its own: the rows of another run would come from the cache, and nothing would act.
  const transforms = [{ kind: 'act', params: { act, file: assignment.run_id, ...params } }]
  return { ...assignment, config: { ...assignment.config, data: { ...assignment.config.data, transforms } } }
}

const options = (changes: Partial<RunOptions> = {}): RunOptions => ({
  onWritten() {},
  onEvaluate: () => Promise.reject(new Error('nobody evaluates here')),
  stopping: never,
  signal: never,
  ...changes,
})

async function itemsOf({ segment_file, run_id }: RunAssignment): Promise<SegmentItem[]> {
  const reader = readSegment(segment_file, 1, { runId: run_id })
  const items = await reader.next(10_000)
  await reader.close()
  return items
}

async function logOf(assignment: RunAssignment): Promise<string[]> {
  return (await itemsOf(assignment)).flatMap((item) => (item.type === 'log' ? [item.text] : []))
}

/** The line of the plugin that holds a text. */
function lineOf(text: string): number {
  const lines = readFileSync(pluginFile, 'utf8').split('\n')
  return lines.findIndex((line) => line.includes(text)) + 1
}

async function endOf(assignment: RunAssignment) {
  return (await itemsOf(assignment)).find((item) => item.type === 'run.finished')
}

describe('a pool of workers', slow, () => {
  it('does runs, tells of their items, and says by whose code they were made (LAB-7)', async () => {
    const pool = common
    const assignment = acting('nothing')
    const told: number[] = []
    const outcome = await pool.run(assignment, options({ onWritten: (next) => told.push(next) }))
    const items = await itemsOf(assignment)
    expect(outcome).toEqual({ outcome: 'finished' })
    expect(items.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['run.started', 'step.finished', 'run.finished']),
    )
    expect(told.at(-1)).toBe(items.length + 1)
    expect(await endOf(assignment)).toMatchObject({ status: 'completed' })
    expect(items[0]).toMatchObject({ type: 'run.started', code_hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
  })

  it('uses a process again and again while it stays clean, and never more of them than its size (LAB-7)', async () => {
    const pool = openPool()
    const runs = Array.from({ length: 8 }, () => acting('tell its process'))
    const outcomes = await Promise.all(runs.map((assignment) => pool.run(assignment, options())))
    expect(outcomes).toEqual(runs.map(() => ({ outcome: 'finished' })))
    const pids = new Set((await Promise.all(runs.map(logOf))).flat())
    expect(pids.size).toBeLessThanOrEqual(2)
  })

  it('gives a run a fresh process after one that left something behind or tampered with it (LAB-7)', async () => {
    const pool = openPool({ size: 1 })
    const processOfNext = async () => {
      const assignment = acting('tell its process')
      expect(await pool.run(assignment, options())).toEqual({ outcome: 'finished' })
      return await logOf(assignment)
    }
    let before = await processOfNext()
    const acts: Act[] = [
      'leave a timer',
      'leave a handle',
      'leave a global',
      'leave a variable',
      'move away',
      'tamper with built-ins',
    ]
    for (const act of acts) {
      expect(await pool.run(acting(act), options()), act).toEqual({ outcome: 'finished' })
      const after = await processOfNext()
      expect(after, act).not.toEqual(before)
      before = after
    }
  })

  it('loads plugins again once they are changed (LAB-7)', async () => {
    const own = folder()
    writeHostilePlugin(own)
    const pool = createWorkerPool({ size: 1, projectDir: own })
    pools.push(pool)
    const [first, second] = [acting('tell its version'), acting('tell its version')]
    await pool.run(first, options())
    writeHostilePlugin(own, 'second version')
    await pool.run(second, options())
    expect([await logOf(first), await logOf(second)]).toEqual([['first'], ['second version']])
  })

  it('fails a run whose plugins cannot be loaded, with the place in the file (LAB-3)', async () => {
    const own = folder()
    writeFileSync(writeHostilePlugin(own), 'export default 1 +')
    const pool = createWorkerPool({ size: 1, projectDir: own })
    pools.push(pool)
    const assignment = runAssignment(own)
    expect(await pool.run(assignment, options())).toEqual({ outcome: 'finished' })
    const end = await endOf(assignment)
    expect(end).toMatchObject({ status: 'failed', error: { code: 'PLUGIN_LOAD', where: { line: 1 } } })
  })

  it('does the next run elsewhere when an idle process has died meanwhile (LAB-3)', async () => {
    const pool = openPool({ size: 1 })
    const first = acting('tell its process')
    await pool.run(first, options())
    const pid = Number((await logOf(first))[0]?.replace('pid ', ''))
    process.kill(pid, 'SIGKILL')
    expect(await pool.run(acting('nothing'), options())).toEqual({ outcome: 'finished' })
  })
})

describe('a run that takes its process down', slow, () => {
  it('is lost alone, and told with what ended it and the line of the plugin (LAB-3)', async () => {
    const pool = common
    const ends: [Act, RegExp][] = [
      ['exit', /process\.exit\(3\); it printed last:\n {2}about to leave$/],
      ['exit underhand', /ended with exit code 7/],
      ['kill itself', /ended with signal SIGSEGV/],
      ['throw in a timer', /thrown where nothing catches it: boom in a timer/],
      ['reject unheard', /thrown where nothing catches it: nobody listens/],
    ]
    for (const [act, message] of ends) {
      const [lost, other] = await Promise.all([
        pool.run(acting(act), options()),
        pool.run(acting('compute for a while', { ms: 200 }), options()),
      ])
      const error = { code: 'WORKER_DIED', message: expect.stringMatching(message) }
      expect(lost, act).toMatchObject({ outcome: 'lost', error })
      expect(other, act).toEqual({ outcome: 'finished' })
      if (act === 'throw in a timer')
        expect(lost).toMatchObject({ error: { where: { file: pluginFile, line: lineOf('boom in a timer') } } })
    }
    expect(await pool.run(acting('nothing'), options())).toEqual({ outcome: 'finished' })
  })

  it.each<Act>(['fill the heap', 'fill the memory'])('is lost when it does this: %s (LAB-3)', async (act) => {
    const pool = openPool({ heapMb: 64, memoryMb: 512 })
    const assignment = acting(act)
    const outcome = await pool.run(assignment, options())
    // Where V8 itself gives up, it says so; where only a buffer was refused, the run fails with that.
    if (outcome.outcome === 'lost') expect(outcome.error).toMatchObject({ code: 'WORKER_DIED' })
    else expect(await endOf(assignment)).toMatchObject({ status: 'failed', error: { code: 'PLUGIN_FAILED' } })
    if (act === 'fill the heap')
      expect(outcome).toMatchObject({ error: { message: expect.stringContaining('ran out of memory') } })
  })

  it('is hung when it never comes back to its event loop, and the line is named (LAB-4)', async () => {
    const pool = openPool({ blockedMs: 2_000 })
    const [lost, other] = await Promise.all([
      pool.run(acting('loop for ever'), options()),
      pool.run(acting('compute for a while', { ms: 500 }), options()), // long, and not for ever
    ])
    const where = { file: pluginFile, line: lineOf('for (;;);') }
    expect(lost).toMatchObject({ outcome: 'lost', error: { code: 'WORKER_HUNG', where } })
    expect(other).toEqual({ outcome: 'finished' })
  })

  it('is hung when nothing is heard of its process at all (LAB-4)', async () => {
    const pool = openPool({ silenceMs: 5_000 })
    const lost = await pool.run(acting('stop its process'), options())
    expect(lost).toMatchObject({
      outcome: 'lost',
      error: { code: 'WORKER_HUNG', message: expect.stringContaining('no sign of life') },
    })
  })

  it('is a flood when it prints without end (LAB-5)', async () => {
    const pool = common
    let printed = 0
    const lost = await pool.run(acting('print for ever'), options({ onPrinted: (text) => (printed += text.length) }))
    expect(lost).toMatchObject({
      outcome: 'lost',
      error: { code: 'WORKER_FLOODED', message: expect.stringMatching(/printed more than 8 MB/) },
    })
    expect(printed).toBeGreaterThan(8 * 1024 * 1024)
  })

  it('is a flood when it reports without end (LAB-5)', async () => {
    const pool = openPool({ reportedMb: 1 })
    const assignment = acting('nothing')
    const lost = await pool.run(
      { ...acting('swell its segment', { file: assignment.segment_file }), segment_file: assignment.segment_file },
      options(),
    )
    expect(lost).toMatchObject({
      outcome: 'lost',
      error: { code: 'WORKER_FLOODED', message: expect.stringMatching(/reported/) },
    })
  })

  it('is no flood when it logs in a hot loop: the log is bounded (LAB-8)', async () => {
    const pool = common
    const assignment = acting('log for ever')
    expect(await pool.run(assignment, options())).toEqual({ outcome: 'finished' })
    const lines = await logOf(assignment)
    expect(lines.length).toBeLessThan(1000)
    expect(lines.at(-1)).toMatch(/more log lines were left out/)
  })

  it('is lost with the error of the file system when its segment cannot be written (LAB-1)', async () => {
    const pool = common
    const segment_file = join(pluginFile, 'segments', '1.jsonl') // below a file
    const lost = await pool.run({ ...acting('nothing'), segment_file }, options())
    expect(lost).toMatchObject({ outcome: 'lost', error: { code: 'FILE_FAILED' } })
  })
})

describe('what a plugin writes', slow, () => {
  it('is never taken for a message, whichever pipe it finds (LAB-6)', async () => {
    const pool = common
    const assignment = acting('write to every pipe')
    const outcome = await pool.run(assignment, options())
    // Descriptor 4 is the way in: a process that loses it may die, but only by itself and with a typed error.
    if (outcome.outcome === 'lost') expect(outcome.error.code).toBe('WORKER_DIED')
    else expect(await endOf(assignment)).toMatchObject({ status: 'completed' })
    expect(await pool.run(acting('nothing'), options())).toEqual({ outcome: 'finished' })
  })

  it.each<Act>(['tamper with built-ins', 'tamper with messages'])(
    'harms its own run at most: %s (LAB-6)',
    async (act) => {
      const pool = common
      const assignment = acting(act)
      const outcome = await pool.run(assignment, options())
      if (outcome.outcome === 'lost') expect(['WORKER_DIED', 'FILE_FAILED']).toContain(outcome.error.code)
      else expect(await endOf(assignment)).toMatchObject({ type: 'run.finished' })
      expect(await pool.run(acting('nothing'), options())).toEqual({ outcome: 'finished' })
    },
  )
})

describe('secrets', slow, () => {
  const secrets = { TEST_KEY: 'correct horse battery' }

  it('are not in the environment of a worker, which is scrubbed, nor in its command line (LAB-2)', async () => {
    process.env.EVSYS_TEST_SECRET = 'correct horse battery'
    const pool = openPool()
    const assignment = acting('tell its environment')
    await pool.run(assignment, options({ secrets }))
    delete process.env.EVSYS_TEST_SECRET
    const { env, cwd, argv } = JSON.parse((await logOf(assignment))[0] ?? '{}')
    const allowed = [
      'PATH',
      'HOME',
      'TMPDIR',
      'TMP',
      'TEMP',
      'LANG',
      'LC_ALL',
      'LC_CTYPE',
      'TZ',
      'PWD',
      'SHLVL',
      '_',
      'OLDPWD',
      'LOCALAPPDATA',
      'XDG_CACHE_HOME',
      'HF_HOME',
      'HF_HUB_CACHE',
      'EVSYS_CACHE',
      'EVSYS_ENGINE',
      'CC',
    ]
    expect(env.filter((name: string) => !allowed.includes(name))).toEqual([])
    expect([cwd, argv]).toEqual([project, []])
  })

  it.each<Act>(['throw its secret', 'print its secret'])(
    'reach the plugin that declares them, and no event, error or printed line: %s (LAB-2)',
    async (act) => {
      const pool = common
      const assignment = acting(act)
      const outcome = await pool.run(assignment, options({ secrets }))
      const told = `${JSON.stringify(outcome)}${readFileSync(assignment.segment_file, 'utf8')}`
      expect(told).toContain('[secret:TEST_KEY]')
      expect(told).not.toContain('correct horse')
    },
  )

  it('that a plugin does not declare are refused, and so is one that is not set (LAB-2)', async () => {
    const pool = common
    const [other, missing] = [acting('ask for another secret'), acting('throw its secret')]
    await pool.run(other, options({ secrets: { ...secrets, OTHER_KEY: 'another long secret' } }))
    await pool.run(missing, options())
    expect(await endOf(other)).toMatchObject({
      error: { code: 'SECRET_MISSING', message: expect.stringContaining('without declaring') },
    })
    expect(await endOf(missing)).toMatchObject({ error: { code: 'SECRET_MISSING' } })
  })

  it('of one run are not left in a process that does another (LAB-2)', async () => {
    const pool = openPool({ size: 1 })
    const [first, second] = [acting('tell its process'), acting('tell its process')]
    await pool.run(first, options({ secrets }))
    await pool.run(second, options())
    expect(await logOf(second)).not.toEqual(await logOf(first))
  })
})

describe('a run that is to end', slow, () => {
  const long = () => {
    const assignment = runAssignment(project)
    const backend = { kind: 'mock', params: { latency_ms: 20 } }
    const algorithm = { kind: 'sft', params: { max_steps: 5000, batch_size: 1, save_every: 0 } }
    return { ...assignment, config: { ...assignment.config, backend, algorithm } }
  }

  it('saves and leaves when it is asked to stop (LAB-10)', async () => {
    const pool = common
    const assignment = long()
    const stopping = new AbortController()
    const onWritten = (next: number) => (next > 3 ? stopping.abort(new Error('enough')) : undefined)
    expect(await pool.run(assignment, options({ stopping: stopping.signal, onWritten }))).toEqual({
      outcome: 'interrupted',
    })
    const items = await itemsOf(assignment)
    expect(items.at(-1)).toMatchObject({ type: 'checkpoint.saved', kind: 'state' })
    expect(await pool.run(acting('nothing'), options({ stopping: stopping.signal }))).toEqual({
      outcome: 'interrupted',
    })
  })

  it('is killed at once when its signal aborts, and the call rejects with the reason (LAB-10)', async () => {
    const pool = openPool({ size: 1 })
    const assignment = acting('tell its process')
    await pool.run(assignment, options())
    const pid = Number((await logOf(assignment))[0]?.replace('pid ', ''))
    const abort = new AbortController()
    const killing = options({ signal: abort.signal, onWritten: () => abort.abort(new Error('now')) })
    const [running, waiting] = await Promise.allSettled([
      pool.run(long(), killing),
      pool.run(acting('nothing'), options({ signal: abort.signal })),
    ])
    expect([running, waiting]).toEqual([running, waiting].map(() => ({ status: 'rejected', reason: new Error('now') })))
    expect(isAlive({ pid, start: '' })).toBe(false)
  })

  it('ends with its pool (LAB-10)', async () => {
    const pool = openPool()
    const running = pool.run(long(), options({ onWritten: () => void pool[Symbol.asyncDispose]() }))
    await expect(running).rejects.toMatchObject({ code: 'INTERRUPTED' })
    await expect(pool.run(acting('nothing'), options())).rejects.toMatchObject({ code: 'INTERRUPTED' })
  })
})

describe('weights that want a score', slow, () => {
  const scored = { metrics: { mean_reward: 1 }, rewards: { a: [1] }, n_tasks: 1, n_infra_failed: 0, scorer_hash: 'h' }
  const asking = () => runAssignment(project, { benchmarks: [benchmarkFile(folder(), { name: 'val' })] })

  it('are named to the controller, and the score goes into callbacks of the run and never into its segment (LAB-12)', async () => {
    const pool = common
    const assignment = asking()
    const questions: unknown[] = []
    const onEvaluate: RunOptions['onEvaluate'] = async ({ runAgent: _, signal: __, ...question }) => {
      questions.push(question)
      return { scored }
    }
    expect(await pool.run(assignment, options({ onEvaluate }))).toEqual({ outcome: 'finished' })
    const weights = { kind: 'sampler', uri: expect.stringMatching(/^mock:.*\/checkpoints\/sampler\//) }
    expect(questions).toEqual([{ evaluation: 1, benchmark: 'val', weights, withAnswers: false }])
    const marks = (await itemsOf(assignment)).filter(({ type }) => type === 'evaluation')
    expect(marks).toMatchObject([{ phase: 'started' }, { phase: 'finished', evaluation: 1, benchmark: 'val' }])
    expect(readFileSync(assignment.segment_file, 'utf8')).not.toContain('rewards')
  })

  it('leave their process clean: it does the next run too (LAB-7)', async () => {
    const pool = openPool({ size: 1 })
    const processOfNext = async () => {
      const assignment = acting('tell its process')
      expect(await pool.run(assignment, options())).toEqual({ outcome: 'finished' })
      return await logOf(assignment)
    }
    const before = await processOfNext()
    expect(await pool.run(asking(), options({ onEvaluate: async () => ({ scored }) }))).toEqual({ outcome: 'finished' })
    expect(await processOfNext()).toEqual(before)
  })

  it('fail the run when they are refused (LAB-12)', async () => {
    const pool = common
    const assignment = asking()
    expect(await pool.run(assignment, options())).toEqual({ outcome: 'finished' })
    expect(await endOf(assignment)).toMatchObject({ status: 'failed', error: { message: 'nobody evaluates here' } })
  })
})

describe('when the controller is gone', slow, () => {
  it('so are its workers and all they started, whatever they are at (LAB-9)', async () => {
    await using controller = startChild('pool-controller', [project])
    const pids = (JSON.parse(await controller.line()) as number[]).map((pid) => identify(pid))
    expect(pids.map(isAlive)).toEqual([true, true, true])
    await controller.kill()
    await expect.poll(() => pids.map(isAlive), { timeout: 60_000 }).toEqual([false, false, false])
  })

  it('the next attempt at a run waits until the last worker of the one before has left (LAB-9)', async () => {
    await using controller = startChild('pool-controller', [project])
    await controller.line()
    const [runDir = ''] = JSON.parse(await controller.line()) as string[]
    const holder = JSON.parse(readFileSync(holderFile(runDir), 'utf8'))
    const pool = common
    const next = runAssignment(project, {
      run_dir: runDir,
      attempt: 2,
      segment_file: join(runDir, 'segments', '2.jsonl'),
    })
    const alive: boolean[] = []
    const running = pool.run(next, options({ onWritten: () => alive.push(isAlive(holder)) }))
    await controller.kill()
    expect(await running).toEqual({ outcome: 'finished' })
    expect(alive.filter(Boolean)).toEqual([])
    expect(alive.length).toBeGreaterThan(0)
  })
})
