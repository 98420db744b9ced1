// A command line that cannot be understood, as one of our errors: what is wrong, what was probably meant, how it is used.
import type { Command, CommanderError } from 'commander'
import { EvsysError, suggest } from '../../kernel/index.ts'

/** The error for what the parser refused at `command`. */
export function usageError(error: CommanderError, command: Command): EvsysError {
  const path = commandPath(command)
  const help = `\`${path} --help\` shows how it is used.`
  const message = error.message.replace(/^error: /, '')
  switch (error.code) {
    case 'commander.unknownCommand':
      return unknownWord('command', message, commandNames(command), help)
    case 'commander.unknownOption':
      return unknownWord('option', message, optionNames(command), help)
    case 'commander.help':
      return new EvsysError('CLI_USAGE', 'no command was given', {
        fix: suggest('', commandNames(command), { more: help }),
      })
    default:
      return new EvsysError('CLI_USAGE', message, { fix: `write \`${path} ${command.usage()}\`. ${help}` })
  }
}

/** `there is no command "valdate"`, with the nearest known one. */
export function unknownWord(what: string, message: string, known: readonly string[], more: string): EvsysError {
  const word = /'(.*)'$/s.exec(message)?.[1] ?? message
  return new EvsysError('CLI_USAGE', `there is no ${what} "${word}"`, { fix: suggest(word, known, { more }) })
}

/** Names of the commands below a command that help shows. */
function commandNames(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
}

function optionNames(command: Command): string[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)].flatMap(({ long }) => long ?? [])
}

function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`
}

// `evsys help [COMMAND]`: the same text as `evsys COMMAND --help`.
/** Shows help by way of the parser, which ends the command line. */
export function helpFor(program: Command, words: readonly string[]): never {
  let command = program
  for (const word of words) {
    if (command !== program && command.commands.length === 0) break // an action of it: its help holds all of them
    const below = command.commands.find((each) => each.name() === word)
    const path = commandPath(command)
    if (below === undefined)
      throw unknownWord('command', `'${word}'`, commandNames(command), `\`${path} --help\` lists them.`)
    command = below
  }
  return command.help()
}
