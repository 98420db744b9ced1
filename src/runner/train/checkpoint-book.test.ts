import { describe, expect, it } from 'vitest'
import type { Direction } from '../../contracts/index.ts'
import { CheckpointBook } from './checkpoint-book.ts'

const bookOf = (steps: readonly number[], direction: Direction = 'max') => {
  const book = new CheckpointBook([], { metric: 'pass@1', direction })
  for (const step of steps)
    for (const kind of ['sampler', 'state'] as const) book.add({ step, kind, uri: `${kind}${step}` })
  return book
}
const stepsOf = (saved: readonly { step: number }[]) => [...new Set(saved.map(({ step }) => step))]

describe('the best checkpoint', () => {
  it('is the one with the best score on validation; a tie stays with the earlier step (LAB-41)', () => {
    const book = bookOf([])
    expect(book.bestStep).toBeUndefined()
    expect([0.2, 0.5, 0.5, 0.4].map((value, step) => book.judge(step, { 'pass@1': value }))).toEqual([
      true,
      true,
      false,
      false,
    ])
    expect(book.bestStep).toBe(1)
  })

  it('W14: is the lowest where less is better (LAB-41)', () => {
    const book = bookOf([], 'min')
    for (const [step, value] of [3, 1, 2, 1].entries()) book.judge(step, { 'pass@1': value })
    expect(book.bestStep).toBe(1)
  })

  it('takes no score that is missing or no number (LAB-41)', () => {
    const book = bookOf([])
    expect(book.judge(0, { other: 1 })).toBe(false)
    expect(book.judge(1, { 'pass@1': Number.NaN })).toBe(false)
    expect(book.judge(2, { 'pass@1': 0 })).toBe(true)
    expect(new CheckpointBook([], undefined).judge(0, { 'pass@1': 1 })).toBe(false)
  })

  it('is, after a roll-back, the best of what is left (LAB-41)', () => {
    const book = bookOf([1, 2, 5, 8])
    for (const [step, value] of [
      [1, 0.9],
      [2, 0.3],
      [5, 0.6],
      [8, 0.95],
    ] as const)
      book.judge(step, { 'pass@1': value })
    book.drop({ step: 1, kind: 'sampler', uri: 'sampler1' })
    book.rollBackTo(6)
    expect(book.bestStep).toBe(5)
    expect(book.has(8, 'state')).toBe(false)
    expect(book.stateBefore(99)).toMatchObject({ step: 5 })
  })
})

describe('retention', () => {
  it('keeps the newest and the best, and names the rest (LAB-41)', () => {
    const book = bookOf([1, 2, 3, 4, 5])
    book.judge(2, { 'pass@1': 1 })
    expect(stepsOf(book.surplus(2))).toEqual([1, 3])
    for (const each of book.surplus(2)) book.drop(each)
    expect(book.surplus(2)).toEqual([])
    expect(book.sampler(2)).toEqual({ kind: 'sampler', uri: 'sampler2' })
    expect(book.at(5)).toEqual([
      { kind: 'sampler', uri: 'sampler5' },
      { kind: 'state', uri: 'state5' },
    ])
  })

  it('finds the newest state at or before a step (LAB-41)', () => {
    const book = bookOf([4, 9])
    expect([3, 4, 8, 9, 20].map((step) => book.stateBefore(step)?.step)).toEqual([undefined, 4, 4, 9, 9])
  })
})
