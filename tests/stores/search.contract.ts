import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { recordSample, TIME } from '../sample-plan.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeSearch(under: StoreUnderTest): void {
  describe('search', () => {
    it('finds words and their beginnings, all of them, whatever their case (STO-6)', async () => {
      const store = await openForTest(under.address())
      const focal = await record(store, {
        name: 'focal-loss',
        hypothesis: 'Focal loss lifts pass@1 on val by 2.5 points.',
      })
      const rank = await record(store, {
        name: 'rank_sweep',
        hypothesis: 'A LoRA of rank 64 is enough.',
        tags: ['ablation'],
      })
      expect(await found(store, 'focal')).toEqual([focal])
      expect(await found(store, 'FOC')).toEqual([focal])
      expect(await found(store, 'pass lifts')).toEqual([focal])
      expect(await found(store, 'focal lora')).toEqual([])
      expect(await found(store, 'lora rank')).toEqual([rank])
      expect(await found(store, '64')).toEqual([rank])
      expect(await found(store, 'ablat')).toEqual([rank])
      expect(await found(store, 'sweep')).toEqual([rank])
      expect(await found(store, 'oss')).toEqual([])
      expect(await found(store, '2.5')).toEqual([focal])
    })

    it('finds conclusions and authors’ words as soon as they are there (STO-6, STO-8)', async () => {
      const store = await openForTest(under.address())
      const id = await record(store, { hypothesis: 'Warm-up helps.' })
      expect(await found(store, 'gradient')).toEqual([])
      await store.append(`experiment:${id}`, 1, [
        {
          type: 'experiment.finished',
          seq: 2,
          at: TIME,
          experiment_id: id,
          status: 'completed',
          verdict: 'refuted',
          conclusion: 'The gradient vanished.',
        },
      ])
      expect(await found(store, 'gradient vanish')).toEqual([id])
      await store.verdicts.conclude(id, 'mo', 'First line.\n"Quoted"\tsecond: Überraschung')
      for (const word of ['quoted', 'first', 'second', 'uberraschung', 'überrasch', 'warm'])
        expect(await found(store, word), word).toEqual([id])
      for (const word of ['author', 'at', 'text', 'nquoted', 'mo']) expect(await found(store, word), word).toEqual([])
    })

    it('puts a match in the name before one in the text, then the newer one (STO-6)', async () => {
      const store = await openForTest(under.address())
      const mentions = await record(store, {
        name: 'b',
        hypothesis: 'Distillation beats everything we tried before this.',
        at: at(3),
      })
      const older = await record(store, { name: 'distillation', hypothesis: 'It works.', at: at(1) })
      const newer = await record(store, { name: 'distillation', hypothesis: 'It works.', at: at(2) })
      expect(await found(store, 'distill')).toEqual([newer, older, mentions])
      expect((await store.experiments({ text: 'distill', limit: 1 })).map(({ id }) => id)).toEqual([newer])
      expect((await store.experiments({ text: 'distill', limit: 9, configHash: 'other' })).map(({ id }) => id)).toEqual(
        [],
      )
    })

    it('reads every script (STO-6)', async () => {
      const store = await openForTest(under.address())
      const id = await record(store, {
        hypothesis: 'Größere Schrittweite; 学習率を上げる; Ёлка; सीखना; تعلم; ﬁne; İstanbul; 한국어',
      })
      for (const text of [
        'größere',
        'GROSSERE',
        'schritt',
        '学習',
        '率',
        'елка',
        'सीखना',
        'تعلم',
        'fine',
        'istanbul',
        '한국',
      ]) {
        expect(await found(store, text), text).toEqual(text === 'GROSSERE' ? [] : [id])
      }
    })

    it('takes any text for words: no query language is spoken (STO-6)', async () => {
      const store = await openForTest(under.address())
      const id = await record(store, { name: 'x', hypothesis: 'near or not and' })
      const hostile = [
        '"',
        "'",
        '""',
        '*',
        'NEAR(',
        'a AND',
        'OR',
        'NOT',
        ':*',
        '& |',
        '!',
        '\\',
        '(',
        'name:x',
        '-x',
        '^x',
        '{}',
        '\0',
        '\ud800',
        "'; drop table experiment; --",
        '%',
        '_',
        '',
        ' ',
        '<->',
        'w'.repeat(5_000),
        'ab '.repeat(5_000),
      ]
      for (const text of hostile) expect(Array.isArray(await found(store, text)), text).toBe(true)
      expect(await found(store, 'NOT near AND or')).toEqual([id])
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => Array.isArray(await found(store, text))),
      )
    })

    it('takes texts of any length (STO-6)', async () => {
      const store = await openForTest(under.address())
      const words = Array.from({ length: 300_000 }, (_, i) => `w${i}`).join(' ')
      const id = await record(store, { hypothesis: `first ${'x'.repeat(10_000)} ${words}` })
      expect(await found(store, 'first w7')).toEqual([id])
      expect(await found(store, 'x'.repeat(10_000))).toEqual([id])
    })
  })
}

async function record(store: Store, options: Parameters<typeof recordSample>[1]): Promise<string> {
  return (await recordSample(store, options)).experimentId
}

async function found(store: Store, text: string): Promise<string[]> {
  return (await store.experiments({ text, limit: 99 })).map(({ id }) => id)
}

function at(day: number): string {
  return `2026-01-0${day}T00:00:00.000Z`
}
