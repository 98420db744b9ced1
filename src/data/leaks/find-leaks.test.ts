import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { streamOf } from '../../../tests/collect.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { ChatMessagesRow } from '../../contracts/index.ts'
import { findLeaks, knownLeaks, questionTexts } from './find-leaks.ts'
import { createLeakIndex } from './leak-index.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const chat = (question: string, place = 'data/train.jsonl:1') => ({
  row: { messages: [{ role: 'user', content: question }], metadata: {} } satisfies ChatMessagesRow,
  place,
})
const tasks = [
  'Book a table for two at the harbour restaurant on Friday evening',
  'What is the weather going to be like in Lisbon tomorrow morning?',
  'Send the quarterly report to the finance team before noon',
  'Add 12 and 34',
].map((instruction, i) => ({ task_id: `t${i}`, instruction }))
const leaks = async (questions: readonly string[], template?: string) => {
  const index = createLeakIndex(tasks, template === undefined ? {} : { template })
  const rows = questions.map((each, i) => chat(each, `data/train.jsonl:${i + 1}`))
  const found = await findLeaks(streamOf(rows), new Map([['val', index]]), {
    signal: new AbortController().signal,
  })
  return found.get('val')
}

describe('leaks', () => {
  it('are found whatever case, punctuation and spacing, with both places (DATA-3)', async () => {
    expect(await leaks(['hello there', 'ADD 12, and  34!'])).toEqual({
      rows: 2,
      exact: 1,
      near: 0,
      pairs: [{ place: 'data/train.jsonl:2', task_id: 't3', kind: 'exact', share: 1 }],
    })
  })

  // V8 wrote all of such a text anew for each of its characters, once the search was compiled: from the third text on.
  it('are looked for in texts of 200,000 characters in linear time (DATA-3)', async () => {
    const before = process.cpuUsage()
    const texts = Array.from({ length: 5 }, (_, i) => `question ${i}`.repeat(20_000))
    expect(await leaks(texts)).toMatchObject({ rows: 5, exact: 0, near: 0 })
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(3)
  })

  it('are found inside a longer text, and where a word was changed (DATA-3)', async () => {
    const found = await leaks([
      'Query: what is the weather going to be like in Lisbon tomorrow morning? Answer briefly.',
      'Send the quarterly report to the finance team before 3 pm',
      'Book a flight for two to the harbour of Lisbon on Friday',
    ])
    expect(found).toMatchObject({ exact: 0, near: 2, pairs: [{ task_id: 't1' }, { task_id: 't2' }] })
  })

  it('are not short questions that differ in a number (DATA-3)', async () => {
    expect(await leaks(['Add 12 and 35', 'Add 13 and 34'])).toMatchObject({ exact: 0, near: 0 })
  })

  it('are found in the form that the benchmark gives its questions (DATA-3)', async () => {
    expect(await leaks(['Q: Add 12 and 34 A:'], 'Q: {prompt} A:')).toMatchObject({ exact: 1 })
    expect(await leaks(['Q: Add 12 and 34 A:'])).toMatchObject({ exact: 0 })
  })

  it('are not the wording that questions share (DATA-3)', async () => {
    const wording = (query: string) =>
      `You are a router of tools. Read the query below and name the one tool that answers it, and nothing else. ${query}`
    const words = (prefix: string) => Array.from({ length: 60 }, (_, i) => wording(`${prefix} number ${i * 7}`))
    const index = createLeakIndex(words('river').map((instruction, i) => ({ task_id: `${i}`, instruction })))
    for (const text of words('mountain')) expect(index.find(text)).toBeUndefined()
    expect(index.find(wording('river number 7'))).toMatchObject({ kind: 'exact', task_id: '1' })
  })

  it('name all of them, the exact ones first (DATA-3)', async () => {
    const near = 'Send the quarterly report to the finance team before 3 pm'
    const found = await leaks([...Array.from({ length: 7 }, () => near), 'Add 12 and 34'])
    expect(found).toMatchObject({ exact: 1, near: 7 })
    expect(found?.pairs.map(({ place }) => place)).toEqual(
      [8, 1, 2, 3, 4, 5, 6, 7].map((line) => `data/train.jsonl:${line}`),
    )
  })

  it('find every question in itself, whatever its text (DATA-3)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { minLength: 1, maxLength: 20 }),
        (texts) => {
          const index = createLeakIndex(texts.map((instruction, i) => ({ task_id: `${i}`, instruction })))
          for (const text of texts) {
            if (/[\p{L}\p{N}]/u.test(text.normalize('NFKC'))) expect(index.find(`${text} `)?.kind).toBe('exact')
          }
        },
      ),
    )
  })
})

describe('leaks of cached rows', () => {
  it('are looked for once for each benchmark (DATA-3)', async () => {
    const dir = folder()
    const index = createLeakIndex(tasks)
    let read = 0
    const opened = (key: string | undefined) => ({
      key,
      isHit: true,
      manifest: () => undefined,
      async *rows() {
        read++
        yield chat('Add 12 and 34', 'data/train.jsonl:9')
      },
    })
    const look = async (key: string | undefined, hash: string) =>
      (await knownLeaks(opened(key), new Map([['val', { hash, index }]]), { dir, signal })).get('val')
    const found = {
      rows: 1,
      exact: 1,
      near: 0,
      pairs: [{ place: 'data/train.jsonl:9', task_id: 't3', kind: 'exact', share: 1 }],
    }
    for (const [key, hash, times] of [
      ['k', 'a', 1],
      ['k', 'a', 1],
      ['k', 'b', 2],
      ['l', 'a', 3],
      [undefined, 'a', 4],
      [undefined, 'a', 5],
    ] as const) {
      expect(await look(key, hash)).toEqual(found)
      expect(read).toBe(times)
    }
  })
})

describe('the texts of a row that ask', () => {
  it('are those of users, instructions and inputs (DATA-3)', () => {
    const messages = [
      { role: 'system' as const, content: 'be brief' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'one' }] },
      { role: 'assistant' as const, content: 'two' },
      { role: 'user' as const, content: 'three' },
    ]
    expect(questionTexts({ messages, metadata: {} })).toEqual(['one', 'three'])
    const verifier = { kind: 'in_process' as const, fn_name: 'contains', expected: 'x', params: {} }
    expect(questionTexts({ task_id: 'a', instruction: 'do', verifier, metadata: {} })).toEqual(['do'])
    const example = { inputs: { q: 'one', n: 2 }, expected: 'x', metadata: {} }
    expect(questionTexts(example)).toEqual(['one', '2', 'one\n2'])
  })
})
