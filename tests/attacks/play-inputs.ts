// Plays hostile inputs: a project with one of them, and the command that reads it. It has to end by itself, in time, within its memory, with
// no more than an error; beside that nothing may have changed.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { makePlace } from './place.ts'
import type { Player } from './play-recipes.ts'
import type { InputRow, Played } from './rows.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const usualSeconds = 150
const usualMemoryMb = 3500

export async function playInput(row: InputRow, player: Player): Promise<Played> {
  await using place = await makePlace(player.folder())
  const { project } = place
  const experiment = prepare(row, project)
  if (experiment !== undefined) writeFileSync(join(project, 'experiment.yaml'), experiment)
  rmSync(join(project, 'src/plugins'), { recursive: true, force: true })
  const env = { PATH: process.env.PATH, HOME: place.home, TMPDIR: process.env.TMPDIR }
  const [command = '', ...first] = player.evsys
  const verb =
    row.command === 'validate'
      ? ['validate', 'experiment.yaml', '--deep']
      : ['run', 'experiment.yaml', ...(row.command === 'dry' ? ['--dry'] : [])]
  const child = spawn(command, [...first, ...verb, '--json'], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  const hear = (text: unknown) => {
    if (said.length < 1e6) said += String(text)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const began = performance.now()
  const { seconds = usualSeconds, memoryMb = usualMemoryMb } = row
  let peakMb = 0
  let isLate = false
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, treeMb(child.pid ?? 0))
    if (performance.now() - began < seconds * 1000) return
    isLate = true
    child.kill('SIGKILL')
  }, 250)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearInterval(watch)
  const took = `${((performance.now() - began) / 1000).toFixed(1)} s, ${Math.round(peakMb)} MB`
  const error = /"code": "([A-Z_]+)"/.exec(said)?.[1] ?? ''
  const problem = isLate
    ? 'it did not end'
    : peakMb > memoryMb
      ? 'it took too much memory'
      : code === null || code > 2
        ? `it ended with ${code ?? child.signalCode}: ${said.slice(-200)}`
        : row.exit === 'refused' && code === 0
          ? 'it was accepted'
          : typeof row.exit === 'number' && row.exit !== code
            ? `it ended with ${code}`
            : code !== 0 && error === '' && !said.includes('"status"')
              ? `it named no error: ${said.slice(0, 200)}`
              : /"code": "(?:INTERNAL|STORE_FAILED)"/.test(said)
                ? `a fault of ours: ${said.slice(0, 300)}`
                : undefined
  const came = { name: row.name, list: 'attacks', target: row.target } as const
  if (problem !== undefined) return { ...came, outcome: 'harm', detail: `${problem} (${took})` }
  return { ...came, outcome: code === 0 ? 'without gain' : 'stopped', detail: `${error} ${took}`.trim() }
}

function prepare({ make }: InputRow, project: string): string | undefined {
  const at = (path: string) => join(project, path)
  const write = (path: string, text: string | Uint8Array) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), text)
  }
  const chat = [{ kind: 'jsonl_to_chat', params: { user_template: '{query}', assistant_template: '{desk}' } }]
  const usual = {
    name: 'input',
    metadata: {
      objective: { metric: 'val.pass@1' },
      benchmark: [{ name: 'val', path: 'data/val', metrics: ['pass@1'], max_tokens: 4 }],
    },
    data: { path: 'data/train.jsonl', transforms: chat },
    model: { name: 'mock' },
    algorithm: { kind: 'sft', params: { max_steps: 1, batch_size: 2 } },
    backend: { kind: 'mock' },
  }
  // The verifier of the place is a plugin, which these projects do without.
  const tasks = at('data/val/tasks.jsonl')
  writeFileSync(tasks, readFileSync(tasks, 'utf8').replaceAll('"fair"', '"exact_match"'))
  const node = {
    Buffer,
    gzip: gzipSync,
    mkdir: (path: string) => mkdirSync(at(path), { recursive: true }),
    symlink: (to: string, path: string) => symlinkSync(to, at(path)),
    truncate: (path: string, size: number) => truncateSync(at(path), size),
    remove: (path: string) => rmSync(at(path), { recursive: true, force: true }),
    fifo: (path: string) => execFileSync('mkfifo', [at(path)]),
    model: (path: string, files: Record<string, unknown>) => {
      cpSync(join(root, 'models/nano'), at(path), { recursive: true })
      for (const [name, content] of Object.entries(files))
        write(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
    },
    edit: (path: string, change: (value: Record<string, unknown>) => void) => {
      const value = JSON.parse(readFileSync(at(path), 'utf8'))
      change(value)
      writeFileSync(at(path), JSON.stringify(value))
    },
  }
  const body = new Function('write', 'node', 'chat', 'yaml', make) as (...given: unknown[]) => Record<string, unknown> // it has no type
  const { text, ...changes }: Record<string, unknown> = { text: '', ...body(write, node, chat, stringify(usual)) }
  if (text === undefined) return undefined
  if (text !== '') return String(text)
  const { matrix } = changes
  if (matrix === undefined) return stringify({ ...usual, ...changes })
  const { data, model, algorithm, backend, ...rest } = usual
  return stringify({ ...rest, matrix: { ...Object(matrix), base_run: { data, model, algorithm, backend } } })
}

/** Resident memory of a process and all below it. */
function treeMb(pid: number): number {
  const parents = new Map<number, number>()
  const sizes = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
      parents.set(Number(name), Number(fields[1]))
      sizes.set(Number(name), (Number(fields[21]) * 4096) / 1e6)
    } catch {
      // it has ended
    }
  }
  let sum = 0
  for (const [each, size] of sizes) {
    for (let up: number | undefined = each; up !== undefined && up > 1; up = parents.get(up)) {
      if (up !== pid) continue
      sum += size
      break
    }
  }
  return sum
}
