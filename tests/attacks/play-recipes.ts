// Plays rows of recipes: each is an arm of an experiment, beside one honest arm whose numbers are known. Rows share an experiment, since
// a start costs more than a run; where one of them did harm, each half is played again, until it is known which.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { makePlace, type Place } from './place.ts'
import type { AttackRow, HonestRow, Played, RecipeRow } from './rows.ts'
import { armConfig, armOf, pluginText } from './write-recipe.ts'

export interface Player {
  /** The command, as a user would type it. */
  readonly evsys: readonly string[]
  /** Empty folders, one for each call. */
  folder(): string
  readonly seal: 'auto' | 'required'
  /** Harm among many rows, before they are played in smaller numbers. */
  onSuspects?(harm: readonly string[]): void
}

const benchmark = (name: string, more: object) => ({
  name,
  path: `data/${name}`,
  split: name,
  metrics: ['pass@1'],
  num_samples: 1,
  max_tokens: 6,
  ...more,
})

interface RunShown {
  readonly arm: string
  readonly status: string
  readonly scores: readonly { readonly benchmark: string; readonly metrics: Record<string, number> }[]
  readonly metrics: Record<string, number>
  readonly error?: { readonly code: string; readonly message: string } | null
}

interface Shown {
  readonly runs: readonly RunShown[]
  readonly files: string
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** What came of a batch: of each row, and of everything around. */
interface BatchEnd {
  readonly ended: Ended
  readonly shown: Shown | undefined
  /** What each arm said, and what it should not have known. */
  readonly said: ReadonlyMap<string, readonly string[]>
  readonly harm: readonly string[]
}

/** The honest arm, in every experiment. */
const honestArm = { ...armConfig({ name: 'honest', target: 'metric', code: '' }, 'honest'), name: 'honest' }

export async function playAttacks(rows: readonly AttackRow[], player: Player): Promise<Played[]> {
  const end = await playBatch(rows, player)
  const suspects = harmOf(end, rows)
  if (suspects.length === 0) return rows.map((row, i) => attackPlayed(row, i, end, []))
  if (rows.length === 1) return rows.map((row, i) => attackPlayed(row, i, end, suspects))
  player.onSuspects?.(suspects)
  const half = Math.ceil(rows.length / 2)
  return [...(await playAttacks(rows.slice(0, half), player)), ...(await playAttacks(rows.slice(half), player))]
}

export async function playHonest(rows: readonly HonestRow[], player: Player): Promise<Played[]> {
  const end = await playBatch(rows, player)
  const harm = [...end.harm, ...honestProblem(end)]
  return rows.map((row, i) => {
    const run = runOf(end, i)
    const said = end.said.get(armOf(i)) ?? []
    const problem =
      harm[0] ??
      (run?.status !== 'completed'
        ? `${run?.status ?? 'no such run'}: ${run?.error?.code ?? ''} ${run?.error?.message ?? end.ended.stderr.slice(-400)}`
        : !said.includes('done') && !isQuiet(row)
          ? `it did not say that it is done, only: ${said.join(' | ').slice(0, 300)}`
          : row.says !== undefined && !said.some((each) => each.includes(row.says ?? ''))
            ? `it did not say "${row.says}": ${said.join(' | ').slice(0, 300)}`
            : undefined)
    return {
      name: row.name,
      list: 'honest',
      target: row.target,
      outcome: problem === undefined ? 'unhindered' : 'hindered',
      detail: problem,
    }
  })
}

// What it says is printed into the scorer, or the catalog, and no one keeps it.
function isQuiet({ target }: RecipeRow): boolean {
  return target === 'load' || target === 'metric' || target === 'verifier'
}

function runOf({ shown }: BatchEnd, i: number): RunShown | undefined {
  return shown?.runs.find(({ arm }) => arm === armOf(i))
}

/** What the batch gained, and what it did to others. */
function harmOf(end: BatchEnd, rows: readonly RecipeRow[]): string[] {
  const harm = [...end.harm, ...honestProblem(end)]
  for (const [i, { name }] of rows.entries()) {
    const run = runOf(end, i)
    const scores = (run?.scores ?? []).flatMap(({ metrics }) => metrics['pass@1'] ?? [])
    const own = Object.entries(run?.metrics ?? {}).flatMap(([key, value]) =>
      /^(?:val|test)\/.*pass@1$/.test(key) ? [value] : [],
    )
    if ([...scores, ...own].some((value) => value !== 0))
      harm.push(`${name}: it has a score of ${[...scores, ...own].join(', ')}`)
    for (const text of end.said.get(armOf(i)) ?? []) if (text.startsWith('HARM')) harm.push(`${name}: ${text}`)
  }
  return harm
}

function honestProblem({ shown, ended }: BatchEnd): string[] {
  const honest = shown?.runs.find(({ arm }) => arm === 'honest')
  if (shown === undefined)
    return [`the command ended with ${ended.code}: ${`${ended.stdout}${ended.stderr}`.slice(0, 900)}`]
  if (honest?.status !== 'completed')
    return [`the honest arm beside it ${honest?.status ?? 'is missing'}: ${honest?.error?.message ?? ''}`]
  const { 'loss:sum': loss } = honest.metrics
  if (known === undefined) known = loss
  return loss === known && loss !== undefined ? [] : [`the honest arm ended at a loss of ${loss}, not ${known}`]
}

let known: number | undefined

function attackPlayed(row: AttackRow, i: number, end: BatchEnd, harm: readonly string[]): Played {
  const run = runOf(end, i)
  const outcome = run?.status === 'completed' ? 'without gain' : 'stopped'
  const came = { name: row.name, list: 'attacks', target: row.target } as const
  if (harm.length > 0) return { ...came, outcome: 'harm', detail: harm.join('; ').slice(0, 900) }
  const detail =
    outcome === 'stopped' ? `${run?.error?.code ?? ''} ${run?.error?.message ?? ''}`.slice(0, 160) : undefined
  if (row.expected !== 'either' && row.expected !== outcome)
    return {
      ...came,
      outcome: 'harm',
      detail: `expected: ${row.expected}; it was ${outcome}: ${detail ?? end.said.get(armOf(i))?.join(' | ').slice(0, 300)}`,
    }
  return { ...came, outcome, detail }
}

async function playBatch(rows: readonly RecipeRow[], player: Player): Promise<BatchEnd> {
  await using place = await makePlace(player.folder())
  const { project, home } = place
  const shown = { ...place, db: join(project, '.evsys/evsys.db'), harm: undefined }
  const own = { callbacks: [] as object[], metrics: [] as string[] }
  for (const [i, row] of rows.entries()) {
    const kind = armOf(i)
    write(join(project, 'src/plugins', `${kind}.ts`), pluginText(row, kind, shown))
    for (const [path, text] of Object.entries(row.files ?? {})) write(join(project, path), text)
    if (row.target === 'callback') own.callbacks.push({ kind })
    if (row.target === 'metric') own.metrics.push(kind)
    if (row.target === 'verifier') addTask(project, kind)
  }
  const experiment = {
    name: 'played',
    metadata: {
      objective: { metric: 'val.pass@1' },
      benchmark: [benchmark('val', { run_every: 2, metrics: ['pass@1', ...own.metrics] }), benchmark('test', {})],
    },
    callbacks: [{ kind: 'local_logger' }, ...own.callbacks],
    max_concurrent_arms: 2,
  }
  write(
    join(project, 'past.yaml'),
    stringify({ ...experiment, name: 'past', callbacks: [], run: honestArm, metadata: undefined }),
  )
  write(
    join(project, 'experiment.yaml'),
    stringify({ ...experiment, runs: [honestArm, ...rows.map((row, i) => armConfig(row, armOf(i)))] }),
  )
  await place.harm() // as it is before
  const ended = await run(player, place, ['run', 'experiment.yaml', '--json', '--fresh', '--seal', player.seal])
  const alive = await survivors(place.tag)
  const harm = alive.length === 0 ? [] : [`it left ${alive.length} processes: ${alive.slice(0, 3).join(', ')}`]
  harm.push(...(await place.harm()))
  const result = parsed(ended.stdout)
  const again = result === undefined ? undefined : await run(player, place, ['show', 'played', '--json'])
  const recorded = again === undefined ? undefined : parsed(again.stdout)
  if (again !== undefined && recorded === undefined) harm.push(`the record cannot be read: ${again.stderr.slice(-300)}`)
  const said = whatWasSaid(project, place)
  harm.push(...leaks(place, home), ...said.leaked)
  return { ended, shown: recorded, said: said.byArm, harm }
}

function parsed(text: string): Shown | undefined {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value.runs) ? value : undefined // an error is JSON too
  } catch {
    return undefined
  }
}

