// What a candidate in JavaScript imports: itself, the API, Node's own modules but a few, packages that the task allows.
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import { type CodeFile, type Finding, matchesIn } from './code-file.ts'

/** Start processes, reach the network, or run text as code. */
const deniedNodeModules: ReadonlySet<string> = new Set(
  'child_process cluster net tls http https http2 dgram dns inspector repl vm module wasi'.split(' '),
)

const nodeModules: ReadonlySet<string> = new Set(
  builtinModules.map((name) => name.replace(/^node:/, '').split('/')[0] ?? ''),
)

// Texts are blanked in the code, their quotes stay: the specifier is read from the text at that place.
const statements = /(?<![.\w$])(?:import|export)\b(?!\s*[(.])(?:[^'"`;=]{0,2000}?\bfrom)?\s*(?=['"])/g
const calls = /(?<![.\w$])(?:import|require)\s*\(\s*/g

/** Files of the candidate and the API, and packages that the task allows. */
interface Known {
  readonly files: ReadonlySet<string>
  readonly packages: readonly string[]
}

export function javascriptImports(file: CodeFile, known: Known): Finding[] {
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

function problemOf(name: string, from: string, known: Known): [message: string, fix: string] | undefined {
  const { files, packages } = known
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
  if (deniedNodeModules.has(first))
    return [`it imports ${name}: no processes, network or generated code`, 'do without it.']
  if (nodeModules.has(first)) return undefined
  const named = bare
    .split('/')
    .slice(0, bare.startsWith('@') ? 2 : 1)
    .join('/')
  if (packages.includes(named)) return undefined
  const allowed = packages.length === 0 ? 'no packages are allowed' : `allowed are ${packages.join(', ')}`
  return [`it imports the package ${named}`, `${allowed}: use the API and Node's own modules.`]
}

const endings = ['.js', '.cjs', '.mjs', '.json', '.ts', '/index.js', '/index.mjs', '/index.cjs']

// What a candidate in Python imports: itself, the API, the standard library but a few modules, packages that the task allows.
/** Start processes, reach the network, or run what is no Python of the candidate. */
const deniedPythonModules: ReadonlySet<string> = new Set(
  (
    'subprocess socket socketserver ssl http urllib ftplib smtplib poplib imaplib nntplib telnetlib xmlrpc webbrowser pty ' +
    'ctypes runpy code codeop'
  ).split(' '),
)
/** Of `os`: what starts or ends processes. */
const deniedOfOs = /^(?:system|popen|fork|forkpty|kill|killpg|exec\w+|spawn\w+|posix_spawn\w*)$/

const statement = /^[ \t]*(?:import[ \t]+([^\n;#]+)|from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n;#]+))/gm

export function pythonImports(file: CodeFile, known: Known): Finding[] {
  const findings: Finding[] = []
  const local = new Set(
    [...known.files].flatMap((path) => [path.split('/')[0] ?? '', path.split('/').at(-1) ?? '']).map(withoutEnding),
  )
  for (const match of matchesIn(file, statement)) {
    const [, modules, from, names] = match
    const line = file.lineAt(match.index + match[0].search(/\S/))
    const say = (message: string, fix: string) =>
      findings.push({ class: 'validation', file: file.path, line, message, fix })
    const roots =
      from === undefined ? (modules ?? '').split(',').map((each) => each.trim().split(/[\s.]/)[0] ?? '') : [from]
    for (const name of roots) {
      const root = name.startsWith('.') ? '' : (name.split('.')[0] ?? '')
      if (root === '' || local.has(root) || known.packages.includes(root)) continue
      if (deniedPythonModules.has(root))
        say(`it imports ${root}: no processes, network or foreign code`, 'do without it.')
      else if (!pythonModules.has(root) && !isTried(file.code, match.index))
        say(`it imports the package ${root}`, allowance(known.packages))
    }
    if (from !== 'os') continue
    for (const name of (names ?? '')
      .replace(/[()]/g, '')
      .split(',')
      .map((each) => each.trim().split(/\s/)[0] ?? ''))
      if (deniedOfOs.test(name)) say(`it imports os.${name}: candidates start and end no processes`, 'do without it.')
  }
  return findings
}

/** Whether the line is directly within a `try`: a package that is missing is reckoned with. */
function isTried(code: string, position: number): boolean {
  const above = code
    .slice(Math.max(0, position - 2000), position)
    .split('\n')
    .slice(0, -1)
  const depth = /^[ \t]*/.exec(code.slice(position))?.[0].length ?? 0
  const around = above.findLast((line) => line.trim() !== '' && /^[ \t]*/.exec(line)?.[0].length !== depth)
  return around !== undefined && /^[ \t]*try[ \t]*:/.test(around) && around.search(/\S/) < depth
}

function allowance(packages: readonly string[]): string {
  const allowed = packages.length === 0 ? 'no packages are allowed' : `allowed are ${packages.join(', ')}`
  return `${allowed}: use the API and the standard library.`
}

const withoutEnding = (name: string) => name.replace(/\.\w+$/, '')

// The standard library of Python 3.9 to 3.14, as `sys.stdlib_module_names` lists it.
const pythonModules: ReadonlySet<string> = new Set(
  readFileSync(new URL('../../../../templates/research/python-modules.txt', import.meta.url), 'utf8')
    .trim()
    .split(/\s+/),
)
