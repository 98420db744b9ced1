// Declarations of the commands of the research loop. Bodies are imported when a command is called.
import { InvalidArgumentError, Option } from 'commander'
import { append, type EvsysCommand, wholeNumber } from './evsys-command.ts'

const aTask = 'task: its name, NAME/VARIANT, or a folder with task.yaml'

/** Adds `research` with its commands. */
export function addResearchCommands(program: EvsysCommand): void {
  program.commandsGroup('Research:')
  const research = program
    .command('research')
    .description('search for better recipes: propose, run, keep what is true')
    .helpCommand(false)
    .examples(
      'evsys research baseline --task digits',
      'evsys research run --task digits --max-experiments 12',
      'evsys research status',
      'evsys research report --task digits',
    )

  const ofSession = (command: EvsysCommand): EvsysCommand =>
    command
      .option('--task <name>', 'newest session of this task (default: the newest of all)')
      .option('--session <id>', 'this session')

  research
    .command('run')
    .argument('[file]', 'experiment file to research: its data, recipe and harness')
    .description('search on a task or an experiment file until a cap is reached; Ctrl-C keeps everything')
    .option('--task <name>', `${aTask} (default: shakespeare)`)
    .option('--experiment <file>', 'the experiment file, as an option')
    .option('--max-experiments <n>', 'stop after n experiments (default: 20, unless another cap is given)', wholeNumber)
    .option('--train-seconds <s>', 'training time of one experiment (default: the task’s)', seconds)
    .option('--model <id>', 'model that proposes, where a model does (default: claude-sonnet-4-6)')
    .option('--proposer <kind>', 'who proposes (default: anthropic with a key, else optimizer)')
    .option('--proposer-params <json>', 'params of the proposer, such as {"file": "tape.jsonl"} for replay')
    .option('--strategy <kind>', 'where the search continues (default: default)')
    .option('--keep-rule <kind>', 'what is kept (default: default)')
    .addOption(
      new Option('--preset <name>', 'how strict the default keep rule is (default: balanced)').choices([
        'explore',
        'balanced',
        'strict',
      ]),
    )
    .option('--workers <n>', 'experiments at a time (default: as many as cores allow)', wholeNumber)
    .option('--budget <cap>', 'wall=2h, usd=5, tokens=1000000, experiments=50, runs=100; may be repeated', append)
    .option('--seed <n>', 'root of the session’s own randomness (default: 0)', numberFromZero)
    .addOption(
      new Option(
        '--sandbox <level>',
        'how recipe code of an experiment file is shut in; `process`: not at all (default: auto, as well as the machine can)',
      ).choices(['auto', 'bubblewrap', 'chroot', 'process']),
    )
    .option('--resume', 'resume the newest session of the task that fits')
    .option('--session <id>', 'with --resume: the session to resume')
    .examples(
      'evsys research run --task digits --max-experiments 12',
      'evsys research run experiments/router/config.yaml --budget runs=40',
      'evsys research run --task moby --budget wall=30m --workers 1',
      'evsys research run --task shakespeare --model claude-sonnet-4-6 --budget usd=2',
      'evsys research run --task digits --resume --max-experiments 40',
    )
    .runs(async () => (await import('./commands/research-run.ts')).researchRun)

  research
    .command('baseline')
    .description('run the baseline of a task alone: does it work here, and how large is its noise?')
    .option('--task <name>', `${aTask} (default: shakespeare)`)
    .option('--train-seconds <s>', 'training time (default: the task’s)', seconds)
    .option('--seeds <n>', 'how many seeds, or which: 3, or 0,7,42 (default: as many as measure its noise)', seedsFrom)
    .option('--patch <file>', 'with this patch of `research export --patches` in it; may be repeated', append)
    .examples(
      'evsys research baseline --task digits',
      'evsys research baseline --task moby --seeds 3 --json',
      'evsys research baseline --task digits --patch all.patch',
    )
    .runs(async () => (await import('./commands/research-baseline.ts')).researchBaseline)

  research
    .command('space')
    .argument('<file>', 'experiment file')
    .description('print what research over an experiment may change, and what stays and why')
    .option('--arm <name>', 'of this arm, where the file has several')
    .examples('evsys research space experiment.yaml', 'evsys research space experiment.yaml --arm dedupe-sft --json')
    .runs(async () => (await import('./commands/research-space.ts')).researchSpace)

  ofSession(research.command('status'))
    .description('show a session: experiments, best so far, what it cost, what it will cost')
    .examples('evsys research status', 'evsys research status --task digits --json')
    .runs(async () => (await import('./commands/research-session.ts')).researchStatus)

  ofSession(research.command('steer'))
    .argument('<verb>', 'add-idea, ban, allow, pin, unpin, veto, keep, discard, confirm, pause or resume')
    .argument('[word]', 'idea in words, family, or experiment')
    .description('say something to a session, running or not; it is kept with its author')
    .option('--idea <json>', 'for add-idea: the idea as data, ready to run')
    .option('--author <name>', 'who says it (default: EVSYS_AUTHOR, else the user)')
    .examples(
      'evsys research steer add-idea "try a cosine schedule" --task digits',
      'evsys research steer ban activation',
      'evsys research steer veto a7 --author reviewer',
      'evsys research steer pause',
    )
    .runs(async () => (await import('./commands/research-steer.ts')).researchSteer)

  ofSession(research.command('report'))
    .description('write a session as one HTML file that opens in any browser')
    .option('-o, --output <file>', 'file to write (default: TASK-report.html)')
    .examples('evsys research report --task digits', 'evsys research report -o digits.html')
    .runs(async () => (await import('./commands/research-session.ts')).researchReportCommand)

  ofSession(research.command('export'))
    .description('write the experiments of a session as a table with tabs; kept changes as patches')
    .option('-o, --output <file>', 'file to write (default: standard output)')
    .option('--patches <folder>', 'one patch for every kept change, with its evidence')
    .examples('evsys research export --task digits -o results.tsv')
    .runs(async () => (await import('./commands/research-session.ts')).researchExport)

  addResearchBench(research)
}

