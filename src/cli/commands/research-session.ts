// `evsys research status`: where a session stands.

import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileError, systemClock, writeFileAtomic } from '../../kernel/index.ts'
import { loadResearchLoop } from '../../research/index.ts'
import { type CommandContext, type ExitCode, exitCodes } from '../context/command-context.ts'
import { withRecord } from '../context/project.ts'
import { researchDocument, researchStatusText } from '../output/research-text.ts'
import { bytesText, countText, shortPath } from '../output/text.ts'

type SessionOptions = { readonly task?: string | undefined; readonly session?: string | undefined }

export async function researchStatus(context: CommandContext, options: SessionOptions): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { findResearchSession, openJournal } = await loadResearchLoop()
    const { id } = await findResearchSession(store, options)
    const { state } = await openJournal({ store, experimentId: id, clock: systemClock })
    const holder = await store.leases.holder(`research:${id}`)
    const document = { ...researchDocument(id, state, systemClock.now()), controller: holder?.note ?? null }
    output.result(document, () => researchStatusText(document, output))
    return exitCodes.done
  })
}

// `evsys research report`: a session as one HTML file that opens in any browser.
type FileOptions = SessionOptions & { readonly output?: string | undefined }

export async function researchReportCommand(
  context: CommandContext,
  { task, session, output: target }: FileOptions,
): Promise<ExitCode> {
  const { output, cwd } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { findSession, researchReport, sessionInput } = await import('../../report/index.ts')
    const found = await findSession(store, { session, task })
    const input = sessionInput(found.state, { id: found.experiment.id })
    const text = researchReport(input)
    if (target === '-' && !output.json) {
      output.result(undefined, () => text)
      return exitCodes.done
    }
    const file = resolve(cwd, target === undefined || target === '-' ? `${input.task.name}-report.html` : target)
    await writeFileAtomic(file, text)
    const document = {
      experiment_id: found.experiment.id,
      task: input.task.name,
      n_attempts: input.attempts.length,
      file,
      bytes: Buffer.byteLength(text),
    }
    output.result(document, () => {
      const made = `${output.colors.green('report')} of ${input.task.name} (${found.experiment.id})`
      return `${made}: ${countText(input.attempts.length, 'attempt')} in ${shortPath(file, cwd)}, ${bytesText(document.bytes)}`
    })
    return exitCodes.done
  })
}

// `evsys research export`: a session as a table with tabs; with --patches, its kept changes as patches.
export async function researchExport(
  context: CommandContext,
  { task, session, output: target, patches }: FileOptions & { readonly patches?: string | undefined },
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
      const kept = finalized.patches.map(({ patch: _patch, ...rest }) => rest)
      await writeAll(folder, {
        ...Object.fromEntries(finalized.patches.map(({ file, patch }) => [file, patch])),
        'all.patch': finalized.all,
        'README.md': patchReadme(finalized),
        'evidence.json': `${JSON.stringify(kept, null, 2)}\n`,
      })
      const n_patches = kept.length
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
