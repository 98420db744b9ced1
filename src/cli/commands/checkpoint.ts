// `evsys checkpoint list | export`: what runs saved, and taking one out as a folder that PEFT and Transformers read.
import { join, resolve } from 'node:path'
import { loadLocalTrainer } from '../../backends/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'
import { loadLab } from '../../lab/index.ts'
import type { CheckpointRow } from '../../store/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { table } from '../output/table.ts'
import { shortPath } from '../output/text.ts'

type Kept = CheckpointRow & {
  readonly run: string
  readonly run_id: string
  readonly best: boolean
}

export type CheckpointOptions = { readonly step?: number | undefined; readonly output?: string | undefined }

export async function checkpoint(
  context: CommandContext,
  action: string,
  name: string | undefined,
  options: CheckpointOptions,
): Promise<ExitCode> {
  if (action === 'list') return await list(context, name, options)
  if (action === 'export') return await exportOne(context, name, options)
  throw new EvsysError('CLI_USAGE', `there is no "checkpoint ${action}"`, { fix: suggest(action, ['list', 'export']) })
}

async function list(context: CommandContext, name: string | undefined, options: CheckpointOptions): Promise<ExitCode> {
  if (options.step !== undefined || options.output !== undefined)
    throw new EvsysError('CLI_USAGE', '--step and --output are for `checkpoint export`', { fix: 'leave them away.' })
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const experiments =
      name === undefined ? await store.experiments({ limit: 1000 }) : [await store.findExperiment(name)]
    const checkpoints: Kept[] = []
    for (const experiment of experiments) {
      for (const run of await store.runs(experiment.id)) {
        for (const { step, kind, final, ref } of await store.checkpoints(run.id)) {
          const best = step === run.bestStep
          checkpoints.push({ run: `${experiment.name}/${run.name}`, run_id: run.id, step, kind, final, best, ref })
        }
      }
    }
    output.result({ checkpoints }, () => {
      if (checkpoints.length === 0) return 'no checkpoint is kept; runs keep theirs with save_every'
      const rows = checkpoints.map(({ run, step, kind, best, ref }) => [
        run,
        String(step),
        kind,
        best ? 'best' : '',
        ref,
      ])
      return table(rows, { head: ['run', 'step', 'kind', '', 'path'] })
    })
    return exitCodes.done
  })
}

async function exportOne(
  context: CommandContext,
  name: string | undefined,
  { step, output: to }: CheckpointOptions,
): Promise<ExitCode> {
  if (name === undefined || to === undefined) {
    throw new EvsysError('CLI_USAGE', 'checkpoint export takes a run and a folder', {
      fix: 'write `evsys checkpoint export EXPERIMENT/RUN --output FOLDER`; `evsys checkpoint list` names the runs.',
    })
  }
  const { output, cwd } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { trainedWeights } = await loadLab()
    const found = await trainedWeights(store, name, { step, kind: 'sampler' })
    if (found === undefined) {
      throw new EvsysError('STORE_MISSING', `the record has no run "${name}"`, {
        fix: 'name a run, its id, or EXPERIMENT/ARM; `evsys checkpoint list` shows what is kept.',
      })
    }
    const { run, checkpoint: saved } = found
    const { backend, model } = run.config
    if (backend.kind !== 'local' || backend.params.engine === 'mock') {
      const where = backend.kind === 'local' ? 'the engine "mock"' : `the backend "${backend.kind}"`
      throw new EvsysError('CLI_USAGE', `${name} was trained on ${where}: its weights are not here`, {
        fix:
          backend.kind === 'tinker'
            ? `download ${saved.ref} from the service: \`client.rest.archive(path)\` of evsys/tinker says where.`
            : 'export runs of the backend local with the engine cpu or reference.',
      })
    }
    const folder = resolve(cwd, to)
    const { exportCheckpoint } = await loadLocalTrainer()
    const files = await exportCheckpoint({
      dir: join(project, '.evsys', 'trainer'),
      path: saved.ref,
      model: model.name,
      project,
      folder,
    })
    const format = files.includes('adapter_config.json') ? 'peft' : 'model'
    const document = { run: run.name, run_id: run.id, step: saved.step, base_model: model.name, folder, format, files }
    output.result(document, () => {
      const what = format === 'peft' ? `a PEFT adapter of ${model.name}` : 'a whole model'
      return `${output.colors.green('exported')} ${run.name} at step ${saved.step} to ${shortPath(folder, cwd)}: ${what}`
    })
    return exitCodes.done
  })
}
