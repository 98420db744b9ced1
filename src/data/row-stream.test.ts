import { describe, expect, it } from 'vitest'
import { collect, streamOf } from '../../tests/collect.ts'
import { pluginContext } from '../../tests/plugin-context.ts'
import type { Row, Transform } from '../contracts/index.ts'
import { defineTransform } from '../kernel/index.ts'
import { placeOf } from './row-place.ts'
import { rowStream } from './row-stream.ts'
import { dedupe } from './transforms/dedupe.ts'
import { jsonlToChat } from './transforms/jsonl-to-chat.ts'

const source = () => streamOf(['a', 'b', 'a'].map((query, i) => ({ row: { query }, place: `t.jsonl:${i + 1}` })))
const step = (transform: Transform, params: object = {}) => ({ transform, context: pluginContext(transform, params) })

describe('rowStream', () => {
  it('runs transforms in order and keeps places through those that know nothing of them (PLG-1)', async () => {
    const mine = defineTransform({
      kind: 'mine',
      summary: 'A user’s transform.',
      async *run(rows) {
        for await (const row of rows) yield { ...row, extra: 1 }
      },
    })
    const steps = [step(dedupe, { key: 'query' }), step(mine), step(jsonlToChat, { user_template: '{query}{extra}' })]
    const rows = await collect(rowStream(source(), steps))
    expect(rows.map((row) => [row.messages, placeOf(row)])).toEqual([
      [[{ role: 'user', content: 'a1' }], 't.jsonl:1'],
      [[{ role: 'user', content: 'b1' }], 't.jsonl:2'],
    ])
    expect(JSON.stringify(rows[0])).not.toContain('t.jsonl')
  })

  it('puts the name of a transform on what it throws, and leaves our errors as they are (PLG-1)', async () => {
    const broken = defineTransform({
      kind: 'broken',
      summary: 'Throws.',
      async *run(rows) {
        for await (const row of rows) yield row.missing as Row
      },
    })
    await expect(collect(rowStream(source(), [step(broken)]))).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'transform "broken": it yielded nothing instead of a row',
    })
    const wrong = [step(jsonlToChat, { user_template: '{nothing}' }), step(dedupe)]
    await expect(collect(rowStream(source(), wrong))).rejects.toMatchObject({ code: 'DATA_INVALID' })
  })

  it('closes the source when the reader stops early (PLG-1)', async () => {
    let isClosed = false
    async function* open() {
      try {
        for (let i = 0; ; i++) yield { row: { query: `${i}` }, place: `x:${i}` }
      } finally {
        isClosed = true
      }
    }
    for await (const _ of rowStream(open(), [step(dedupe), step(jsonlToChat, { user_template: '{query}' })])) break
    expect(isClosed).toBe(true)
  })
})
