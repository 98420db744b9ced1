import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { turnsOf } from '../../../tests/atif-turns.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { answerOf, mergeTurns } from '../../algorithms/index.ts'
import { AtifTrajectory, AtifVersion, type ChatMessage, type Turn } from '../../contracts/index.ts'
import { finalMetrics, trajectoryOf, trajectoryText, writeTrajectory } from './trajectory-of.ts'

const folder = temporaryFolders()
const agent = { name: 'chat', version: '1.0.0', model: 'tiny' }

/** A conversation of a session; `rewriteAt`: the history is replaced by a summary there. */
function conversation(count: number, { rewriteAt = -1, withTokens = true, hasCalls = false } = {}): Turn[] {
  const turns: Turn[] = []
  let messages: ChatMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'question 0' },
  ]
  let prompt = [1, 2, 3]
  for (let at = 0; at < count; at++) {
    if (at === rewriteAt) {
      messages = [
        { role: 'user', content: 'summary' },
        { role: 'assistant', content: 'what I know' },
        { role: 'user', content: 'go on' },
      ]
      prompt = [9, 9]
    }
    const completion = [100 + at, 7]
    const calls = [{ id: `c${at}`, type: 'function' as const, function: { name: 'look', arguments: { at } } }]
    const turn: Turn = {
      messages,
      text: `answer ${at}`,
      ...(hasCalls ? { toolCalls: calls } : {}),
      stopReason: hasCalls ? 'tool_calls' : 'stop',
      ...(withTokens
        ? {
            tokens: {
              prompt: Int32Array.from(prompt),
              completion: Int32Array.from(completion),
              logprobs: Float64Array.of(-0.25, -1),
              policyVersion: at,
            },
          }
        : {}),
    }
    turns.push(turn)
    const next: ChatMessage = hasCalls
      ? { role: 'tool', content: `result ${at}`, tool_call_id: `c${at}` }
      : { role: 'user', content: `question ${at + 1}` }
    messages = [...messages, answerOf(turn), next]
    prompt = [...prompt, ...completion, 4, 50 + at]
  }
  return turns
}

const parseTrajectory = (text: string) => AtifTrajectory.parse(JSON.parse(text))

const faultsOf = (value: unknown) => {
  const result = AtifTrajectory.safeParse(value)
  return result.success ? [] : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** A sound document, changed. */
function changed(change: (document: { steps: Record<string, unknown>[]; [key: string]: unknown }) => void): unknown {
  const document = JSON.parse(trajectoryText(trajectoryOf({ agent, turns: conversation(2, { hasCalls: true }) })))
  change(document)
  return document
}

const anyConversation = fc.record({
  count: fc.integer({ min: 1, max: 6 }),
  rewriteAt: fc.integer({ min: -1, max: 5 }),
  withTokens: fc.boolean(),
  hasCalls: fc.boolean(),
  tokens: fc.constantFrom('full', 'compact', 'none'),
})

describe('a written trajectory', () => {
  it('validates as ATIF v1.7, whatever the turns are, and refuses keys that it does not know (HAR-59)', () => {
    fc.assert(
      fc.property(anyConversation, ({ count, tokens, ...shape }) => {
        const document = trajectoryOf({ agent, turns: conversation(count, shape), tokens, sessionId: 's' })
        expect(faultsOf(JSON.parse(trajectoryText(document)))).toEqual([])
        expect(document.schema_version).toBe('ATIF-v1.7')
      }),
    )
    expect(faultsOf(changed((document) => Object.assign(document, { mine: 1 })))).toEqual([
      ': Unrecognized key: "mine"',
    ])
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[0] ?? {}, { mine: 1 })))).toHaveLength(1)
  })

  it('gives its turns back, token for token, in full and compact form (HAR-64, HAR-68)', () => {
    fc.assert(
      fc.property(
        anyConversation,
        fc.constantFrom('full' as const, 'compact' as const),
        ({ count, ...shape }, tokens) => {
          const turns = conversation(count, shape)
          const read = turnsOf(parseTrajectory(trajectoryText(trajectoryOf({ agent, turns, tokens }))).steps)
          expect(read).toEqual(turns)
          expect(mergeTurns(read)).toEqual(mergeTurns(turns))
        },
      ),
    )
  })

  it('puts results of tools on the step that called them, and numbers on one line (HAR-59, HAR-64)', () => {
    const turns = conversation(2, { hasCalls: true })
    const document = trajectoryOf({
      agent,
      turns,
      after: [{ role: 'tool', content: 'result 1', tool_call_id: 'c1' }],
      tools: [{ name: 'look', parameters: {} }],
    })
    expect(document.steps.map(({ source, observation }) => [source, observation?.results])).toEqual([
      ['system', undefined],
      ['user', undefined],
      ['agent', [{ source_call_id: 'c0', content: 'result 0' }]],
      ['agent', [{ source_call_id: 'c1', content: 'result 1' }]],
    ])
    expect(trajectoryText(document)).toContain('"completion_token_ids": [100, 7],\n')
    for (const { metrics } of document.steps) {
      expect(metrics?.completion_token_ids?.length).toBe(metrics?.completion_tokens)
      expect(metrics?.logprobs?.length).toBe(metrics?.completion_tokens)
    }
  })

  it('has final metrics that are the sums over its steps and subagents (HAR-63)', () => {
    const inner = trajectoryOf({ agent, turns: conversation(2), trajectoryId: 'sub' })
    const outer = trajectoryOf({ agent, turns: conversation(3), subagents: [inner] })
    expect(inner.final_metrics).toEqual({ total_prompt_tokens: 10, total_completion_tokens: 4, total_steps: 5 })
    expect(outer.final_metrics).toEqual({
      total_prompt_tokens: 10 + 21,
      total_completion_tokens: 4 + 6,
      total_steps: 7,
    })
    expect(finalMetrics([])).toEqual({ total_steps: 0 })
  })

  it('marks what a rewritten history carried over, without metrics, and keeps it from training (HAR-65)', () => {
    const turns = conversation(3, { rewriteAt: 2 })
    const { steps } = trajectoryOf({ agent, turns })
    const copies = steps.filter(({ is_copied_context }) => is_copied_context === true)
    expect(copies.map(({ source, message }) => [source, message])).toEqual([
      ['user', 'summary'],
      ['agent', 'what I know'],
      ['user', 'go on'],
    ])
    expect(copies.every(({ metrics }) => metrics === undefined)).toBe(true)
    expect(turnsOf(steps)).toEqual(turns)
  })

  it('does not say that a turn without log-probabilities is trainable (HAR-64, HAR-70)', () => {
    const [turn] = conversation(1)
    if (turn?.tokens === undefined) throw new Error('a turn')
    const bad = { ...turn, tokens: { ...turn.tokens, logprobs: Float64Array.of(Number.NaN, -1) } }
    const { steps } = trajectoryOf({ agent, turns: [bad] })
    expect(steps.at(-1)?.metrics?.extra).toMatchObject({ trainable: false })
    expect(steps.at(-1)?.metrics?.logprobs).toBeUndefined()
    expect(mergeTurns(turnsOf(steps)).untrainable).toEqual([{ turn: 0, fault: 'missing_logprobs' }])
  })
})

