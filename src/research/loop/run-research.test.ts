import { describe, expect, it } from 'vitest'
import { toyResearch, toyScore, toyTask } from '../../../tests/research/toy-research.ts'
import { openStore } from '../../store/index.ts'
import { filesOf } from './candidate-files.ts'
import { runResearch } from './run-research.ts'

describe('a research session', () => {
  it('measures its baseline, keeps what is better, looks at the hidden split at its end (RES-601)', async () => {
    await using store = await openStore(':memory:')
    const { experimentId, state, status } = await runResearch(toyResearch({ store }))
    expect(status).toBe('ended')
    expect(state.spend.experiments).toBe(8)
    expect(state.attempts[0]?.runs.filter(({ purpose }) => purpose === 'noise')).toHaveLength(5)
    expect(state.kept.length).toBeGreaterThan(1)
    const best = state.incumbent ?? ''
    const truth = (files: Parameters<typeof toyScore>[0]) => toyScore(files, 1, 'val', 0)
    expect(truth(filesOf(state, best))).toBeLessThan(truth(toyTask.baseline))
    expect(state.looks).toBe(1)
    expect(state.attempts.find(({ id }) => id === best)?.verdict).toBe('confirmed')
    const experiment = await store.findExperiment('toy')
    expect(experiment).toMatchObject({ id: experimentId, status: 'completed', bestArm: best, verdict: 'exploratory' })
    expect(experiment.conclusion).toContain('Confirmed')
  })
})
