// A command as it is declared: with examples in its help, and a body that is imported when the command is called.
import { Command, InvalidArgumentError } from 'commander'
import type { CommandContext, ExitCode, Run } from './context/command-context.ts'
import type { Colors } from './output/colors.ts'

export class EvsysCommand extends Command {
  readonly #run: Run
  readonly #colors: Colors

  constructor(name: string, run: Run, colors: Colors) {
    super(name)
    this.#run = run
    this.#colors = colors
  }

  override createCommand(name = ''): EvsysCommand {
    return new EvsysCommand(name, this.#run, this.#colors)
  }

  /** Lines of its help. */
  examples(...lines: readonly string[]): this {
    return this.#section('Examples:', ...lines.map((line) => `${this.#colors.dim('$')} ${line}`))
  }

  /** What exit codes mean where it has its own. */
  exitCodes(text: string): this {
    return this.#section('Exit codes:', text)
  }

  #section(title: string, ...lines: readonly string[]): this {
    return this.addHelpText('after', [`\n${this.#colors.bold(title)}`, ...lines.map((line) => `  ${line}`)].join('\n'))
  }

  /** Its body: it takes the context, the arguments and the options. */
  runs<A extends readonly unknown[]>(
    load: () => Promise<(context: CommandContext, ...words: A) => Promise<ExitCode>>,
  ): this {
    return this.action((...words: unknown[]) => {
      const typed = words.slice(0, -1) as unknown as A // the parser hands over what was declared, then the command itself
      return this.#run(async (context) => (await load())(context, ...typed))
    })
  }
}

/** Collects the values of an option that may be repeated. */
export function append(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}

/** The value of an option that counts something. */
export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a whole number, 1 or more.')
  }
  return value
}
