import { expect, it } from 'vitest'
import { initialResearchState, type ResearchState, type ResearchTask } from '../../contracts/index.ts'
import { systemClock } from '../../kernel/index.ts'
import { plainColors } from './colors.ts'
import { createResearchWatch } from './research-watch.ts'

it('says what is in progress within some seconds where no terminal shows it (USE-147)', {
  timeout: 60_000,
}, async () => {
  const begun = [{ kind: 'check', attempt: 'baseline' }] as const
  const state: ResearchState = { ...initialResearchState, begun }
  const task = { name: 'digits', trainSeconds: 60 } as ResearchTask // the watch reads no more of it
  const line = await new Promise<string>((resolve) => {
    const live = {
      isTTY: false,
      columns: 80,
      rows: 24,
      show() {},
      write: (text: string) => {
        if (text.includes('so far')) resolve(text)
      },
    }
    const watch = createResearchWatch({ live, quiet: false, colors: plainColors, clock: systemClock })
    watch.begin({ experimentId: 'exp_1', state, isResumed: false, task })
  })
  expect(line).toMatch(/^ +checking baseline: \d+ s so far\n$/)
})
