// Declaration of `research bench`. Its body is imported when it is called.
import { type Command, InvalidArgumentError } from 'commander'
import type { ResearchBenchOptions } from './commands/research-bench.ts'
import type { Colors } from './output/colors.ts'
import type { Run } from './program.ts'
import { examplesFor, wholeNumber } from './start-commands.ts'

/** Adds `bench` to the commands of `research`. */
export function addResearchBench(research: Command, run: Run, colors: Colors): void {
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
    .addHelpText(
      'after',
      examplesFor(colors)([
        'evsys research bench --tables search-tables',
        'evsys research bench --tables search-tables --strategies default,reference --repeats 100 --budget 200 --json',
        'evsys research bench --worlds cells,grids --repeats 20',
        'evsys research bench --worlds adversary,chaos',
      ]),
    )
    .action((options: ResearchBenchOptions) =>
      run(async (context) => (await import('./commands/research-bench.ts')).researchBench(context, options)),
    )
}

function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim())
  if (list.every((name) => name !== '') && new Set(list).size === list.length) return list
  throw new InvalidArgumentError('It must be names, each once, separated by commas.')
}
