// What holds for every transform; the rule of each is in the test of its name.
import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { pluginContext } from '../../../tests/plugin-context.ts'
import type { Row, Transform } from '../../contracts/index.ts'
import { dataPlugins } from '../plugins.ts'
import { placeOf, withPlace } from '../row-place.ts'
import { dedupe } from './dedupe.ts'
import { dropReasoning } from './drop-reasoning.ts'
import { filter } from './filter.ts'
import { identity } from './identity.ts'
import { jsonlToChat } from './jsonl-to-chat.ts'
import { keepReasoning } from './keep-reasoning.ts'
import { mapTemplate } from './map-template.ts'
import { mix } from './mix.ts'
import { sample } from './sample.ts'
import { shuffle } from './shuffle.ts'
import { split } from './split.ts'
import { systemPrompt } from './system-prompt.ts'
import { toHarborTask } from './to-harbor-task.ts'
import { toPromptExample } from './to-prompt-example.ts'

const row = { query: 'hi', tool: 'greet', messages: [{ role: 'user', content: 'hi' }] }

/** Params with which each transform takes the row above. */
const cases = [
  [identity, {}],
  [jsonlToChat, { user_template: '{query}' }],
  [dedupe, { key: 'query' }],
  [filter, { field: 'query', nonempty: true }],
  [sample, { n: 5 }],
  [shuffle, {}],
  [mapTemplate, { fields: { upper: '{query}!' } }],
  [mix, { key: 'tool', weights: { [row.tool]: 1 } }],
  [split, { part: 'train', train: 1, val: 0 }],
  [dropReasoning, {}],
  [keepReasoning, { missing: 'keep' }],
  [systemPrompt, { text: 'be brief' }],
  [toPromptExample, { inputs: { question: '{query}' }, expected: '{tool}' }],
  [toHarborTask, { instruction_template: '{query}', verifier: 'exact_match', expected: '{tool}' }],
] as const satisfies readonly (readonly [Transform, Record<string, unknown>])[]

describe('every transform', () => {
  it('is in the table of this test (PLG-1)', () => {
    const all = dataPlugins.filter(({ type }) => type === 'transform').map(({ kind }) => kind)
    expect(cases.map(([{ kind }]) => kind).sort()).toEqual([...all].sort())
  })

  describe.each(cases.map(([transform, params]) => [transform.kind, transform, params] as const))(
    '%s',
    (_kind, transform: Transform, params) => {
      it('keeps the other keys and the place of a row, and does not change the row (PLG-1)', async () => {
        const source = Object.freeze(withPlace({ ...row, extra: { deep: 1 } }, 'x.jsonl:3'))
        const [result = {}] = await apply(transform, params, [source])
        expect(result.extra).toEqual({ deep: 1 })
        expect(result.query).toBe('hi')
        expect(placeOf(result)).toBe('x.jsonl:3')
      })

      it('yields nothing for nothing (PLG-1)', async () => {
        expect(await apply(transform, params, [])).toEqual([])
      })

      it('stops at the signal (PLG-1)', async () => {
        const controller = new AbortController()
        let pulled = 0
        async function* endless(): AsyncGenerator<Row> {
          for (;;) {
            if (++pulled === 100) controller.abort(new Error('enough'))
            yield { ...row, query: `q${pulled}` }
          }
        }
        const context = pluginContext(transform, params, { signal: controller.signal })
        const drain = async () => {
          for await (const _ of transform.run(endless(), context));
        }
        await expect(drain()).rejects.toThrow('enough')
        expect(pulled).toBe(100)
      })

      it('refuses params it does not know (PLG-1)', () => {
        expect(transform.params.safeParse({ ...params, surprise: 1 }).success).toBe(false)
      })
    },
  )

  it.each(
    [identity, jsonlToChat, dedupe, filter, mapTemplate, split, dropReasoning, keepReasoning, systemPrompt].map(
      (each) => [each.kind],
    ),
  )('%s pulls a row only when one is asked for (PLG-1)', async (kind) => {
    const [transform, params] = cases.find(([each]) => each.kind === kind) ?? cases[0]
    let pulled = 0
    async function* counted(): AsyncGenerator<Row> {
      for (;;) yield { ...row, query: `q${pulled++}` }
    }
    const rows = (transform as Transform)
      .run(counted(), pluginContext(transform as Transform, params))
      [Symbol.asyncIterator]()
    await rows.next()
    await rows.next()
    expect(pulled).toBe(2)
    await rows.return?.()
  })
})
