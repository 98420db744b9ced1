// `evsys rescore ID`: stored answers by today's scorer.
import { pluginReferences } from '../../config/index.ts'
import { EvsysError, readSecretSource, systemClock } from '../../kernel/index.ts'
import { loadLab, type Rescored } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { decimalText } from '../output/eval-text.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'

export type RescoreOptions = { readonly keep?: true | undefined }

export async function rescore(context: CommandContext, reference: string, { keep }: RescoreOptions): Promise<ExitCode> {
  const { output, signal } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { planDocument, readKeptEval, rescoreExperiment, rescoreKeptEval } = await loadLab()
    const secretSource = await readSecretSource({ projectDir: project, env: context.env })
    if (reference.startsWith('eval_')) {
      if (keep === true) {
        throw new EvsysError('CLI_USAGE', '--keep replaces the scores of an experiment', {
          fix: 'leave --keep away for evaluations: score the model again with `evsys eval`.',
        })
      }
      const found = await readKeptEval(project, reference)
      if (found === undefined)
        throw new EvsysError('STORE_MISSING', `no evaluation of this project is called ${reference}`)
      const row = await rescoreKeptEval(found, { projectDir: project, secretSource, signal })
      return show(output, reference, [row], false)
    }
    const experiment = await store.findExperiment(reference)
    const { loaded } = await planDocument(experiment.plan, { projectDir: project, signal })
    const plugins = pluginReferences(loaded)
    const options = { projectDir: project, plugins, secretSource, signal, clock: systemClock, keep: keep === true }
    const rows = await context.holding('the scorers', () => rescoreExperiment(store, experiment, options))
    return show(output, experiment.id, rows, keep === true)
  })
}

function show(output: Output, id: string, rows: readonly Rescored[], kept: boolean): ExitCode {
  const evals = rows.map(({ before, after, ...row }) => ({
    ...row,
    before: { scorer_hash: before.scorer_hash, metrics: before.metrics },
    after: after && { scorer_hash: after.scorer_hash, metrics: after.metrics },
  }))
  output.result({ id, kept, evals }, () => {
    if (rows.length === 0) return 'there is nothing to score: no evaluation is in the record'
    const lines = rows.flatMap(({ run, benchmark, step, status, before, after }) =>
      Object.entries(before.metrics).map(([metric, value]) => [
        run,
        `${benchmark}${step === null ? '' : ` step ${step + 1}`}`,
        metric,
        decimalText(value),
        after === undefined ? '' : decimalText(after.metrics[metric]),
        status,
      ]),
    )
    const head = ['RUN', 'BENCHMARK', 'METRIC', 'THEN', 'NOW', 'STATUS']
    const causes = new Set(
      rows.flatMap(({ benchmark, message }) => (message === undefined ? [] : `${benchmark}: ${message}.`)),
    )
    const notes = rows.some(({ status }) => status === 'rescored')
      ? ['THEN and NOW are of different scorers: they do not compare with each other, only within a column.']
      : rows.every(({ status }) => status === 'same')
        ? ['The scorer is the one of then: nothing was scored again.']
        : []
    return [
      table(lines, { head, width: output.width, paintHead: output.colors.bold }),
      ...[...notes, ...causes].map((note) => `\n${note}`),
    ].join('')
  })
  return exitCodes.done
}
