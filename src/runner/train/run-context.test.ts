import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { runServices } from '../../../tests/run-services.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { DataConfig } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { equip, loadRows, readSealedTasks } from './run-context.ts'

const sealed = defineTransform({
  kind: 'sealed',
  summary: 'Needs a secret.',
  params: z.strictObject({ key: z.string().default('query'), n: z.int().min(1) }),
  needs: { secrets: ['API_KEY'] },
  async *run(rows) {
    yield* rows
  },
})

describe('the plugin of a run', () => {
  it('gets its params checked and filled in, and randomness of the run (LAB-54)', async () => {
    const services = await runServices([sealed])
    const { plugin, context } = equip('transform', { kind: 'sealed', params: { n: 2 } }, services)
    expect(plugin.kind).toBe('sealed')
    expect(context.params).toEqual({ key: 'query', n: 2 })
    expect(context.random('x').float()).toBe(services.random('x').float())
  })

  it('is told what is wrong with its params, and how to see what it takes (LAB-54)', async () => {
    const services = await runServices([sealed])
    const bad = () => equip('transform', { kind: 'sealed', params: { n: 0, nope: 1 } }, services)
    expect(bad).toThrow(
      expect.objectContaining({ code: 'PLUGIN_PARAMS', fix: expect.stringContaining('evsys schema') }),
    )
    expect(() => equip('transform', { kind: 'seald', params: {} }, services)).toThrow(
      expect.objectContaining({ code: 'PLUGIN_UNKNOWN' }),
    )
  })

  it('sees the secrets that it declares, and no other (LAB-2)', async () => {
    const services = await runServices([sealed], { API_KEY: 'k', OTHER: 'o' })
    const { context } = equip('transform', { kind: 'sealed', params: { n: 1 } }, services)
    expect(context.secret('API_KEY')).toBe('k')
    expect(() => context.secret('OTHER')).toThrow(expect.objectContaining({ code: 'SECRET_MISSING' }))
  })
})

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

describe('questions that rows may not repeat', () => {
  const folder = temporaryFolders()

  it('hold nothing of what is expected (LAB-12)', async () => {
    const file = join(folder(), 'tasks.jsonl')
    writeFileSync(file, '{"task_id":"a","instruction":"x"}\n')
    expect(await readSealedTasks(file)).toEqual([{ task_id: 'a', instruction: 'x' }])
    writeFileSync(file, '{"task_id":"a","instruction":"x","expected":"y"}\n')
    await expect(readSealedTasks(file)).rejects.toThrow()
  })
})
