// `evsys complete -- WORDS`: what may stand at the last word. One candidate per line with its description after a tab; the
// last line, `:files yaml yml` for example, says which files the shell should offer besides.
import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { completionsFor } from '../completion/completions-for.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'

export async function complete(
  { output }: CommandContext,
  program: Command,
  words: readonly string[],
): Promise<ExitCode> {
  const { candidates, files } = await completionsFor(
    program,
    words.map((word) => (word === '""' ? '' : word)), // PowerShell's way to send an empty word
  )
  const lines = candidates.map(({ value, description }) => (description === '' ? value : `${value}\t${description}`))
  output.result({ candidates, files }, () => [...lines, `:${files.join(' ')}`].join('\n'))
  return exitCodes.done
}
