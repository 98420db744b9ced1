// Declarations of the commands that begin a project and check its files. Bodies are imported when a command is called.
import { type Command, InvalidArgumentError } from 'commander'
import { shells } from './commands/completion-scripts.ts'
import type { InitOptions, NewExperimentOptions } from './commands/init.ts'
import type { ValidateOptions } from './commands/validate.ts'
import type { Run } from './context/command-context.ts'
import type { Colors } from './output/colors.ts'

/** Adds `init`, `new-experiment`, `doctor`, `validate`, `list`, `schema`, `completion` and `help`. */
export function addStartCommands(program: Command, run: Run, colors: Colors): void {
  const examples = examplesFor(colors)

  program
    .command('init')
    .argument('[dir]', 'folder of the project', '.')
    .description('make a project: data, plugins, a first experiment')
    .option('--force', 'add what is missing to a folder that has some of the files; nothing is overwritten')
    .addHelpText('after', examples(['evsys init my-lab', 'evsys init', 'evsys init --force']))
    .action((dir: string, options: InitOptions) =>
      run(async (context) => (await import('./commands/init.ts')).init(context, dir, options)),
    )

  program
    .command('new-experiment')
    .argument('<slug>', 'short name: lower case letters, digits, - and _')
    .description('add an experiment to the project')
    .option('--date <yyyymmdd>', 'date in the folder name (default: today)', date)
    .addHelpText(
      'after',
      examples(['evsys new-experiment focal-loss', 'evsys new-experiment rank-sweep --date 20260131']),
    )
    .action((slug: string, options: NewExperimentOptions) =>
      run(async (context) => (await import('./commands/init.ts')).newExperiment(context, slug, options)),
    )

  program
    .command('doctor')
    .description('report what this machine has, what is missing and how to get it')
    .addHelpText(
      'after',
      examples(
        ['evsys doctor', 'evsys doctor --json'],
        '0  all that is required works   1  something required does not',
      ),
    )
    .action(() => run(async (context) => (await import('./commands/doctor.ts')).doctor(context)))

  program
    .command('validate')
    .argument('<file>', 'experiment or task file; - reads standard input')
    .description('check a file and print its plan')
    .option('--deep', 'also check plugins, params, paths, data, metric and verifier names')
    .option('--set <path=value>', 'override a value in every arm; may be repeated', append)
    .option('--dry', 'plan a dry run: every arm is capped to a few steps')
    .option('--steps <n>', 'cap every arm at this many steps', wholeNumber)
    .option('--task', 'read the file as a task file, whatever its keys say')
    .addHelpText(
      'after',
      examples(
        [
          'evsys validate experiments/quickstart/config.yaml --deep',
          'evsys validate config.yaml --set algorithm.params.max_steps=50 --set n_repeats=1',
          'cat config.yaml | evsys validate - --json',
        ],
        '0  valid   2  not valid; every problem is printed',
      ),
    )
    .action((file: string, options: ValidateOptions) =>
      run(async (context) => (await import('./commands/validate.ts')).validate(context, file, options)),
    )

  program
    .command('list')
    .argument('[kind]', 'plugin type, such as algorithms or metric')
    .description('list the plugins that YAML files can name')
    .addHelpText(
      'after',
      examples(
        ['evsys list', 'evsys list transforms', 'evsys list metric --json'],
        '0  all plugins are listed   2  one cannot be loaded; the others are listed',
      ),
    )
    .action((kind: string | undefined) =>
      run(async (context) => (await import('./commands/schema.ts')).list(context, kind)),
    )

  program
    .command('schema')
    .argument('[what]', 'experiment, task, or a plugin type')
    .argument('[name]', 'the plugin, when a type was given')
    .description('print the JSON Schema of a file or of a plugin’s params')
    .addHelpText(
      'after',
      examples(['evsys schema', 'evsys schema experiment > experiment.schema.json', 'evsys schema algorithm sft']),
    )
    .action((what: string | undefined, name: string | undefined) =>
      run(async (context) => (await import('./commands/schema.ts')).schema(context, what, name)),
    )

  program
    .command('completion')
    .argument('<shell>', shells.join(', '))
    .description('print a completion script for a shell')
    .addHelpText(
      'after',
      examples([
        'eval "$(evsys completion bash)"                                   # in ~/.bashrc',
        'eval "$(evsys completion zsh)"                                    # in ~/.zshrc, after compinit',
        'evsys completion fish > ~/.config/fish/completions/evsys.fish',
        'evsys completion powershell | Out-String | Invoke-Expression      # in $PROFILE',
      ]),
    )
    .action((shell: string) =>
      run(async (context) => (await import('./commands/completion.ts')).completion(context, shell)),
    )

  program
    .command('help')
    .argument('[command]', 'command to explain')
    .description('show help for a command')
    .action(async (name: string | undefined) => {
      const { helpFor } = await import('./context/usage-error.ts')
      helpFor(program, name)
    })

  // Asked by the completion scripts at every <Tab>.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[]) =>
      run(async (context) => (await import('./commands/completion.ts')).complete(context, program, words)),
    )
}

/** Lines of examples, and what exit codes mean where a command has its own. */
export function examplesFor(colors: Colors): (lines: readonly string[], exitCodes?: string) => string {
  return (lines, exitCodes) =>
    [
      `\n${colors.bold('Examples:')}`,
      ...lines.map((line) => `  ${colors.dim('$')} ${line}`),
      ...(exitCodes === undefined ? [] : [`\n${colors.bold('Exit codes:')}`, `  ${exitCodes}`]),
    ].join('\n')
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

function date(text: string): string {
  const [, year = '', month = '', day = ''] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? []
  const parsed = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const real = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(`${year}-${month}-${day}`)
  if (!real) throw new InvalidArgumentError('It must be a day as YYYYMMDD, such as 20260131.')
  return text
}
