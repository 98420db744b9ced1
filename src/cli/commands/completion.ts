// `evsys completion SHELL`: a small script that asks `evsys complete` at every <Tab>. The scripts are our own: the generated
// ones of completion libraries need the bash-completion package, evaluate what stands on the command line, and cannot be
// sourced twice.
import type { CommandContext } from '../command-context.ts'
import { bashScript } from '../completion/bash-script.ts'
import { fishScript } from '../completion/fish-script.ts'
import { powershellScript } from '../completion/powershell-script.ts'
import { type Shell, shells } from '../completion/shells.ts'
import { zshScript } from '../completion/zsh-script.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { unknownWord } from '../usage-error.ts'

const scripts: Record<Shell, string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
}

export async function completion({ output }: CommandContext, word: string): Promise<ExitCode> {
  const shell = shells.find((each) => each === word)
  if (shell === undefined) throw unknownWord('completion for the shell', `'${word}'`, shells, '')
  output.result({ shell, script: scripts[shell] }, () => scripts[shell])
  return exitCodes.done
}
