// From the text of a task.toml to what it says: spellings of older schemas are turned into today's, everything that is wrong is
// told at once with its line.
import { parse, TomlError } from 'smol-toml'
import { checkValue, closest, EvsysError, type Problem, suggest, type ValueIssue } from '../../kernel/index.ts'
import { locateToml } from './locate-toml.ts'
import { modernise } from './modernise.ts'
import { TaskConfig } from './task-config.ts'

/** A task.toml and what is worth knowing of it. */
export interface TaskConfigReading {
  readonly config: TaskConfig
  readonly notices: readonly Problem[]
}

/** Reads the text of the task.toml at `file`. */
export function readTaskConfig(text: string, file: string): TaskConfigReading {
  const raw = parseToml(text, file)
  const problem = (path: ValueIssue['path'], message: string, fix?: string): Problem => {
    const place = { file, ...locateToml(text, path) }
    const dotted = path.join('.')
    const excerpt = lineOf(text, place.line)
    return {
      code: 'CONFIG_INVALID',
      message: dotted === '' ? message : `${dotted}: ${message}`,
      where: dotted === '' ? place : { ...place, path: dotted },
      ...(fix === undefined ? {} : { fix }),
      ...(excerpt === undefined ? {} : { excerpt }),
    }
  }
  const faults: Problem[] = []
  const notices: Problem[] = []
  const modern = modernise(raw, {
    fault: (path, message, fix) => faults.push(problem(path, message, fix)),
    notice: (path, message, fix) => notices.push(problem(path, message, fix)),
  })
  const checked = checkValue(TaskConfig, modern)
  if (!checked.ok) faults.push(...checked.issues.map((issue) => problem(issue.path, issue.message, fixOf(issue))))
  if (!checked.ok || faults.length > 0) {
    throw EvsysError.many(faults.sort((a, b) => (a.where?.line ?? 0) - (b.where?.line ?? 0)))
  }
  for (const { path, word, known } of misspelled(checked.value)) {
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
      ...(excerpt === undefined ? {} : { excerpt: { ...excerpt, col: cause.column, length: 1 } }),
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
  return fixes[key ?? ''] ?? 'correct the value; docs/tasks.md describes every field.'
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
      .filter((key) => !known.includes(key) && closest(key, known) !== undefined)
      .map((word) => ({ path: [...path, word], word, known: [...known] })),
  )
}
