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
    .description('measure strategies on tables of finished trainings and in synthetic worlds, with no training')
    .option('--tables <dir>', 'folder with tables: NAME.json and NAME.f32.gz each')
    .option('--worlds <names>', 'synthetic worlds, separated by commas: cells, grids, traps, nk, ideas', names)
    .option('--strategies <kinds>', 'separated by commas (default: default,reference,greedy-dedup)', names)
    .option('--repeats <n>', 'sessions of each strategy on each table (default: 100)', wholeNumber)
    .option('--budget <n>', 'experiments of one session; a miss counts twice that (default: 200)', wholeNumber)
    .option('--seed <n>', 'root of all chance (default: 1)', wholeNumber)
    .addHelpText(
      'after',
      examplesFor(colors)([
        'evsys research bench --tables search-tables',
        'evsys research bench --tables search-tables --strategies default,reference --repeats 100 --budget 200 --json',
        'evsys research bench --worlds cells,grids --repeats 20',
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
