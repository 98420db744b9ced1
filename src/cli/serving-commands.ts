// Declarations of the commands that serve. Bodies are imported when a command is called.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { EngineKind } from '../backends/index.ts'
import type { EngineOptions } from './commands/engine.ts'
import type { ServeOptions } from './commands/serve.ts'
import type { Colors } from './output/colors.ts'
import type { Run } from './program.ts'
import { append, examplesFor } from './start-commands.ts'

const engines: readonly EngineKind[] = ['cpu', 'reference', 'mock']

/** Adds `serve` and `engine`. */
export function addServingCommands(program: Command, run: Run, colors: Colors): void {
  const examples = examplesFor(colors)
  program.commandsGroup('Serving:')

  program
    .command('serve')
    .description('serve training and sampling to any client of the Tinker protocol')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 10600)', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); others need EVSYS_SERVE_KEYS')
    .option('--model <name|dir>', 'base model to serve; may be repeated (default: the bundled ones)', append)
    .addOption(new Option('--engine <kind>', 'what computes (default: cpu)').choices(engines))
    .option('--dir <folder>', 'where checkpoints are kept (default: .evsys/trainer in the project)')
    .addHelpText(
      'after',
      examples([
        'evsys serve',
        'evsys serve --model evsys/nano --port 8000',
        'evsys serve --engine mock --port 0 --json',
      ]),
    )
    .action((options: ServeOptions) =>
      run(async (context) => (await import('./commands/serve.ts')).serve(context, options)),
    )

  program
    .command('engine')
    .argument('<action>', 'info or build')
    .description('tell what computes on this machine and how fast; compile its native kernels')
    .option('--force', 'with build: compile also when the kernels are there')
    .addHelpText(
      'after',
      examples(
        ['evsys engine info', 'evsys engine build', 'EVSYS_ENGINE=wasm evsys engine info --json'],
        '0  done   1  there is no compiler, or it fails   2  EVSYS_ENGINE is wrong',
      ),
    )
    .action((action: string, options: EngineOptions) =>
      run(async (context) => (await import('./commands/engine.ts')).engine(context, action, options)),
    )
}

function portNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('It must be a port: 0 to 65535.')
  return value
}
