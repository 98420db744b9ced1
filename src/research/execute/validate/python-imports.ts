// What a candidate in Python imports: itself, the API, the standard library but a few modules, packages that the task allows.
import { type CodeFile, matchesIn } from './code-file.ts'
import type { Finding } from './finding.ts'
import { pythonModules } from './python-modules.ts'

/** Start processes, reach the network, or run what is no Python of the candidate. */
const denied: ReadonlySet<string> = new Set(
  (
    'subprocess socket socketserver ssl http urllib ftplib smtplib poplib imaplib nntplib telnetlib xmlrpc webbrowser pty ' +
    'ctypes runpy code codeop'
  ).split(' '),
)
/** Of `os`: what starts or ends processes. */
const deniedOfOs = /^(?:system|popen|fork|forkpty|kill|killpg|exec\w+|spawn\w+|posix_spawn\w*)$/

const statement = /^[ \t]*(?:import[ \t]+([^\n;#]+)|from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]{0,2000}\)|[^\n;#]+))/gm

export function pythonImports(
  file: CodeFile,
  known: { readonly files: ReadonlySet<string>; readonly packages: readonly string[] },
): Finding[] {
  const findings: Finding[] = []
  const local = new Set(
    [...known.files].flatMap((path) => [path.split('/')[0] ?? '', path.split('/').at(-1) ?? '']).map(withoutEnding),
  )
  for (const match of matchesIn(file, statement)) {
    const [, modules, from, names] = match
    const say = (message: string, fix: string) =>
      findings.push({
        class: 'validation',
        file: file.path,
        line: file.lineAt(match.index + match[0].search(/\S/)),
        message,
        fix,
      })
    const roots =
      from === undefined ? (modules ?? '').split(',').map((each) => each.trim().split(/[\s.]/)[0] ?? '') : [from]
    for (const name of roots) {
      const root = name.startsWith('.') ? '' : (name.split('.')[0] ?? '')
      if (root === '' || local.has(root) || known.packages.includes(root)) continue
      if (denied.has(root)) say(`it imports ${root}: no processes, network or foreign code`, 'do without it.')
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
