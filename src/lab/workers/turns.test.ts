import { describe, expect, it } from 'vitest'
import { createTurns } from './turns.ts'

const never = new AbortController().signal

describe('turns', () => {
  it('are given in the order they were asked for, so many at a time (LAB-7)', async () => {
    const turns = createTurns(2)
    const order: number[] = []
    const ends = await Promise.all([turns.take(never), turns.take(never)])
    const waiting = [0, 1, 2].map(async (i) => {
      const end = await turns.take(never)
      order.push(i)
      end()
    })
    ends[0]?.()
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2])
  })

  it('end once, however often that is said (LAB-7)', async () => {
    const turns = createTurns(1)
    const end = await turns.take(never)
    end()
    end()
    await turns.take(never)
    const third = new AbortController()
    const waiting = turns.take(third.signal)
    third.abort(new Error('still taken'))
    await expect(waiting).rejects.toThrow('still taken')
  })

  it('let those go who no longer want one (LAB-7)', async () => {
    const turns = createTurns(1)
    const end = await turns.take(never)
    const leaving = new AbortController()
    const left = turns.take(leaving.signal)
    const next = turns.take(never)
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    end()
    await expect(next).resolves.toBeTypeOf('function')
  })
})
