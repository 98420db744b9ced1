// `evsys completion SHELL`: a small script that asks `evsys complete` at every <Tab>. The scripts are our own: the generated
// ones of completion libraries need the bash-completion package, evaluate what stands on the command line, and cannot be
// sourced twice.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import type { PluginType } from '../../contracts/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { unknownWord } from '../context/usage-error.ts'
import { templates } from '../scaffold/write-scaffold.ts'

// Bash: from 3.2 on, without the bash-completion package. It splits words at = : and @ too; they are joined again before evsys sees
// them, and what it does not count as the current word is cut from every answer. Zsh: to be evaluated, or saved as `_evsys` in a folder
// of $fpath. PowerShell: an empty last word is sent as two quotes, since versions before 7.3 drop empty arguments of programs.
const scripts: Readonly<Record<string, string>> = {
  bash: 'evsys.bash',
  zsh: 'evsys.zsh',
  fish: 'evsys.fish',
  powershell: 'evsys.ps1',
}
const shells = Object.keys(scripts)

export async function completion({ output }: CommandContext, word: string): Promise<ExitCode> {
  const file = Object.hasOwn(scripts, word) ? scripts[word] : undefined
  if (file === undefined) throw unknownWord('completion for the shell', `'${word}'`, shells, '')
  const script = await readFile(join(templates, 'completion', file), 'utf8')
  output.result({ shell: word, script }, () => script)
  return exitCodes.done
}

// `evsys complete -- WORDS`: what may stand at the last word. One candidate per line with its description after a tab; the
// last line, `:files yaml yml` for example, says which files the shell should offer besides.
export async function complete(
  { output }: CommandContext,
  program: Command,
  words: readonly string[],
): Promise<ExitCode> {
  const line = words.map((word) => (word === '""' ? '' : word)) // PowerShell's way to send an empty word
  const { candidates, files } = await completionsFor(program, line)
  const lines = candidates.map(({ value, description }) => (description === '' ? value : `${value}\t${description}`))
  output.result({ candidates, files }, () => [...lines, `:${files.join(' ')}`].join('\n'))
  return exitCodes.done
}

// What may stand at the cursor, read from the declared commands. It loads no project plugin: a <Tab> runs no project code.
export interface Candidate {
  readonly value: string
  readonly description: string
}

export interface Completions {
  readonly candidates: readonly Candidate[]
  /** `['none']`, `['dirs']`, or `['files', ...extensions]`. */
  readonly files: readonly string[]
}

const noFiles = ['none'] as const

/** Completions of the last word of `line`, the words after the program's name. */
export async function completionsFor(program: Command, line: readonly string[]): Promise<Completions> {
  const current = line.at(-1) ?? ''
  const before = line.slice(0, -1)
  const { command, operands, pending } = read(program, before)
  if (pending !== undefined) return await valuesOf(pending, current)
  if (current.startsWith('-') && !before.includes('--')) return matching(current, optionsOf(command, before), noFiles)
  if (command.commands.length > 0) return matching(current, operands.length === 0 ? commandsOf(command) : [], noFiles)
  const argument = command.registeredArguments[operands.length]
  if (argument === undefined) return { candidates: [], files: noFiles }
  const source = sources[`${pathOf(command)} ${argument.name()}`]
  if (source === undefined) return { candidates: [], files: noFiles }
  const { candidates, files } = await source(program, operands)
  return matching(current, candidates, files)
}

interface Reading {
  readonly command: Command
  /** Words of the command that are no options. */
  readonly operands: readonly string[]
  /** Option whose value the next word is. */
  readonly pending: Option | undefined
}

function read(program: Command, before: readonly string[]): Reading {
  let command = program
  let pending: Option | undefined
  const operands: string[] = []
  for (const word of before) {
    if (pending !== undefined) pending = undefined
    else if (word.startsWith('-')) {
      const option = [...command.options, ...program.options].find((each) => each.long === word || each.short === word)
      pending = option?.required === true ? option : undefined
    } else {
      const below = operands.length === 0 ? command.commands.find((each) => each.name() === word) : undefined
      if (below === undefined) operands.push(word)
      else command = below
    }
  }
  return { command, operands, pending }
}

