// Declarations of the commands that run experiments and read their record. Bodies are imported when a command is called.
import { InvalidArgumentError, Option } from 'commander'
import { append, type EvsysCommand, wholeNumber } from './evsys-command.ts'

const anExperiment = 'experiment: its id, the beginning of its id, or its name'

/** Adds `run`, `history`, `show`, `compare`, `next`, `conclude`, `invalidate`, `repro`, `export`, `import`, `gc`, `du` and `db`. */
export function addRecordCommands(program: EvsysCommand): void {
  program.commandsGroup('Experiments:')
  const outputOption = (what: string) => new Option('-o, --output <file>', what)

  program
    .command('run')
    .argument('<file>', 'experiment file')
    .description('run an experiment to its conclusion')
    .option(
      '--dry',
      'print plan, power and forecast, then run a trial: a few steps of every run, which count as no evidence',
    )
    .option('--steps <n>', 'cap every run at this many steps', wholeNumber)
    .option('--set <path=value>', 'override a value in every arm; may be repeated', append)
    .option(
      '--resume',
      'resume the newest unfinished experiment of the same configuration; starts it where there is none, shows it where it has finished',
    )
    .option(
      '--fresh',
      'train every run, also one that the record holds under the same hashes of configuration, data, code, engine and scorers',
    )
    .option('--max-concurrent <n>', 'runs at a time (default: as many as there are cores)', wholeNumber)
    .option('--strict', 'exit with 1 where any run did not complete')
    .option(
      '--limit <name=number>',
      'what a run may take in its sandbox: memory_mb (default 4096), processes (512), disk_mb (2048); may be repeated',
      append,
    )
    .addOption(
      new Option('--sandbox <level>', 'how recipe code is shut in (default: auto, as well as the machine can)').choices(
        [...['auto', 'bubblewrap', 'chroot', 'process']],
      ),
    )
    .addOption(
      new Option('--seal <way>', 'hide benchmarks from recipe code (default: auto, where the machine can)').choices([
        'auto',
        'required',
        'off',
      ]),
    )
    .examples(
      'evsys run experiments/quickstart/config.yaml',
      'evsys run config.yaml --dry',
      'evsys run config.yaml --set n_repeats=5 --max-concurrent 2',
      'evsys run config.yaml --resume',
    )
    .exitCodes(
      '0  concluded   1  no run completed, or with --strict not every one   2  the file is wrong; nothing was started   130  interrupted; --resume continues it',
    )
    .runs(async () => (await import('./commands/run.ts')).run)

  program
    .command('history')
    .description('list what was tried and what came of it, newest first')
    .option('--query <text>', 'only those whose name, hypothesis, tags or conclusions hold all these words')
    .option('--max-chars <n>', 'print no more than this; whole experiments are left out (default: 8000)', wholeNumber)
    .option('--limit <n>', 'list no more experiments than this', wholeNumber)
    .examples('evsys history', 'evsys history --query "learning rate" --limit 5', 'evsys history --json')
    .runs(async () => (await import('./commands/history.ts')).history)

  program
    .command('show')
    .argument('<id>', anExperiment)
    .description('show an experiment: arms, runs, scores, conclusion, files')
    .option(
      '--data',
      'show what its runs, or one run, trained on: rows before and after transforms, tokens with their mask',
    )
    .examples('evsys show quickstart', 'evsys show exp_01hf7yat --json', 'evsys show quickstart/lr0.1-seed42 --data')
    .runs(async () => (await import('./commands/show.ts')).show)

  program
    .command('compare')
    .argument('<id...>', 'experiments; the first one is the baseline')
    .description(
      'set experiments, arms of them, or an arm on two benchmarks side by side; else only scores of the same scorer are compared',
    )
    .examples(
      'evsys compare baseline focal-loss',
      'evsys compare exp_01hf exp_01hg --json',
      'evsys compare rates/low rates/high',
      'evsys compare tickets/lora@val tickets/lora@april',
    )
    .runs(async () => (await import('./commands/compare.ts')).compare)

  program
    .command('next')
    .description('rank what to try by what it would settle for its cost')
    .option('--limit <n>', 'list no more than this (default: 10)', wholeNumber)
    .option('--run <n>', 'run the command of step n', wholeNumber)
    .examples('evsys next', 'evsys next --limit 3', 'evsys next --json', 'evsys next --run 1')
    .runs(async () => (await import('./commands/history.ts')).next)

  program
    .command('conclude')
    .argument('<id>', anExperiment)
    .argument('<text>', 'what you conclude; - reads standard input')
    .description('add an author’s word beside the computed conclusion')
    .option('--author <name>', 'who says it (default: EVSYS_AUTHOR, else the user)')
    .examples(
      'evsys conclude quickstart "Holds on val; the next step is a larger test set."',
      'cat note.md | evsys conclude quickstart - --author reviewer',
    )
    .runs(async () => (await import('./commands/conclude.ts')).conclude)

  program
    .command('invalidate')
    .argument('<run>', 'run: its id, the beginning of its id, EXPERIMENT/RUN, or its name')
    .description('take a run out of every comparison and compute the conclusion again')
    .requiredOption('--reason <text>', 'why it must not count')
    .examples(
      'evsys invalidate quickstart/lr0.1-seed42 --reason "trained on the wrong file"',
      'evsys invalidate run_01hf7yat --reason "disk full during the evaluation"',
    )
    .runs(async () => (await import('./commands/conclude.ts')).invalidate)

  program
    .command('repro')
    .argument('<id>', anExperiment)
    .description('write the plan of an experiment as a file that repeats it, and say what differs today')
    .addOption(outputOption('file to write, YAML or JSON (default: .evsys/repro/ID.yaml)'))
    .examples('evsys repro quickstart', 'evsys repro exp_01hf -o again.yaml')
    .runs(async () => (await import('./commands/repro.ts')).repro)

  program
    .command('export')
    .argument('<id>', anExperiment)
    .description('write the whole record of an experiment as JSON, for `evsys import`, or a report of it')
    .option('--html', 'a report that opens in any browser, as one file')
    .addOption(outputOption('file to write (default: standard output)'))
    .examples(
      'evsys export quickstart -o quickstart.json',
      'evsys export quickstart --html -o quickstart.html',
      'evsys export exp_01hf > one.json',
    )
    .runs(async () => (await import('./commands/export.ts')).exportCommand)

  program
    .command('import')
    .argument('<file>', 'what `evsys export` wrote, or a log of runs as a table with tabs')
    .description('take an experiment or a log of research into the record')
    .option('--name <name>', 'name of the experiment that a log becomes (default: the file’s)')
    .option('--metric <column>', 'column of the score in a log (default: the first after the name)')
    .addOption(new Option('--direction <way>', 'which score is better in a log').choices(['min', 'max']))
    .examples('evsys import quickstart.json', 'evsys import results.tsv --name autoresearch')
    .runs(async () => (await import('./commands/import.ts')).importCommand)

  program
    .command('gc')
    .description('drop what the record no longer needs; scores and conclusions stay')
    .option('--before <date>', 'of experiments that ended before this day or time (default: 30 days ago)', moment)
    .examples('evsys gc', 'evsys gc --before 2026-01-31')
    .runs(async () => (await import('./commands/storage.ts')).gc)

  program
    .command('du')
    .description('show what the record and the files of experiments take on disk')
    .examples('evsys du', 'evsys du --json')
    .runs(async () => (await import('./commands/storage.ts')).du)

  program
    .command('db')
    .argument('<action>', 'backup or migrate')
    .description('copy the record, or bring it to the version of this evsys')
    .addOption(outputOption('file of the copy (default: .evsys/backups/)'))
    .examples('evsys db backup', 'evsys db backup -o /backups/lab.db', 'evsys db migrate')
    .runs(async () => (await import('./commands/storage.ts')).db)
}

/** A day or a time, as the record writes times. */
function moment(text: string): string {
  const form = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  const time = new Date(text)
  // 2026-02-30 would be the second of March.
  const isReal =
    [day, time].every((each) => !Number.isNaN(each.getTime())) && day.toISOString().startsWith(text.slice(0, 10))
  if (!form.test(text) || !isReal) {
    throw new InvalidArgumentError('It must be a day or a time, such as 2026-01-31 or 2026-01-31T18:00:00Z.')
  }
  return time.toISOString()
}
