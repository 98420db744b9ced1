// Declarations of the commands about tasks. Bodies are imported when a command is called.
import { type Command, Option } from 'commander'
import type { TaskOptions } from './commands/task.ts'
import type { Colors } from './output/colors.ts'
import type { Run } from './program.ts'
import { examplesFor } from './start-commands.ts'

/** Adds `task`. */
export function addTaskCommands(program: Command, run: Run, colors: Colors): void {
  const examples = examplesFor(colors)
  program.commandsGroup('Research:')

  program
    .command('task')
    .argument('<action>', 'init, validate or list')
    .argument('[name]', 'name of a task; to validate, also its folder or file')
    .addOption(
      new Option('--runtime <name>', 'init: what candidates are written in')
        .choices(['node', 'python'])
        .default('node'),
    )
    .option('--deep', 'validate: get the data and look for the interpreter, too')
    .description('make, check or list research tasks')
    .addHelpText(
      'after',
      examples([
        'evsys task list',
        'evsys task init curve',
        'evsys task init curve --runtime python',
        'evsys task validate curve --deep',
        'evsys task validate tasks/curve/task.yaml',
      ]),
    )
    .action((action: string, name: string | undefined, options: TaskOptions) =>
      run(async (context) => (await import('./commands/task.ts')).task(context, action, name, options)),
    )
}
