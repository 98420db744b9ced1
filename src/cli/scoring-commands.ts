// Declarations of the commands that score. Bodies are imported when a command is called.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { BenchmarkOptions } from './commands/benchmark.ts'
import type { EvalOptions } from './commands/eval.ts'
import type { RescoreOptions } from './commands/rescore.ts'
import type { Colors } from './output/colors.ts'
import type { Run } from './program.ts'
import { append, examplesFor, wholeNumber } from './start-commands.ts'

/** Adds `eval`, `benchmark` and `rescore`. */
export function addScoringCommands(program: Command, run: Run, colors: Colors): void {
  const examples = examplesFor(colors)
  program.commandsGroup('Scoring:')
  const scoring = (command: Command): Command =>
    command
      .option('--metric <name>', 'metric; may be repeated (default: mean_reward and pass_rate)', append)
      .option('--num-samples <n>', 'answers to each task (default: 1)', wholeNumber)
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
    .addHelpText(
      'after',
      examples([
        'evsys eval router/lr0.1-seed42 --benchmark data/test',
        'evsys eval evsys/tiny --benchmark router-test@2',
        'evsys eval claude-sonnet-4-6 --benchmark data/test --metric pass@3 --num-samples 3 --temperature 0.7',
      ]),
    )
    .action((target: string, options: EvalOptions) =>
      run(async (context) => (await import('./commands/eval.ts')).evalCommand(context, target, options)),
    )

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
    .addHelpText(
      'after',
      examples([
        'evsys benchmark run --path data/test --model claude-sonnet-4-6',
        'evsys benchmark upload data/test --name router-test',
        'evsys benchmark run --name router-test --model evsys/tiny --json',
        'evsys benchmark run --path tasks --agent oracle',
        'evsys benchmark run --path tasks --agent terminal --model claude-sonnet-4-6 --output jobs/first',
      ]),
    )
    .action((action: string, folder: string | undefined, options: BenchmarkOptions) =>
      run(async (context) => (await import('./commands/benchmark.ts')).benchmark(context, action, folder, options)),
    )

  program
    .command('rescore')
    .argument('<id>', 'experiment or evaluation: its id, the beginning of its id, or its name')
    .description('score stored answers by today’s tasks, verifiers and metrics; nothing is asked again')
    .option('--keep', 'replace the scores of the experiment by the new ones and conclude again')
    .addHelpText(
      'after',
      examples(['evsys rescore router', 'evsys rescore exp_01hf --keep', 'evsys rescore eval_01hf']),
    )
    .action((id: string, options: RescoreOptions) =>
      run(async (context) => (await import('./commands/rescore.ts')).rescore(context, id, options)),
    )
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
