// `evsys research export`: a session as a table with tabs; with --patches, its kept changes as patches.
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileError, writeFileAtomic } from '../../kernel/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { countText } from '../output/quantity-text.ts'
import { shortPath } from '../output/short-path.ts'
import { withRecord } from '../with-record.ts'

export type ResearchExportOptions = {
  readonly task?: string
  readonly session?: string
  readonly output?: string
  readonly patches?: string
}

export async function researchExport(
  context: CommandContext,
  { task, session, output: target, patches }: ResearchExportOptions,
): Promise<ExitCode> {
  const { output, cwd } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { finalizeResearch, findSession, patchReadme, resultsTsv, sessionInput } = await import(
      '../../report/index.ts'
    )
    const found = await findSession(store, { session, task })
    const input = sessionInput(found.state, { id: found.experiment.id })
    const facts = { experiment_id: found.experiment.id, task: input.task.name }
    if (patches !== undefined) {
      const folder = resolve(cwd, patches)
      const finalized = finalizeResearch(input)
      await writeAll(folder, {
        ...Object.fromEntries(finalized.patches.map(({ file, patch }) => [file, patch])),
        'all.patch': finalized.all,
        'README.md': patchReadme(finalized),
        'evidence.json': `${JSON.stringify(
          finalized.patches.map(({ patch: _patch, ...rest }) => rest),
          null,
          2,
        )}\n`,
      })
      const n_patches = finalized.patches.length
      const kept = finalized.patches.map(({ patch: _patch, ...rest }) => rest)
      output.result({ ...facts, folder, n_patches, patches: kept }, () => {
        const alone = kept.filter(({ needs }) => needs.length === 0).length
        return `${countText(n_patches, 'patch').replace('patchs', 'patches')} in ${shortPath(folder, cwd)}, ${alone} of them on their own`
      })
      return exitCodes.done
    }
    const text = resultsTsv(input)
    if (target === undefined || target === '-') {
      output.result({ ...facts, tsv: text }, () => text)
      return exitCodes.done
    }
    const file = resolve(cwd, target)
    await writeFileAtomic(file, text)
    const n_attempts = input.attempts.length
    output.result(
      { ...facts, n_attempts, file },
      () =>
        `${output.colors.green('exported')} ${countText(n_attempts, 'attempt')} of ${input.task.name} to ${shortPath(file, cwd)}`,
    )
    return exitCodes.done
  })
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
  } catch (cause) {
    throw fileError('write', folder, cause)
  }
  for (const [name, text] of Object.entries(files)) await writeFileAtomic(join(folder, name), text)
}