function addTask(project: string, kind: string): void {
  for (const split of ['val', 'test']) {
    const file = join(project, 'data', split, 'tasks.jsonl')
    const task = {
      task_id: `${split}-${kind}`,
      instruction: `riddle of ${split} ${kind}`,
      verifier: { kind: 'in_process', fn_name: kind, expected: 'nothing' },
    }
    writeFileSync(file, `${readFileSync(file, 'utf8')}${JSON.stringify(task)}\n`)
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const patienceMs = 900_000

function run(
  { evsys: [command = '', ...first] }: Player,
  { project, home }: Place,
  args: readonly string[],
): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: process.env.TMPDIR, LAB_SECRET: 'not for recipes' }
  const child = spawn(command, [...first, ...args], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(late)
      resolve({ code, stdout, stderr })
    })
  })
}

/** Lines that arms logged, from their segments; and secrets in whatever lies in the folders of runs. */
function whatWasSaid(project: string, place: Place) {
  const byArm = new Map<string, string[]>()
  const leaked: string[] = []
  const runs = join(project, '.evsys/runs')
  for (const file of filesBelow(runs)) {
    const text = readFileSync(file, 'latin1')
    const found = secretsIn(text, place)
    if (found !== undefined) leaked.push(`${found} stands in ${file.slice(project.length + 1)}`)
    const [, arm] = /([^/]+)\/segments\/\d+\.jsonl$/.exec(file) ?? []
    if (arm === undefined) continue
    const said = byArm.get(arm) ?? []
    for (const match of text.matchAll(/"text":"said ((?:[^"\\]|\\.)*)"/g)) said.push(match[1] ?? '')
    byArm.set(arm, said)
  }
  return { byArm, leaked }
}