describe('the rules of ATIF', () => {
  it('refuse what does not hold together, each with its place (HAR-60)', () => {
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[1] ?? {}, { step_id: 7 })))).toEqual([
      'steps.1.step_id: steps are numbered from 1 without gaps: expected 2, got 7',
    ])
    const foreign = { results: [{ source_call_id: 'other', content: '' }] }
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[2] ?? {}, { observation: foreign })))).toEqual([
      'steps.2.observation.results.0.source_call_id: no call of this step has the id other',
    ])
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[1] ?? {}, { metrics: {} })))).toEqual([
      'steps.1.metrics: only a step of the agent has metrics',
    ])
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[2] ?? {}, { llm_call_count: 0 })))).toEqual([
      'steps.2.metrics: a step without a call of the model has no metrics',
    ])
    const ref = { results: [{ subagent_trajectory_ref: [{ session_id: 's' }] }] }
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[2] ?? {}, { observation: ref })))).toEqual([
      expect.stringContaining('a reference to a subagent has a trajectory_id or a trajectory_path'),
    ])
    const copied = { is_copied_context: true }
    expect(faultsOf(changed(({ steps }) => Object.assign(steps[2] ?? {}, copied)))).toEqual([
      'steps.2.metrics: copied context has no metrics',
    ])
  })

  it('ask an id of every embedded trajectory, once (HAR-60)', () => {
    const inner = trajectoryOf({ agent, turns: conversation(1) })
    const outer = trajectoryOf({ agent, turns: conversation(1) })
    expect(faultsOf({ ...outer, subagent_trajectories: [inner] })).toHaveLength(1)
    const named = { ...inner, trajectory_id: 'a' }
    expect(faultsOf({ ...outer, subagent_trajectories: [named, named] })).toEqual([
      'subagent_trajectories.1.trajectory_id: two subagents have the id a',
    ])
  })

  it.each(AtifVersion.options)('take documents of %s (HAR-61)', (schema_version) => {
    const old = {
      schema_version,
      session_id: 's1',
      agent: { name: 'terminus', version: '2.0.0', model_name: 'm' },
      steps: [
        { step_id: 1, timestamp: '2025-10-11T10:30:00Z', source: 'user', message: '2+2?' },
        {
          step_id: 2,
          timestamp: '2025-10-11T10:30:02.5+00:00',
          source: 'agent',
          message: '4',
          metrics: { prompt_tokens: 5 },
        },
      ],
      final_metrics: { total_steps: 2 },
    }
    expect(turnsOf(parseTrajectory(JSON.stringify(old)).steps)).toMatchObject([{ text: '4' }])
  })
})

describe('a trajectory on disk', () => {
  it('is whole after every turn (HAR-62)', async () => {
    const file = join(folder(), 'trajectory.json')
    const turns = conversation(4, { hasCalls: true })
    for (const count of [1, 2, 3, 4]) {
      await writeTrajectory(file, trajectoryOf({ agent, turns: turns.slice(0, count), tokens: 'compact' }))
      const { steps } = parseTrajectory(readFileSync(file, 'utf8'))
      expect(turnsOf(steps)).toEqual(turns.slice(0, count))
    }
  })
})
