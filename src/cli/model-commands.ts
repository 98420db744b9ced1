// Declarations of the commands that score. Bodies are imported when a command is called.
import { InvalidArgumentError, Option } from 'commander'
import type { EngineKind } from '../backends/index.ts'
import { append, type EvsysCommand, wholeNumber } from './evsys-command.ts'

/** Adds `eval`, `benchmark` and `rescore`. */
export function addScoringCommands(program: EvsysCommand): void {
  program.commandsGroup('Scoring:')
  const scoring = (command: EvsysCommand): EvsysCommand =>
    command
      .option('--metric <name>', 'metric; may be repeated (default: mean_reward and pass_rate)', append)
      .option('--num-samples <n>', 'answers to each task (default: the largest k of pass@k, else 1)', wholeNumber)
      .option('--max-tokens <n>', 'longest answer (default: 512)', wholeNumber)
      .option('--temperature <t>', 'sampling temperature (default: 0)', temperature)
      .option('--limit <n>', 'the first n tasks alone', wholeNumber)
      .option('--concurrent <n>', 'answers at a time (default: 8)', wholeNumber)
      .option('--system-prompt <text>', 'put before every task')
      .option('--breakdown <key>', 'field of task metadata to break scores down by; may be repeated', append)
      .addOption(new Option('--split <name>', 'what the benchmark is for (default: test)').choices(['val', 'test']))

  scoring(program.command('eval'))
    .argument('<target>', 'run (its best checkpoint), base model, or model behind an API')
    .description('score a checkpoint, a base model or an API model on a benchmark')
    .requiredOption('--benchmark <folder|name>', 'folder with tasks.jsonl, or a named benchmark: NAME or NAME@VERSION')
    .option('--step <n>', 'checkpoint of this step (default: the best on validation, else the last)', wholeNumber)
    .examples(
      'evsys eval router/lr0.1-seed42 --benchmark data/test',
      'evsys eval evsys/tiny --benchmark router-test@2',
      'evsys eval claude-sonnet-4-6 --benchmark data/test --metric pass@3 --num-samples 3 --temperature 0.7',
    )
    .runs(async () => (await import('./commands/eval.ts')).evalCommand)

  scoring(program.command('benchmark'))
    .argument('<action>', 'run or upload')
    .argument('[folder]', 'benchmark folder, for upload')
    .description('score a model on a benchmark or on task folders; keep a benchmark folder as a named version')
    .option('--path <folder>', 'for run: benchmark folder, Harbor task folder, or folder of task folders')
    .option('--id <name@version>', 'named benchmark, for run')
    .option('--name <name>', 'named benchmark, its newest version; for upload: the name to keep it under')
    .option('--model <name>', 'model, for run: claude-sonnet-4-6, openai:NAME, evsys/tiny, or a run')
    .option('--agent <kind>', 'on task folders: who attempts them; oracle and nop need no model (default: shell_loop)')
    .option('--agent-params <json>', 'on task folders: params of the agent')
    .option('--environment <kind>', 'on task folders: where they happen (default: auto)')
    .option('--output <folder>', 'on task folders: folder of the job; one that is there is continued')
    .option('--max-turns <n>', 'on task folders: most answers of one attempt (default: 100)', wholeNumber)
    .option('--retries <n>', 'on task folders: repetitions after a failure of infrastructure (default: 1)', repetitions)
    .examples(
      'evsys benchmark run --path data/test --model claude-sonnet-4-6',
      'evsys benchmark upload data/test --name router-test',
      'evsys benchmark run --name router-test --model evsys/tiny --json',
      'evsys benchmark run --path tasks --agent oracle',
      'evsys benchmark run --path tasks --agent terminal --model claude-sonnet-4-6 --output jobs/first',
    )
    .runs(async () => (await import('./commands/benchmark.ts')).benchmark)

  program
    .command('rescore')
    .argument('<id>', 'experiment or evaluation: its id, the beginning of its id, or its name')
    .description('score stored answers by today’s tasks, verifiers and metrics; nothing is asked again')
    .option('--keep', 'replace the scores of the experiment by the new ones and conclude again')
    .examples('evsys rescore router', 'evsys rescore exp_01hf --keep', 'evsys rescore eval_01hf')
    .runs(async () => (await import('./commands/rescore.ts')).rescore)
}

