// Declarations of the commands that begin a project and check its files. Bodies are imported when a command is called.
import { InvalidArgumentError } from 'commander'
import type { CommandContext } from './context/command-context.ts'
import { append, type EvsysCommand, wholeNumber } from './evsys-command.ts'

/** Adds `init`, `new-experiment`, `doctor`, `validate`, `list`, `schema`, `completion` and `help`. */
export function addStartCommands(program: EvsysCommand): void {
  program
    .command('init')
    .argument('[dir]', 'folder of the project', '.')
    .description('make a project: data, plugins, a first experiment')
    .option('--force', 'add what is missing to a folder that has some of the files; nothing is overwritten')
    .examples('evsys init my-lab', 'evsys init', 'evsys init --force')
    .runs(async () => (await import('./commands/init.ts')).init)

  program
    .command('new-experiment')
    .argument('<slug>', 'short name: lower case letters, digits, - and _')
    .description('add an experiment to the project')
    .option('--date <yyyymmdd>', 'date in the folder name (default: today)', date)
    .examples('evsys new-experiment focal-loss', 'evsys new-experiment rank-sweep --date 20260131')
    .runs(async () => (await import('./commands/init.ts')).newExperiment)

  program
    .command('doctor')
    .description('report what this machine has, what is missing and how to get it')
    .examples('evsys doctor', 'evsys doctor --json')
    .exitCodes('0  all that is required works   1  something required does not')
    .runs(async () => (await import('./commands/doctor.ts')).doctor)

  program
    .command('validate')
    .argument('<file>', 'experiment or task file; - reads standard input')
    .description('check a file and print its plan')
    .option('--deep', 'also check plugins, params, paths, data, metric and verifier names')
    .option('--set <path=value>', 'override a value in every arm; may be repeated', append)
    .option('--dry', 'plan a dry run: every arm is capped to a few steps')
    .option('--steps <n>', 'cap every arm at this many steps', wholeNumber)
    .option('--task', 'read the file as a task file, whatever its keys say')
    .examples(
      'evsys validate experiments/quickstart/config.yaml --deep',
      'evsys validate config.yaml --set algorithm.params.max_steps=50 --set n_repeats=1',
      'cat config.yaml | evsys validate - --json',
    )
    .exitCodes('0  valid   2  not valid; every problem is printed')
    .runs(async () => (await import('./commands/validate.ts')).validate)

  program
    .command('list')
    .argument('[kind]', 'plugin type, such as algorithms or metric')
    .description('list the plugins that YAML files can name')
    .examples('evsys list', 'evsys list transforms', 'evsys list metric --json')
    .exitCodes('0  all plugins are listed   2  one cannot be loaded; the others are listed')
    .runs(async () => (await import('./commands/schema.ts')).list)

  program
    .command('schema')
    .argument('[what]', 'experiment, task, or a plugin type')
    .argument('[name]', 'the plugin, when a type was given')
    .description('print the JSON Schema of a file or of a plugin’s params')
    .examples('evsys schema', 'evsys schema experiment > experiment.schema.json', 'evsys schema algorithm sft')
    .runs(async () => (await import('./commands/schema.ts')).schema)

  program
    .command('completion')
    .argument('<shell>', 'bash, zsh, fish, powershell')
    .description('print a completion script for a shell')
    .examples(
      'eval "$(evsys completion bash)"                                   # in ~/.bashrc',
      'eval "$(evsys completion zsh)"                                    # in ~/.zshrc, after compinit',
      'evsys completion fish > ~/.config/fish/completions/evsys.fish',
      'evsys completion powershell | Out-String | Invoke-Expression      # in $PROFILE',
    )
    .runs(async () => (await import('./commands/completion.ts')).completion)

  program
    .command('help')
    .argument('[command...]', 'command to explain, such as `research run`')
    .description('show help for a command')
    .action(async (words: string[]) => {
      const { helpFor } = await import('./context/usage-error.ts')
      helpFor(program, words)
    })

  // Asked by the completion scripts at every <Tab>.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .runs(async () => {
      const { complete } = await import('./commands/completion.ts')
      return (context: CommandContext, words: string[]) => complete(context, program, words)
    })
}

function date(text: string): string {
  const [, year = '', month = '', day = ''] = /^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? []
  const parsed = new Date(`${year}-${month}-${day}T00:00:00Z`)
  const real = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(`${year}-${month}-${day}`)
  if (!real) throw new InvalidArgumentError('It must be a day as YYYYMMDD, such as 20260131.')
  return text
}
