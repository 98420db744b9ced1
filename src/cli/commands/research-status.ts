// `evsys research status`: where a session stands.
import { systemClock } from '../../kernel/index.ts'
import { loadResearchLoop } from '../../research/index.ts'
import type { CommandContext } from '../command-context.ts'
import { type ExitCode, exitCodes } from '../exit-code.ts'
import { researchDocument } from '../output/research-document.ts'
import { researchStatusText } from '../output/research-text.ts'
import { withRecord } from '../with-record.ts'

export type ResearchStatusOptions = { readonly task?: string; readonly session?: string }

export async function researchStatus(context: CommandContext, options: ResearchStatusOptions): Promise<ExitCode> {
  const { output } = context
  return await withRecord(context, {}, async ({ store }) => {
    const { findResearchSession, openJournal } = await loadResearchLoop()
    const { id } = await findResearchSession(store, options)
    const { state } = await openJournal({ store, experimentId: id, clock: systemClock })
    const holder = await store.leases.holder(`research:${id}`)
    const document = {
      ...researchDocument(id, state, systemClock.now()),
      controller: holder?.note ?? null,
    }
    output.result(document, () => researchStatusText(document, output))
    return exitCodes.done
  })
}
