// Declarations of the commands about data. Bodies are imported when a command is called.
import type { Command } from 'commander'
import type { Colors } from './output/colors.ts'
import type { Run } from './program.ts'
import { examplesFor } from './start-commands.ts'

/** Adds `dataset`. */
export function addDataCommands(program: Command, run: Run, colors: Colors): void {
  const examples = examplesFor(colors)
  program.commandsGroup('Data:')

  program
    .command('dataset')
    .argument('<action>', 'add or list')
    .argument('[name]', 'name of the dataset')
    .argument('[path]', 'file (.jsonl, .json, .csv, .tsv, .parquet) or folder to add')
    .description('keep datasets by name and version, or list those that are kept')
    .addHelpText(
      'after',
      examples(['evsys dataset add router data/train.jsonl', 'evsys dataset list', 'evsys dataset list router --json']),
    )
    .action((action: string, name: string | undefined, path: string | undefined) =>
      run(async (context) => (await import('./commands/dataset.ts')).dataset(context, action, name, path)),
    )
}
