// `evsys repro ID`: the plan of an experiment as a file that repeats it, and what would differ today.
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { EvsysError, fileError, shellWord, writeFileAtomic } from '../../kernel/index.ts'
import { loadLab, type ReproductionCheck } from '../../lab/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import type { Output } from '../output/output.ts'
import { table } from '../output/table.ts'
import { countText, shortPath } from '../output/text.ts'

export type ReproOptions = { readonly output?: string | undefined }

export async function repro(
  context: CommandContext,
  reference: string,
  { output: target }: ReproOptions,
): Promise<ExitCode> {
  const { output, cwd, signal } = context
  return await withRecord(context, {}, async ({ store, project }) => {
    const { isLogImport, isDryRun } = await import('../../record/index.ts')
    const { checkReproduction, planDocument } = await loadLab()
    const experiment = await store.findExperiment(reference)
    if (isLogImport(experiment)) throw fromLog(experiment)
    const { value, loaded } = await planDocument(experiment.plan, { projectDir: project, signal })
    const file = target === undefined ? join(project, '.evsys', 'repro', `${experiment.id}.yaml`) : resolve(cwd, target)
    const checks = await context.holding('the processes that look at plugins', () =>
      checkReproduction(store, experiment, { loaded, projectDir: project, signal }),
    )
    await write(file, await documentText(file, value, experiment), target === undefined)
    const place = shellWord(shortPath(file, cwd))
    const command = `evsys run ${place}${isDryRun(experiment) ? ' --dry' : ' --fresh'}`
    const same = checks.every(({ status }) => status === 'same')
    const { id, name, configHash } = experiment
    output.result({ experiment_id: id, name, config_hash: configHash, file, command, same, checks }, () => {
      const first = `${output.colors.green('wrote')} the plan of ${name} (${id}) to ${shortPath(file, cwd)}`
      return output.quiet ? first : [first, checksText(checks, output), `repeat it with\n  ${command}`].join('\n\n')
    })
    return exitCodes.done
  })
}

function fromLog({ name, id }: { name: string; id: string }): EvsysError {
  return new EvsysError('CLI_USAGE', `${name} (${id}) was imported from a log, and nothing here made its runs`, {
    fix: 'repeat experiments that evsys ran.',
  })
}

async function documentText(
  file: string,
  value: Readonly<Record<string, unknown>>,
  { id, configHash }: { id: string; configHash: string },
): Promise<string> {
  const about = `The plan of ${id}, every arm and default written out. Configuration ${configHash}`
  if (file.endsWith('.json')) return `${JSON.stringify(value, null, 2)}\n`
  const { stringify } = await import('yaml')
  return `# ${about}\n${stringify(value, { lineWidth: 120 })}`
}

async function write(file: string, text: string, isOurs: boolean): Promise<void> {
  if (isOurs) {
    await mkdir(dirname(file), { recursive: true }).catch((cause: unknown) => {
      throw fileError('make', dirname(file), cause)
    })
  }
  await writeFileAtomic(file, text)
}

function checksText(checks: readonly ReproductionCheck[], { colors, width }: Output): string {
  const others = checks.filter(({ status }) => status !== 'same')
  const same = checks.length - others.length
  const shown = (text: string | undefined) =>
    text === undefined ? '' : /^[0-9a-f]{64}$/.test(text) ? text.slice(0, 12) : text
  if (others.length === 0)
    return `${colors.green('nothing differs')}: ${countText(same, 'check')} of code, data, scorers and machine`
  const rows = others.map(({ part, name, status, recorded, now, why }) => [
    part,
    name,
    status,
    shown(recorded),
    why ?? shown(now),
  ])
  const head = ['PART', 'OF', 'STATUS', 'RECORDED', 'NOW']
  const text = table(rows, { head, width, paintHead: colors.bold })
  return `${text}\n${countText(same, 'other check')} found no difference`
}
