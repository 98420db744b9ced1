import { describe, expect, it } from 'vitest'
import { type Heard, startFakeProvider } from '../../../tests/fake-provider.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { baseFiles, sampleAttempt, sampleBrief, sampleIdea, sampleState } from '../../../tests/research-brief.ts'
import type { Brief } from '../../contracts/index.ts'
import { hybrid } from './hybrid.ts'

const rates = [0.05, 0.2, 0.1, 0.4, 0.02]

function briefAfter(experiments: number): Brief {
  const attempts = Array.from({ length: experiments + 1 }, (_, number) =>
    sampleAttempt(number, {
      knobs: { LEARNING_RATE: rates[number % 5] ?? 0.05, HIDDEN: [16, 32, 64][number % 3] ?? 32 },
    }),
  )
  return {
    ...sampleBrief({}, { parents: ['a0'], avoidFamilies: [] }),
    state: { ...sampleState, attempts, incumbent: 'a0' },
    files: baseFiles,
  }
}

async function startModel() {
  return startFakeProvider(({ path }: Heard) => ({
    model: path,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: JSON.stringify({ ideas: [sampleIdea({ title: 'By a model' })] }) },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1000, completion_tokens: 100 },
  }))
}

const llm = (url: string) => ({
  kind: 'openai-compatible' as const,
  params: { model: 'm', base_url: `${url}/v1`, max_attempts: 1 },
})

describe('optimizer and model together', () => {
  it('the optimizer proposes on every turn, the model on three of ten after the warm-up (RES-515)', async () => {
    const provider = await startModel()
    const context = pluginContext(hybrid, { llm: llm(provider.url) })
    for (const done of [0, 5, 9]) expect((await hybrid.propose(briefAfter(done), context)).usage).toBeUndefined()
    let asked = 0
    for (let done = 10; done < 30; done++) {
      const { ideas, usage } = await hybrid.propose(briefAfter(done), context)
      expect(ideas.some(({ change, title }) => change.kind === 'knobs' && title !== 'By a model')).toBe(true)
      if (usage === undefined) continue
      asked++
      expect(ideas[0]?.title).toBe('By a model')
    }
    expect(asked).toBeGreaterThan(1)
    expect(asked).toBeLessThan(13)
    expect(provider.heard).toHaveLength(asked)
    expect(JSON.stringify(provider.heard[0]?.body)).toContain('What the optimiser believes')
    expect(JSON.stringify(provider.heard[0]?.body)).toContain('CMA-ES after')
  })

  it('continues with the optimizer when the model fails, and says so (RES-515)', async () => {
    const provider = await startModel()
    provider.misbehave({ status: 500 })
    const context = pluginContext(hybrid, { share: 1, warm_up: 0, llm: llm(provider.url) })
    const { ideas } = await hybrid.propose(briefAfter(3), context)
    expect(ideas.length).toBeGreaterThan(0)
    expect(context.logged.map(({ text }) => text).join()).toContain('the optimizer continues alone')
  })

  it('code is repaired by the model, knobs by the optimizer (RES-513)', async () => {
    const provider = await startModel()
    const context = pluginContext(hybrid, { llm: llm(provider.url) })
    const failures = [{ class: 'syntax' as const, reason: 'line 3' }]
    const code = sampleIdea({ change: { kind: 'files', files: { 'train.mjs': 'x' } } })
    const { ideas } = await hybrid.propose({ ...briefAfter(0), repair: { idea: code, failures } }, context)
    expect(ideas.map(({ title }) => title)).toEqual(['By a model'])
    expect(JSON.stringify(provider.heard[0]?.body)).toContain('was turned down')
    await hybrid.propose({ ...briefAfter(0), repair: { idea: sampleIdea(), failures } }, context)
    expect(provider.heard).toHaveLength(1)
  })
})
