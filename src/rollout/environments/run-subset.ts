// Which RUN lines of a Dockerfile can be done in the local sandbox: those made of commands that only touch files, and of package
// installations whose commands this machine has. Everything else needs the image itself.
import { wordsOf } from './dockerfile.ts'

/** What became of a RUN line: the script to run (maybe without installations), or why it cannot be. */
type RunPlan = { readonly script: string; readonly skipped: readonly string[] } | { readonly unfit: string }

/** Whether a command is on the PATH of the sandbox. */
export type HasCommand = (name: string) => boolean

const fileCommands = new Set(
  'mkdir chmod chown echo printf ln touch cp mv rm rmdir cat true : test [ set cd pwd ls sed awk grep head tail cut tr sort uniq wc tee install find xargs date id whoami tar gzip gunzip umask export'.split(
    ' ',
  ),
)

export function planRun(text: string, hasCommand: HasCommand): RunPlan {
  if (/<<-?\s*['"]?\w/.test(text)) return { unfit: 'a here-document' }
  if (/`|\$\(|<\(|>\(|(?:^|[\s;&|])[({](?:\s|$)/.test(text))
    return { unfit: `a command inside a command: ${short(text)}` }
  const parts = splitCommands(text)
  if (parts === undefined) return { unfit: `a line with an open quote: ${short(text)}` }
  const skipped: string[] = []
  let script = ''
  for (const { command, operator } of parts) {
    const planned = planCommand(command, hasCommand)
    if ('unfit' in planned) return planned
    if (planned.skips !== undefined) skipped.push(planned.skips)
    script += `${planned.skips === undefined ? command : 'true'} ${operator} `
  }
  return { script: script.trim(), skipped }
}

type CommandPlan = { unfit: string } | { skips?: string | undefined }

function planCommand(command: string, hasCommand: HasCommand): CommandPlan {
  const words = wordsOf(command).filter(
    (word, index, all) => !(isAssignment(word) && all.slice(0, index).every(isAssignment)),
  )
  const [program] = words
  if (program === undefined) return {}
  const name = program.replace(/^.*\//, '')
  const installs = packagesOf(name, words.slice(1))
  if (installs === undefined) {
    if (!fileCommands.has(name)) return { unfit: `the command ${name}` }
    return hasCommand(name) || builtIn.has(name) ? {} : { unfit: `the command ${name}, which is not on this machine` }
  }
  const missing = installs.filter((each) => !isProvided(each, hasCommand))
  if (missing.length > 0) return { unfit: `the package${missing.length === 1 ? '' : 's'} ${missing.join(', ')}` }
  return { skips: short(command) }
}

const builtIn = new Set([':', '[', 'cd', 'set', 'export', 'umask', 'true', 'echo', 'printf', 'test', 'pwd'])

function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word)
}

// Packages that a package manager is asked for; none for `update` and the like; undefined: not a package manager.
function packagesOf(name: string, words: readonly string[]): string[] | undefined {
  if (!['apt-get', 'apt', 'apk', 'dnf', 'yum', 'microdnf'].includes(name)) return undefined
  const [verb, ...rest] = words.filter((word) => !word.startsWith('-'))
  if (verb !== 'install' && verb !== 'add') return []
  return rest.map((word) => word.replace(/[=~<>:].*$/, ''))
}

// A package without a command of its own name: the commands that show that it is there. Empty: it brings none that tasks call.
const provided: Record<string, readonly string[]> = {
  'ca-certificates': [],
  tzdata: [],
  locales: [],
  'apt-utils': [],
  coreutils: ['ls', 'cat'],
  'build-essential': ['gcc', 'make'],
  'build-base': ['gcc', 'make'],
  procps: ['ps'],
  findutils: ['find'],
  'util-linux': ['mount'],
  iproute2: ['ip'],
  'net-tools': ['netstat'],
  dnsutils: ['dig'],
  'xz-utils': ['xz'],
  python: ['python3'],
  'python3-pip': ['pip3'],
  'py3-pip': ['pip3'],
  'python3-dev': ['python3-config'],
  nodejs: ['node'],
  'vim-tiny': ['vi'],
  ripgrep: ['rg'],
  'netcat-openbsd': ['nc'],
  gawk: ['awk'],
}

function isProvided(name: string, hasCommand: HasCommand): boolean {
  return (provided[name] ?? [name]).every(hasCommand)
}

// At `&&`, `||`, `;`, `|` and new lines, outside quotes.
function splitCommands(text: string): { command: string; operator: string }[] | undefined {
  const parts: { command: string; operator: string }[] = []
  let command = ''
  let rest = text
  while (rest !== '') {
    const piece = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|&>|[<>]&|[^"'\\&|;\n])/s.exec(rest)?.[0]
    if (piece !== undefined) {
      command += piece
      rest = rest.slice(piece.length)
      continue
    }
    const operator = /^(?:&&|\|\||\|&|[|;&\n])/.exec(rest)?.[0]
    if (operator === undefined) return undefined
    parts.push({ command: command.trim(), operator: operator === '\n' ? ';' : operator })
    command = ''
    rest = rest.slice(operator.length)
  }
  parts.push({ command: command.trim(), operator: '' })
  return parts
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