function seconds(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value > 0 && value <= 1e7) return value
  throw new InvalidArgumentError('It must be a number of seconds above 0.')
}

function numberFromZero(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0.')
}

/** `3`: so many. `0,7,42`: these; `7,` is one of them. */
function seedsFrom(text: string): number | number[] {
  const parts = text.split(',')
  const isList = parts.length > 1
  if (isList && parts.at(-1) === '') parts.pop()
  const seeds = parts.map((part) => (/^\d{1,10}$/.test(part.trim()) ? Number(part) : Number.NaN))
  const areSeeds =
    seeds.every((seed) => Number.isInteger(seed) && seed < 2 ** 32) && new Set(seeds).size === seeds.length
  if (isList && areSeeds) return seeds
  if (!isList && areSeeds && seeds[0] !== undefined && seeds[0] > 0) return seeds[0]
  throw new InvalidArgumentError('It must be a whole number, 1 or more, or different seeds with commas between them.')
}

// Declaration of `research bench`. Its body is imported when it is called.
/** Adds `bench` to the commands of `research`. */
function addResearchBench(research: EvsysCommand): void {
  research
    .command('bench')
    .description(
      'measure strategies on tables and in synthetic worlds; try the executor and the controller of this machine',
    )
    .option('--tables <dir>', 'folder with tables: NAME.json and NAME.f32.gz each')
    .option(
      '--worlds <names>',
      'synthetic worlds, separated by commas: cells, grids, traps, nk, ideas; curves (who ends runs early), adversary (candidates that tamper), chaos (sessions that are disturbed); all',
      names,
    )
    .option('--strategies <kinds>', 'separated by commas (default: default,reference,greedy-dedup)', names)
    .option(
      '--repeats <n>',
      'sessions of each strategy on each table (default: 100), of each disturbance (default: 5)',
      wholeNumber,
    )
    .option('--budget <n>', 'experiments of one session; a miss counts twice that (default: 200)', wholeNumber)
    .option('--seed <n>', 'root of all chance (default: 1)', wholeNumber)
    .option(
      '--sessions <budgets>',
      'in place of searches: what whole sessions of so many experiments end with, separated by commas (worlds: cells, grids, traps, nk, null)',
      wholeNumbers,
    )
    .option('--keep-rules <kinds>', 'of whole sessions, separated by commas (default: default,reference,greedy)', names)
    .option('--rules <n>', 'version of the decisions of whole sessions: 1 or 2 (default: 2)', wholeNumber)
    .examples(
      'evsys research bench --tables search-tables',
      'evsys research bench --tables search-tables --strategies default,reference --repeats 100 --budget 200 --json',
      'evsys research bench --worlds cells,grids --repeats 20',
      'evsys research bench --tables search-tables --worlds grids,null --sessions 30,60,120',
      'evsys research bench --worlds adversary,chaos',
    )
    .runs(async () => (await import('./commands/research-bench.ts')).researchBench)
}

function wholeNumbers(text: string): number[] {
  return names(text).map(wholeNumber)
}

function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim())
  if (list.every((name) => name !== '') && new Set(list).size === list.length) return list
  throw new InvalidArgumentError('It must be names, each once, separated by commas.')
}

// Declarations of the commands about tasks. Bodies are imported when a command is called.
/** Adds `task`. */
export function addTaskCommands(program: EvsysCommand): void {
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
    .option('--deep', 'validate: get the data, look for the interpreter and run the baseline once with the scorer, too')
    .description('make, check or list research tasks')
    .examples(
      'evsys task list',
      'evsys task init curve',
      'evsys task init curve --runtime python',
      'evsys task validate curve --deep',
      'evsys task validate tasks/curve/task.yaml',
    )
    .runs(async () => (await import('./commands/task.ts')).task)
}
