// A Dockerfile as a list of instructions of its last stage: comments gone, continued lines joined, `ARG` and `ENV` put in. It
// knows the grammar, not what an instruction does.

import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { EvsysError } from '../../kernel/index.ts'

/** Where programs are looked for in images and sandboxes. */
export const sandboxPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** One instruction: its name in capitals, flags (`--chown=...`), and its words or, of `RUN`, its text. */
export interface DockerInstruction {
  readonly line: number
  readonly name: string
  readonly flags: readonly string[]
  readonly words: readonly string[]
  /** As written, without flags; of `RUN` what the shell gets. */
  readonly text: string
  /** Written as a JSON list. */
  readonly isList: boolean
}

interface DockerStage {
  readonly base: string
  readonly name?: string | undefined
  readonly instructions: readonly DockerInstruction[]
}

/** Of bytes or characters. */
export const longestDockerfile = 1_000_000

/** The stages of a Dockerfile, in order. */
export function parseDockerfile(text: string, file: string): DockerStage[] {
  if (text.length > longestDockerfile) throw syntax(file, 1, `it has more than ${longestDockerfile} characters`)
  const stages: { base: string; name?: string | undefined; instructions: DockerInstruction[] }[] = []
  const globals = new Map<string, string>() // ARG before the first FROM
  let values = new Map<string, string>()
  for (const { line, source } of logicalLines(text)) {
    const match = /^([A-Za-z]+)(?:\s+([\s\S]*))?$/.exec(source)
    if (match === null) throw syntax(file, line, `not an instruction: ${source.slice(0, 40)}`)
    const name = (match[1] ?? '').toUpperCase()
    const { flags, rest } = splitFlags(match[2] ?? '')
    const current = stages.at(-1)
    if (name === 'FROM') {
      const [base = '', as, alias] = wordsOf(substitute(rest, globals))
      values = new Map([['PATH', sandboxPath]])
      stages.push({ base, name: as?.toLowerCase() === 'as' ? alias : undefined, instructions: [] })
      continue
    }
    if (name === 'ARG') {
      const [key = '', value] = pair(substitute(rest, values))
      const known = value === undefined ? globals.get(key) : unquoted(value)
      if (known !== undefined && !(values.has(key) && current !== undefined)) {
        if (current === undefined) globals.set(key, known)
        else values.set(key, known)
      }
      if (current === undefined) continue
    }
    if (current === undefined) throw syntax(file, line, `${name} before FROM`)
    // The shell of RUN puts variables in by itself.
    const given = name === 'RUN' ? rest : substitute(rest, values)
    if (name === 'ENV') for (const [key, value] of envPairs(given)) values.set(key, value)
    current.instructions.push({
      line,
      name,
      flags: flags.map((flag) => substitute(flag, values)),
      ...wordsAndText(given),
    })
  }
  if (stages.length === 0) throw syntax(file, 1, 'no FROM')
  return stages
}

/** `A=1 B="two words"`, or the old form `A one value`. */
export function envPairs(text: string): [string, string][] {
  if (!/^[^\s=]+=/.test(text)) {
    const [key = '', ...value] = text.split(/\s+/)
    return key === '' ? [] : [[key, value.join(' ')]]
  }
  return wordsOf(text).map((word) => {
    const [key = '', value = ''] = pair(word)
    return [key, value]
  })
}

// A line that ends in `\` continues in the next one; comments in between are left out.
function* logicalLines(text: string): Generator<{ line: number; source: string }> {
  const lines = text.split(/\r?\n/)
  const escapeMark = /^#\s*escape\s*=\s*`/m.test(lines.slice(0, 3).join('\n')) ? '`' : '\\'
  let start = 0
  let gathered = ''
  for (const [index, line] of lines.entries()) {
    if (/^\s*#/.test(line)) continue
    if (gathered === '') {
      if (line.trim() === '') continue
      start = index + 1
    }
    const trimmed = line.trimEnd()
    if (trimmed.endsWith(escapeMark)) {
      gathered += `${trimmed.slice(0, -1)} `
      continue
    }
    const source = `${gathered}${trimmed}`.trim()
    gathered = ''
    if (source !== '') yield { line: start, source }
  }
  if (gathered.trim() !== '') yield { line: start, source: gathered.trim() }
}

function splitFlags(text: string): { flags: string[]; rest: string } {
  const flags: string[] = []
  let rest = text.trim()
  for (let match = /^--\S+/.exec(rest); match !== null; match = /^--\S+/.exec(rest)) {
    flags.push(match[0])
    rest = rest.slice(match[0].length).trim()
  }
  return { flags, rest }
}

function wordsAndText(text: string): Pick<DockerInstruction, 'words' | 'text' | 'isList'> {
  if (text.startsWith('[')) {
    try {
      const list: unknown = JSON.parse(text)
      if (Array.isArray(list) && list.every((word) => typeof word === 'string'))
        return { words: list, text, isList: true }
    } catch {
      // Not a list: then it is words, as Docker reads it.
    }
  }
  return { words: wordsOf(text), text, isList: false }
}

/** Words of a line, quotes and escapes taken off. */
export function wordsOf(text: string): string[] {
  const words = text.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? []
  return words.map(unquoted)
}

function unquoted(word: string): string {
  return word.replace(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
    (_all, double?: string, single?: string, escaped?: string) =>
      double === undefined ? (single ?? escaped ?? '') : double.replace(/\\(["\\$])/g, '$1'),
  )
}

function substitute(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(
    /\\\$|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::([-+])([^}]*))?\})/g,
    (all, plain?: string, braced?: string, operator?: string, word?: string) => {
      if (all === '\\$') return '$'
      const value = values.get(plain ?? braced ?? '')
      if (operator === '-') return value === undefined || value === '' ? (word ?? '') : value
      if (operator === '+') return value === undefined || value === '' ? '' : (word ?? '')
      return value ?? ''
    },
  )
}

function pair(text: string): [string, string?] {
  const at = text.indexOf('=')
  return at === -1 ? [text.trim()] : [text.slice(0, at), text.slice(at + 1)]
}

function syntax(file: string, line: number, message: string): EvsysError {
  return new EvsysError('CONFIG_SYNTAX', `not a Dockerfile: ${message}`, {
    where: { file, line, col: 1 },
    fix: 'correct the line; `docker build` names what it expects.',
  })
}

// Files of a build context that COPY names, with `*` and `?`. Nothing outside of the context is ever found: `..` does not lead out
// of it, and a link is not followed on the way.

/** Paths that match `pattern`; none: nothing does. Undefined: the pattern goes through a link. */
export function contextFiles(contextDir: string, pattern: string): string[] | undefined {
  const parts: string[] = []
  for (const part of pattern.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  let found = [contextDir]
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1
    const next: string[] = []
    for (const folder of found) {
      for (const name of matching(folder, part)) {
        const path = join(folder, name)
        const stats = lstatSync(path)
        if (isLast || stats.isDirectory()) next.push(path)
        else if (stats.isSymbolicLink()) return undefined
      }
    }
    found = next
  }
  return found
}

function matching(folder: string, part: string): string[] {
  const names = readdirSync(folder).sort()
  if (!/[*?[]/.test(part)) return names.filter((name) => name === part)
  const source = part
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  const pattern = new RegExp(`^${source}$`, 's')
  return names.filter((name) => pattern.test(name))
}

/** The compose file of a build context, if it has one. */
export function composeFile(contextDir: string): string | undefined {
  const names = ['docker-compose.yaml', 'docker-compose.yml', 'compose.yaml', 'compose.yml']
  return names.find((name) => existsSync(join(contextDir, name)))
}