function leaks(place: Place, ...folders: string[]): string[] {
  return folders.flatMap((folder) =>
    filesBelow(folder).flatMap((file) =>
      readFileSync(file, 'latin1').includes(place.answer) ? [`an expected answer stands in ${file}`] : [],
    ),
  )
}

function secretsIn(text: string, { canary, answer }: Place): string | undefined {
  const at = text.search(new RegExp(`${canary}-|${answer}-`))
  return at < 0 ? undefined : `"${text.slice(at, at + 40).replaceAll(/[^\w-].*$/gs, '')}"`
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath ?? entry.path, entry.name)] : [],
  )
}

/** Processes with the tag in their command line, some time after the command has ended. */
async function survivors(tag: string): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const found = readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return line.includes(tag) ? [`${pid} ${line.replaceAll('\0', ' ').slice(0, 80)}`] : []
      } catch {
        return []
      }
    })
    if (found.length === 0) return []
    if (tries < 10) {
      await new Promise((done) => setTimeout(done, 500))
      continue
    }
    for (const each of found) endProcess(Number(each.split(' ')[0]))
    return found
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // gone
  }
}

/** Rows in batches: those that burden others by themselves, those that take part in every evaluation apart from the rest. */
export function batches<R extends RecipeRow & { alone?: true | undefined }>(rows: readonly R[], size: number): R[][] {
  const rest = rows.filter(({ alone }) => alone !== true)
  const found: R[][] = []
  for (let i = 0; i < rest.length; i += size) found.push(rest.slice(i, i + size))
  for (const row of rows) if (row.alone === true) found.push([row])
  return found
}
