// What can be typed: the parser, its global options and how help looks. Commands are declared in groups and their bodies
// imported when they are called.
import { resolve } from 'node:path'
import type { Command, CommanderError } from 'commander'
import { type ExitCode, exitCodes, type Run } from './context/command-context.ts'
import { packageVersion } from './context/package-version.ts'
import { EvsysCommand } from './evsys-command.ts'
import { addDataCommands, addScoringCommands, addServingCommands } from './model-commands.ts'
import { colorsFor, plainColors } from './output/colors.ts'
import type { CliIo } from './output/io.ts'
import { createOutput, type LiveSink, type Silence, watchSilence } from './output/output.ts'
import { addRecordCommands } from './record-commands.ts'
import { addResearchCommands, addTaskCommands } from './research-commands.ts'
import { addStartCommands } from './start-commands.ts'

type ProgramOptions = {
  readonly io: CliIo & { readonly stderr: LiveSink }
  readonly json: boolean
  /** What the command is at, in words, and what an interruption adds to them; commands add to it while they hold something. */
  readonly held: Map<string, string>
  /** Hears of everything that is written. */
  readonly onWritten: (listener: () => void) => void
}

/** Parses a command line and runs its command. */
export async function runProgram(
  argv: readonly string[],
  { io, json, held, onWritten }: ProgramOptions,
): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done
  let help = ''
  const run: Run = async (body) => {
    const { quiet, project } = program.opts<{ quiet?: true | undefined; project?: string | undefined }>()
    using silence = quiet === true ? undefined : await openSilence(io.stderr, held)
    onWritten(() => silence?.restart())
    code = await body({
      output: createOutput(io, { json, quiet: quiet === true, onResult: () => silence?.[Symbol.dispose]() }),
      live: io.stderr,
      cwd: io.cwd,
      env: io.env,
      stdin: io.stdin,
      signal: io.signal,
      async evsys(words) {
        silence?.[Symbol.dispose]()
        return await runProgram([...(project === undefined ? [] : ['--project', project]), ...words], {
          ...{ io, json, held, onWritten },
        })
      },
      project: project === undefined ? undefined : resolve(io.cwd, project),
      async holding(what, work, { onEnd = '' } = {}) {
        held.set(what, onEnd)
        try {
          return await work()
        } finally {
          held.delete(what)
        }
      },
    })
  }
  const program = createProgram(run, {
    width: io.stdout.isTTY === true ? (io.stdout.columns ?? 80) : 100,
    colors: json ? plainColors : colorsFor(io.stdout, io.env),
    write: (text) => {
      help += text
    },
  })
  const bare = argv.every((word) => word === '--json' || word === '--quiet')
  const ended = await parse(program, bare ? [...argv, '--help'] : argv)
  if (ended === undefined) return code
  const { error, command } = ended
  if (error.exitCode === 0) {
    const key = error.code === 'commander.version' ? 'version' : 'help'
    createOutput(io, { json, quiet: false }).result({ [key]: help.trimEnd() }, () => help)
    return exitCodes.done
  }
  const { usageError } = await import('./context/usage-error.ts')
  throw usageError(error, command)
}

// Here and not above: the compiler leaves the extension of an import as it is beside a `using`, and `--help` needs no kernel.
async function openSilence(live: LiveSink, held: ReadonlyMap<string, string>): Promise<Silence> {
  const { announceWait } = await import('../kernel/index.ts')
  return watchSilence(announceWait, live, () => [...held.keys()].at(-1))
}

/** Why the parser stopped, and at which command. */
type Ended = { readonly error: CommanderError; readonly command: Command }

// The parser reports by throwing; the first stop counts and carries its command, which the error itself does not know.
async function parse(program: Command, argv: readonly string[]): Promise<Ended | undefined> {
  let ended: Ended | undefined
  for (const command of [program, ...program.commands.flatMap((each) => [each, ...each.commands])]) {
    command.exitOverride((error) => {
      ended ??= { error, command }
      throw error
    })
  }
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (ended?.error !== error) throw error
  }
  return ended
}

type HelpOptions = {
  readonly width: number
  readonly colors: typeof plainColors
  readonly write: (text: string) => void
}

/** The parser with every command declared. */
export function createProgram(run: Run, { width, colors, write }: HelpOptions): Command {
  const program = new EvsysCommand('evsys', run, colors)
    .description('Runs training experiments from one YAML file: a hypothesis, a recipe, a conclusion with evidence.')
    .version(packageVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--json', 'print one JSON document on stdout; logs go to stderr')
    .option('--project <dir>', 'project folder (default: the nearest one above)')
    .option('--quiet', 'print results and errors only')
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (text) => colors.bold(text),
      styleCommandText: (text) => colors.cyan(text),
      styleOptionText: (text) => colors.cyan(text),
      subcommandTerm: commandTerm,
    })
    .configureOutput({
      writeOut: write,
      writeErr: () => {},
      outputError: () => {}, // usage errors are printed like all other errors
      getOutHelpWidth: () => width,
      getOutHasColors: () => colors.isColorSupported,
    })
    .showSuggestionAfterError(false)
    .helpCommand(false)
    .addHelpText(
      'after',
      `
${colors.bold('Exit codes:')}
  0  done   1  the run failed   2  your input is wrong   130  interrupted

${colors.bold('Environment:')}
  NO_COLOR, FORCE_COLOR    without colours; with colours also in a pipe
  EVSYS_PLUGIN_TIMEOUT_MS  how long a plugin file may take to load (default: 20000)
  EVSYS_ENGINE             native or wasm: what the CPU engine computes with (default: auto)
  EVSYS_DEBUG=1            show the stack of an error

Begin with \`evsys init my-lab\`. \`evsys help COMMAND\` shows examples of a command.`,
    )
  addStartCommands(program)
  addRecordCommands(program)
  addScoringCommands(program)
  addResearchCommands(program)
  addDataCommands(program)
  addServingCommands(program)
  addTaskCommands(program)
  return program
}

// Without "[options]": in a list of commands it says nothing.
function commandTerm(command: Command): string {
  const args = command.registeredArguments.map((each) => {
    const name = each.variadic ? `${each.name()}...` : each.name()
    return each.required ? `<${name}>` : `[${name}]`
  })
  return [command.name(), ...args].join(' ')
}
