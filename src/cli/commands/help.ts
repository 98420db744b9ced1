// `evsys help [COMMAND]`: the same text as `evsys COMMAND --help`.
import type { Command } from 'commander'
import { commandNames, unknownWord } from '../usage-error.ts'

/** Shows help by way of the parser, which ends the command line. */
export function helpFor(program: Command, name: string | undefined): never {
  if (name === undefined) return program.help()
  const command = program.commands.find((each) => each.name() === name)
  if (command === undefined)
    throw unknownWord('command', `'${name}'`, commandNames(program), '`evsys --help` lists them.')
  return command.help()
}
