// Every row of fault-table.ts, made to happen: what is said, in text and JSON, the exit code, the record, and the first signal.
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import * as z from 'zod'
import { main } from '../../src/cli/main.ts'
import { ErrorRecord } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { runMain } from '../cli/run-main.ts'
import { type Component, needs } from '../needs.ts'
import { privateTmpfs } from '../private-tmpfs.ts'
import { processesWith } from '../processes-with.ts'
import { runCommand } from '../run-command.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { breaks, idle, under, writeProject } from './broken-parts.ts'
import { type Fault, faultName, faults } from './fault-table.ts'

const folder = temporaryFolders()
const starts = (program: string, ...args: string[]) =>
  needs(program, () => {
    execFileSync(program, args)
    return true
  })
const python = starts('python3', '-c', '')
const fifos = starts('mkfifo', '--version')

function neededBy(name: string): Component | undefined {
  if (name in under) return privateTmpfs
  return name.startsWith('agent in Python') ? python : name === 'data file, slow' ? fifos : undefined
}

describe.concurrent('when something fails', { timeout: 120_000 }, () => {
  const rows = faults.map((fault) => [faultName(fault), fault] as const)
  const isHere = ([name]: (typeof rows)[number]) => neededBy(name)?.missing === undefined
  for (const [name] of rows.filter((row) => !isHere(row))) neededBy(name)?.it(`${name} (USE-170)`, () => {})

  it.for(rows.filter(isHere))('%s (USE-170)', async ([name, fault], task) => {
    const { expect, onTestFinished } = task
    const dir = folder()
    const closing: (() => unknown)[] = []
    onTestFinished(async () => {
      for (const close of closing.reverse()) await close()
    })
    const args = await breaks[name]?.({ dir, defer: (close) => void closing.push(close) })
    const own = under[name]?.(dir)
    const { code, stdout, stderr } =
      own === undefined ? await commandIn(dir, args ?? [], fault) : await processIn(dir, [...own, ...(args ?? [])])
    const said = { code, stdout, stderr }
    if (fault.waits !== undefined) expect(said).toMatchObject({ stderr: expect.stringContaining(fault.waits) })
    const errors = errorsIn(stdout)
    if (fault.ends === 'on the first signal') {
      expect(said).toMatchObject({ code: 130, stderr: expect.stringContaining('interrupted: ') })
      expect(errors).toMatchObject([{ code: 'INTERRUPTED' }])
      expect(['none', 'running']).toContain((await recordIn(dir)).experiment)
      return
    }
    const { exit, code: error, says, run } = fault.ends
    expect(said).toMatchObject({ code: exit, stdout: expect.stringContaining(says) })
    if (error !== undefined) expect(errors.map((each) => each.code)).toContain(error)
    expect(await recordIn(dir)).toMatchObject({ run })
  })
})

describe('programs that never end', () => {
  it.runIf(existsSync('/proc'))('are ended with the command that started them (USE-170)', async ({ expect }) => {
    await expect.poll(() => processesWith(idle), { timeout: 10_000 }).toEqual([])
  })
})

describe('a run that hangs', () => {
  const written = (dir: string) => {
    const text = `import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { defineAgent } from 'evsys/plugin'
export default defineAgent({
  kind: 'waits', summary: 'Waits while there is a file.',
  async run() { if (existsSync('hang')) await new Promise(() => {}); return { output: 'yes' } },
})\n`
    const algorithm = { kind: 'sft', params: { max_steps: 8, batch_size: 1, save_every: 4 } }
    const benchmark = { run_every: 4, split: 'val' }
    return writeProject(dir, { run: { agent: { kind: 'waits' }, algorithm }, benchmark, plugins: { 'waits.ts': text } })
  }

  it('is ended by the first signal, and resumed to the record of one that never hung (USE-174)', async ({ expect }) => {
    const [whole, hung] = [folder(), folder()]
    expect(await runMain([...written(whole)], { cwd: whole })).toMatchObject({ code: 0 })
    const args = written(hung)
    writeFileSync(join(hung, 'hang'), '')
    const first = await commandIn(hung, args, { waits: 'no answer of agent', ends: 'on the first signal' })
    expect(first).toMatchObject({ code: 130, stderr: expect.stringContaining('has not saved in') })
    rmSync(join(hung, 'hang'))
    expect(await runMain([...args, '--resume'], { cwd: hung })).toMatchObject({ code: 0 })
    expect(await canonical(hung)).toEqual(await canonical(whole))
  })
})

async function canonical(dir: string): Promise<unknown> {
  await using store = await openStore(join(dir, '.evsys', 'evsys.db'))
  const [experiment] = await store.experiments({ limit: 1 })
  return await store.canonicalRecord(experiment?.id ?? '')
}

/** Runs the command; one that ends by a signal alone gets it once it has said what it waits for. */
async function commandIn(dir: string, args: readonly string[], { waits, ends }: Pick<Fault, 'waits' | 'ends'>) {
  const controller = new AbortController()
  let stdout = ''
  let stderr = ''
  const code = await main([...args, '--json'], {
    stdout: {
      write(text) {
        stdout += text
      },
    },
    stderr: {
      write(text) {
        stderr += text
        if (ends === 'on the first signal' && waits !== undefined && stderr.includes(waits)) controller.abort()
      },
    },
    stdin: (async function* () {})(),
    cwd: dir,
    env: { PATH: process.env.PATH ?? '' },
    signal: controller.signal,
  })
  return { code, stdout, stderr }
}

/** The command as users start it, under another one. */
async function processIn(cwd: string, [program = '', ...args]: readonly string[]) {
  const { status, stdout, stderr } = await runCommand(program, [...args, '--json'], { cwd })
  return { code: status, stdout, stderr }
}

const Said = z.looseObject({
  errors: z.array(ErrorRecord).optional(),
  error: ErrorRecord.optional(),
  arms: z.array(z.looseObject({ error: ErrorRecord.optional() })).optional(),
})

/** The errors of a document, wherever it has them. */
function errorsIn(stdout: string): ErrorRecord[] {
  const { errors = [], error, arms = [] } = Said.parse(JSON.parse(stdout))
  return [...errors, ...(error === undefined ? [] : [error]), ...arms.flatMap((arm) => arm.error ?? [])]
}

/** How the experiment and its run stand in the record; `none`: there is none. */
async function recordIn(dir: string): Promise<{ experiment: string; run: string }> {
  const none = { experiment: 'none', run: 'none' }
  const file = join(dir, '.evsys', 'evsys.db')
  if (!existsSync(file)) return none
  try {
    await using store = await openStore(file)
    const [experiment] = await store.experiments({ limit: 1 })
    const [run] = experiment === undefined ? [] : await store.runs(experiment.id)
    return { experiment: experiment?.status ?? 'none', run: run?.status ?? 'none' }
  } catch {
    return none // it is no database
  }
}
