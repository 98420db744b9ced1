import { describe, expect, it } from 'vitest'
import { runServices } from '../../../tests/run-services.ts'
import { DataConfig } from '../../contracts/index.ts'
import { loadRows } from './load-rows.ts'

const rows = [
  { q: 'one', a: '1' },
  { q: 'two', a: '2' },
  { q: 'two', a: '2' },
]
const chat = { kind: 'jsonl_to_chat', params: { user_template: '{q}', assistant_template: '{a}' } }
const load = async (data: object) =>
  loadRows(DataConfig.parse({ source_kind: 'in_memory', rows, ...data }), 'chat_messages', await runServices())

describe('the rows of a run', () => {
  it('come through its transforms, in order, in the shape that the algorithm takes (LAB-54)', async () => {
    const { rows: loaded } = await load({ transforms: [{ kind: 'dedupe', params: { key: 'q' } }, chat] })
    expect(loaded.map(({ messages }) => messages.map(({ content }) => content))).toEqual([
      ['one', '1'],
      ['two', '2'],
    ])
  })

  it('are hashed as they are trained on (LAB-54)', async () => {
    const { hash } = await load({ transforms: [chat] })
    expect(hash).toMatch(/^[0-9a-f]{64}$/)
    expect((await load({ transforms: [chat] })).hash).toBe(hash)
    expect((await load({ transforms: [chat, { kind: 'dedupe', params: { key: 'q' } }] })).hash).not.toBe(hash)
    expect((await load({ rows: rows.toReversed(), transforms: [chat] })).hash).not.toBe(hash)
  })

  it('of another shape, of unknown plugins and of stored datasets are refused (LAB-54)', async () => {
    await expect(load({})).rejects.toMatchObject({ code: 'DATA_INVALID' })
    await expect(load({ transforms: [{ kind: 'nope' }] })).rejects.toMatchObject({ code: 'PLUGIN_UNKNOWN' })
    await expect(load({ dataset_id: 'ds_1' })).rejects.toMatchObject({ code: 'DATA_READ' })
  })
})
