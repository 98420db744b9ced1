// From the text of a task.toml to what it says: spellings of older schemas are turned into today's, everything that is wrong is
// reported at once with its line.
import { parse, TomlError } from 'smol-toml'
import { checkValue, closest, EvsysError, type Problem, suggest, type ValueIssue } from '../../kernel/index.ts'
import { locateToml } from './locate-toml.ts'
import { TaskConfig } from './task-config.ts'

interface TaskConfigReading {
  readonly config: TaskConfig
  readonly notices: readonly Problem[]
}

/** Characters of a task.toml. */
const longest = 1_000_000
/** That are explained: the first ones have to be mended anyway. */
const mostProblems = 50

export function readTaskConfig(text: string, file: string): TaskConfigReading {
  if (text.length > longest) {
    throw new EvsysError('CONFIG_READ', `${file} has more than ${longest} characters`, {
      where: { file, line: 1, col: 1 },
      fix: 'put texts into instruction.md, and data into environment/.',
    })
  }
  const raw = parseToml(text, file)
  const problem = (path: ValueIssue['path'], message: string, fix?: string): Problem => {
    const place = { file, ...locateToml(text, path) }
    const dotted = path.join('.')
    const excerpt = lineOf(text, place.line)
    return {
      code: 'CONFIG_INVALID',
      message: dotted === '' ? message : `${dotted}: ${message}`,
      where: dotted === '' ? place : { ...place, path: dotted },
      fix,
      excerpt,
    }
  }
  const faults: Problem[] = []
  const notices: Problem[] = []
  const modern = modernise(raw, {
    fault: (path, message, fix) => faults.push(problem(path, message, fix)),
    notice: (path, message, fix) => notices.push(problem(path, message, fix)),
  })
  const checked = checkValue(TaskConfig, modern)
  if (!checked.ok)
    faults.push(
      ...checked.issues.slice(0, mostProblems).map((issue) => problem(issue.path, issue.message, fixOf(issue))),
    )
  if (!checked.ok || faults.length > 0) {
    throw EvsysError.many(faults.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0)))
  }
  for (const { path, word, known } of misspelled(checked.value).slice(0, mostProblems)) {
    notices.push(problem(path, `is not a key of a task.toml, and says nothing`, suggest(word, known)))
  }
  return { config: checked.value, notices }
}

function parseToml(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause
    const [first = 'not TOML'] = cause.message.replace(/^Invalid TOML document: /, '').split('\n')
    const excerpt = lineOf(text, cause.line)
    throw new EvsysError('CONFIG_SYNTAX', `not valid TOML: ${first}`, {
      where: { file, line: cause.line, col: cause.column },
      fix: 'correct the line; https://toml.io describes the format.',
      cause,
      excerpt: excerpt === undefined ? undefined : { ...excerpt, col: cause.column, length: 1 },
    })
  }
}

function lineOf(text: string, line: number): Problem['excerpt'] | undefined {
  const shown = text.split('\n')[line - 1]?.trimEnd()
  if (shown === undefined || shown.trim() === '') return undefined
  const start = shown.length - shown.trimStart().length
  return { text: shown, line, col: start + 1, length: shown.length - start }
}

function fixOf({ path, known }: ValueIssue): string {
  if (known !== undefined) return `write one of ${known.map((word) => JSON.stringify(word)).join(', ')}.`
  const key = path.findLast((step) => typeof step === 'string')
  return fixes[key ?? ''] ?? 'correct the value; docs/concepts/task-folders.md describes every field.'
}

const fixes: Record<string, string> = {
  allowed_hosts:
    'write network_mode = "allowlist" beside it, and hosts such as "example.com", "*.example.com" or "192.0.2.0/24".',
  name: 'write name = "org/name" in [task]; in [[steps]] the name of a folder of steps/.',
  source: 'name a path inside the environment, such as "/app/result.txt".',
  destination: 'name a relative path such as "results/out.txt", or leave it out.',
  url: 'add url = "http://...", or transport = "stdio" with a command.',
  command: 'add the command that starts it.',
  environment: 'leave out environment_mode, or write environment_mode = "separate".',
  env: 'write text: NAME = "value".',
}

type Misspelled = { path: string[]; word: string; known: string[] }

// Unknown keys are left alone, as Harbor does; one that is nearly a known one was probably meant to be it.
function misspelled(config: TaskConfig): Misspelled[] {
  const tables: [string[], Record<string, unknown>, readonly string[]][] = [
    [[], config, Object.keys(TaskConfig.shape)],
    [['agent'], config.agent, Object.keys(TaskConfig.shape.agent.unwrap().shape)],
    [['verifier'], config.verifier, Object.keys(TaskConfig.shape.verifier.unwrap().shape)],
    [['environment'], config.environment, Object.keys(TaskConfig.shape.environment.unwrap().shape)],
  ]
  return tables.flatMap(([path, table, known]) =>
    Object.keys(table)
      .filter((key) => !known.includes(key))
      .slice(0, 10 * mostProblems) // finding near words takes time
      .filter((key) => closest(key, known) !== undefined)
      .map((word) => ({ path: [...path, word], word, known: [...known] })),
  )
}

