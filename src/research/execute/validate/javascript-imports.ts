// What a candidate in JavaScript imports: itself, the API, Node's own modules but a few, packages that the task allows.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { type CodeFile, matchesIn } from './code-file.ts'
import type { Finding } from './finding.ts'

/** Start processes, reach the network, or run text as code. */
const denied: ReadonlySet<string> = new Set(
  'child_process cluster net tls http https http2 dgram dns inspector repl vm module wasi'.split(' '),
)

const builtins: ReadonlySet<string> = new Set(
  builtinModules.map((name) => name.replace(/^node:/, '').split('/')[0] ?? ''),
)

// Texts are blanked in the code, their quotes stay: the specifier is read from the text at that place.
const statements = /(?<![.\w$])(?:import|export)\b(?!\s*[(.])(?:[^'"`;=]{0,2000}?\bfrom)?\s*(?=['"])/g
const calls = /(?<![.\w$])(?:import|require)\s*\(\s*/g

export function javascriptImports(
  file: CodeFile,
  known: { readonly files: ReadonlySet<string>; readonly packages: readonly string[] },
): Finding[] {
  const findings: Finding[] = []
  const say = (position: number, message: string, fix: string) =>
    findings.push({ class: 'validation', file: file.path, line: file.lineAt(position), message, fix })
  const check = (position: number, name: string) => {
    const problem = problemOf(name, file.path, known)
    if (problem !== undefined) say(position, ...problem)
  }
  for (const match of matchesIn(file, statements)) {
    const name = file.literalAt(match.index + match[0].length)
    if (name !== undefined) check(match.index, name)
  }
  for (const match of matchesIn(file, calls)) {
    const at = match.index + match[0].length
    const name = file.literalAt(at)
    const isWhole = name !== undefined && /^\s*[,)]/.test(file.code.slice(at + name.length + 2))
    if (isWhole) check(match.index, name)
    else if (!isDefinition(file.code, match.index + match[0].lastIndexOf('(')))
      say(match.index, 'a module is chosen while the candidate runs', 'import modules by their name.')
  }
  return findings
}

/** Whether the parentheses that open at `position` are those of a function's parameters: a block follows them. */
export function isDefinition(code: string, position: number): boolean {
  let depth = 0
  for (let at = position; at < Math.min(code.length, position + 2000); at++) {
    if (code[at] === '(') depth += 1
    else if (code[at] === ')' && --depth === 0) return /^\s*\{/.test(code.slice(at + 1, at + 200))
  }
  return false
}

function problemOf(
  name: string,
  from: string,
  { files, packages }: { readonly files: ReadonlySet<string>; readonly packages: readonly string[] },
): [message: string, fix: string] | undefined {
  if (name.startsWith('./') || name.startsWith('../')) {
    const path = posix.join(posix.dirname(from), name)
    if (path.startsWith('..'))
      return [`it imports ${name}, outside of the candidate`, 'import files of the candidate alone.']
    const isThere = [path, ...endings.map((ending) => path + ending)].some((each) => files.has(each))
    return isThere
      ? undefined
      : [`it imports ${name}, which is not there`, `there are ${[...files].slice(0, 10).join(', ')}.`]
  }
  if (name.startsWith('/') || (name.includes(':') && !name.startsWith('node:')))
    return [`it imports ${name.slice(0, 60)}`, 'import files of the candidate, the API and Node modules alone.']
  const bare = name.replace(/^node:/, '')
  const [first = ''] = bare.split('/')
  if (denied.has(first)) return [`it imports ${name}: no processes, network or generated code`, 'do without it.']
  if (builtins.has(first)) return undefined
  const named = bare
    .split('/')
    .slice(0, bare.startsWith('@') ? 2 : 1)
    .join('/')
  if (packages.includes(named)) return undefined
  const allowed = packages.length === 0 ? 'no packages are allowed' : `allowed are ${packages.join(', ')}`
  return [`it imports the package ${named}`, `${allowed}: use the API and Node's own modules.`]
}

const endings = ['.js', '.cjs', '.mjs', '.json', '.ts', '/index.js', '/index.mjs', '/index.cjs']