function repetitions(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0.')
}

function temperature(text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0 && value <= 100) return value
  throw new InvalidArgumentError('It must be a number from 0.')
}

// Declarations of the commands about data. Bodies are imported when a command is called.
/** Adds `dataset`. */
export function addDataCommands(program: EvsysCommand): void {
  program.commandsGroup('Data:')

  program
    .command('dataset')
    .argument('<action>', 'add or list')
    .argument('[name]', 'name of the dataset')
    .argument('[path]', 'file (.jsonl, .json, .csv, .tsv, .parquet) or folder to add')
    .description('keep datasets by name and version, or list those that are kept')
    .examples('evsys dataset add router data/train.jsonl', 'evsys dataset list', 'evsys dataset list router --json')
    .runs(async () => (await import('./commands/dataset.ts')).dataset)
}

// Declarations of the commands that serve. Bodies are imported when a command is called.
const engines: readonly EngineKind[] = ['cpu', 'reference', 'mock']

const quotaNames = ['sessions', 'models', 'checkpoints', 'gigabytes', 'samples']

function quota(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, name = '', count = ''] = /^(\w+)=(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (!quotaNames.includes(name))
    throw new InvalidArgumentError(`It must be NAME=N; names are ${quotaNames.join(', ')}.`)
  return { ...before, [name]: Number(count) }
}

/** Adds `serve`, `checkpoint` and `engine`. */
export function addServingCommands(program: EvsysCommand): void {
  program.commandsGroup('Serving:')

  program
    .command('serve')
    .description('serve training and sampling to any client of the Tinker protocol')
    .option('--port <n>', 'port to listen on; 0 takes a free one (default: 10600)', portNumber)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1); others need EVSYS_SERVE_KEYS')
    .option(
      '--model <name|dir|run>',
      'base model, run or EXPERIMENT/ARM to serve; may be repeated (default: the bundled ones)',
      append,
    )
    .addOption(new Option('--engine <kind>', 'what computes (default: cpu)').choices(engines))
    .option('--dir <folder>', 'where checkpoints are kept (default: .evsys/trainer in the project)')
    .option(
      '--quota <name=n>',
      'what each key of a user may hold: sessions, models, checkpoints, gigabytes, samples that wait; may be repeated',
      quota,
    )
    .examples(
      'evsys serve',
      'evsys serve --model evsys/nano --port 8000',
      'evsys serve --model router/lr0.1',
      'evsys serve --engine mock --port 0 --json',
      'evsys serve --quota models=4 --quota gigabytes=20',
    )
    .runs(async () => (await import('./commands/serve.ts')).serve)

  program
    .command('checkpoint')
    .argument('<action>', 'list or export')
    .argument('[name]', 'list: an experiment (default: all); export: run or EXPERIMENT/ARM')
    .description('list the weights that runs saved; take one out as a folder that PEFT reads')
    .option(
      '--step <n>',
      'export: checkpoint of this step (default: the best on validation, else the last)',
      wholeNumber,
    )
    .option('-o, --output <folder>', 'export: folder to make')
    .examples(
      'evsys checkpoint list',
      'evsys checkpoint list router --json',
      'evsys checkpoint export router/lr0.1 -o adapter',
    )
    .runs(async () => (await import('./commands/checkpoint.ts')).checkpoint)

  program
    .command('engine')
    .argument('<action>', 'info or build')
    .description('tell what computes on this machine and how fast; compile its native kernels')
    .option('--force', 'with build: compile also when the kernels are there')
    .examples('evsys engine info', 'evsys engine build', 'EVSYS_ENGINE=wasm evsys engine info --json')
    .exitCodes('0  done   1  there is no compiler, or it fails   2  EVSYS_ENGINE is wrong')
    .runs(async () => (await import('./commands/serve.ts')).engine)
}

function portNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('It must be a port: 0 to 65535.')
  return value
}