/** `research run`: names below that of the program. */
function pathOf(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`
}

async function valuesOf(option: Option, current: string): Promise<Completions> {
  const long = option.long ?? ''
  if (option.argChoices !== undefined) return matching(current, words(option.argChoices), noFiles)
  if (long === '--task') return matching(current, words(await taskNames()), ['dirs'])
  const type = kindOptions[long]
  if (type !== undefined) return matching(current, words(await kindsOf(type)), noFiles)
  return { candidates: [], files: folderOptions.includes(long) ? ['dirs'] : long === '--output' ? ['files'] : noFiles }
}

/** Options whose value is a folder, and those that name a plugin. */
const folderOptions: readonly string[] = ['--project', '--tables', '--patches']
const kindOptions: Readonly<Record<string, PluginType>> = {
  '--proposer': 'proposer',
  '--strategy': 'strategy',
  '--keep-rule': 'keep_rule',
}

async function kindsOf(type: string | undefined): Promise<string[]> {
  const { allBuiltins } = await import('../../research/index.ts')
  const kinds = (await allBuiltins()).filter((plugin) => plugin.type === type).map(({ kind }) => kind)
  return kinds.map((kind) => kind.replace(/\{\w+\}/, '1')).sort() // of a family, its first member
}

async function taskNames(): Promise<string[]> {
  const { findTasks } = await import('../../research/index.ts')
  return (await findTasks({})).map(({ name }) => name).sort()
}

function matching(current: string, candidates: readonly Candidate[], files: readonly string[]): Completions {
  return { candidates: candidates.filter(({ value }) => value.startsWith(current)), files }
}

/** Options that make sense more than once. */
const repeatable: readonly string[] = ['--set', '--budget']

function optionsOf(command: Command, before: readonly string[]): Candidate[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
    .filter(({ long }) => long !== undefined && (repeatable.includes(long) || !before.includes(long)))
    .map(({ long, description }) => ({ value: long ?? '', description }))
}

function commandsOf(program: Command): Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ value: command.name(), description: command.description() }))
}

function words(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, description: '' }))
}

type Source = (program: Command, operands: readonly string[]) => Completions | Promise<Completions>

// By `command argument`.
const sources: Record<string, Source> = {
  'init dir': () => ({ candidates: [], files: ['dirs'] }),
  'validate file': () => ({ candidates: [], files: ['files', 'yaml', 'yml'] }),
  'dataset action': () => ({ candidates: words(['add', 'list']), files: noFiles }),
  'dataset path': () => ({ candidates: [], files: ['files', 'jsonl', 'json', 'csv', 'tsv', 'parquet'] }),
  'run file': () => ({ candidates: [], files: ['files', 'yaml', 'yml'] }),
  'import file': () => ({ candidates: [], files: ['files', 'json', 'tsv'] }),
  'benchmark action': () => ({ candidates: words(['run', 'upload']), files: noFiles }),
  'db action': () => ({ candidates: words(['backup', 'migrate']), files: noFiles }),
  'checkpoint action': () => ({ candidates: words(['list', 'export']), files: noFiles }),
  'engine action': () => ({ candidates: words(['build', 'info']), files: noFiles }),
  'completion shell': () => ({ candidates: words(shells), files: noFiles }),
  'help command': (program) => ({ candidates: commandsOf(program), files: noFiles }),
  'list kind': async () => {
    const { pluralTypes } = await import('../context/project.ts')
    return { candidates: words(pluralTypes()), files: noFiles }
  },
  'schema what': async () => {
    const { PluginType } = await import('../../contracts/index.ts')
    const documents = [
      { value: 'experiment', description: 'the experiment file' },
      { value: 'task', description: 'the task file' },
    ]
    return { candidates: [...documents, ...words(PluginType.options)], files: noFiles }
  },
  'schema name': async (_program, [type]) => ({ candidates: words(await kindsOf(type)), files: noFiles }),
  'research steer verb': async () => {
    const { steeringVerbs } = await import('./research-steer.ts')
    return { candidates: words(steeringVerbs), files: noFiles }
  },
  'task action': () => ({ candidates: words(['init', 'list', 'validate']), files: noFiles }),
  'task name': async (_program, [action]) =>
    action === 'validate'
      ? { candidates: words(await taskNames()), files: ['dirs'] }
      : { candidates: [], files: noFiles },
}