// Spellings of older task.toml schemas, and short forms, as schema 1.4 writes them. It checks only what it turns around.
type Path = (string | number)[]
type Tell = (path: Path, message: string, fix?: string) => void
type Table = Record<string, unknown>

/** A raw task.toml in today's spelling. Deprecated fields are noticed, contradictions are faults. */
function modernise(raw: Table, tell: { fault: Tell; notice: Tell }): Table {
  const { version, ...task } = raw
  if (version !== undefined) task.schema_version ??= version
  if (typeof task.schema_version === 'number') task.schema_version = task.schema_version.toFixed(1)
  edit(task, 'environment', (table) => environment(table, ['environment'], tell))
  edit(task, 'verifier', (table) => verifier(table, ['verifier'], tell))
  if ('artifacts' in task) task.artifacts = artifacts(task.artifacts)
  if (Array.isArray(task.steps)) {
    task.steps = task.steps.map((each: unknown, index) => {
      if (!isTable(each)) return each
      const step = { ...each }
      edit(step, 'verifier', (table) => verifier(table, ['steps', index, 'verifier'], tell))
      if ('artifacts' in step) step.artifacts = artifacts(step.artifacts)
      return step
    })
  }
  return task
}

function verifier(written: Table, path: Path, tell: { fault: Tell; notice: Tell }): Table {
  const table = { ...written }
  edit(table, 'environment', (inner) => environment(inner, [...path, 'environment'], tell))
  return table
}

function environment(written: Table, path: Path, { fault, notice }: { fault: Tell; notice: Tell }): Table {
  const { memory, storage, allow_internet: allowInternet, ...table } = written
  if (typeof table.os === 'string') table.os = table.os.toLowerCase()
  for (const [key, size] of [
    ['memory', memory],
    ['storage', storage],
  ] as const) {
    if (size === undefined) continue
    const place = [...path, key]
    const modern = `${key}_mb`
    const megabytes = typeof size === 'string' ? parseSize(size) : undefined
    if (megabytes === undefined) {
      fault(place, `expected a size such as "2G" or "512M", got ${JSON.stringify(size)}`, `write ${modern} = 2048.`)
    } else if (table[modern] !== undefined && table[modern] !== megabytes) {
      const message = `${JSON.stringify(size)} is ${megabytes} MB, but ${modern} is ${String(table[modern])}`
      fault(place, message, `keep ${modern} alone.`)
    } else {
      table[modern] = megabytes
      notice(place, `is the old spelling of ${modern}`, `write ${modern} = ${megabytes}.`)
    }
  }
  if (typeof allowInternet === 'boolean') {
    const mode = allowInternet ? 'public' : 'no-network'
    notice([...path, 'allow_internet'], 'is the old spelling of network_mode', `write network_mode = "${mode}".`)
    if (table.network_mode === undefined && table.allowed_hosts === undefined) table.network_mode = mode
  } else if (allowInternet !== undefined) {
    const message = `expected true or false, got ${JSON.stringify(allowInternet)}`
    fault([...path, 'allow_internet'], message, 'write network_mode = "public" or "no-network" in its place.')
  }
  if (Array.isArray(table.mcp_servers)) {
    table.mcp_servers = table.mcp_servers.map((server: unknown) =>
      isTable(server) && server.transport === 'http' ? { ...server, transport: 'streamable-http' } : server,
    )
  }
  return table
}

function artifacts(written: unknown): unknown {
  if (!Array.isArray(written)) return written
  return written.map((each: unknown) => {
    if (typeof each === 'string') return { source: each }
    if (!isTable(each) || each.destination !== '') return each
    const { destination: _empty, ...artifact } = each
    return artifact
  })
}

// "2G", "512M", "1024K": to whole megabytes.
function parseSize(text: string): number | undefined {
  const match = /^([0-9]+(?:\.[0-9]+)?)([GMK])$/.exec(text.trim().toUpperCase())
  if (match === null) return undefined
  const factor = { G: 1024, M: 1, K: 1 / 1024 }[match[2] ?? ''] ?? 1
  return Math.trunc(Number(match[1]) * factor)
}

function edit(table: Table, key: string, change: (inner: Table) => Table): void {
  const inner = table[key]
  if (isTable(inner)) table[key] = change(inner)
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
