import { expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

type Running = { name: string; end: () => void }

function started() {
  const queue = new FairQueue()
  const running: Running[] = []
  const add = (lane: string, name: string, shared = false, tenant?: string) =>
    queue.add({ tenant, lane }, () => new Promise<void>((end) => void running.push({ name, end })), { shared })
  const end = async (name: string) => {
    const at = running.findIndex((each) => each.name === name)
    const [found] = running.splice(at, at === -1 ? 0 : 1)
    found?.end()
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  return { queue, add, end, names: () => running.map(({ name }) => name) }
}

it('lets requests for samples overlap, and one piece of other work beside them (TRN-10, TRN-24)', async () => {
  const { add, end, names } = started()
  add('a', 'train 1')
  add('b', 'sample 1', true)
  add('c', 'sample 2', true)
  add('b', 'sample 3', true)
  add('a', 'train 2')
  add('d', 'train 3')
  add('c', 'sample 4', true)
  expect(names()).toEqual(['train 1'])
  await end('train 1')
  expect(names()).toEqual(['sample 1', 'sample 2', 'train 3'])
  await end('sample 2')
  expect(names()).toEqual(['sample 1', 'train 3'])
  await end('train 3')
  expect(names()).toEqual(['sample 1', 'train 2'])
  await end('train 2')
  expect(names()).toEqual(['sample 1', 'sample 3', 'sample 4'])
})

it('counts what is before a job, and takes back only what has not begun (TRN-10)', async () => {
  const { queue, add, end, names } = started()
  const [first, second, third] = [add('a', 'one', true), add('b', 'two', true), add('c', 'three')]
  const fourth = add('d', 'four')
  expect(names()).toEqual(['one', 'two', 'three'])
  expect([first, second, third, fourth].map((job) => queue.ahead(job))).toEqual([0, 0, 0, 3])
  expect([first, fourth].map((job) => queue.remove(job))).toEqual([false, true])
  await end('one')
  expect(queue.ahead(first)).toBeUndefined()
  await end('three')
  expect(names()).toEqual(['two'])
})

it('gives tenants their turns, however many lanes each has (TRN-20)', async () => {
  const { add, end, names } = started()
  for (const lane of ['m1', 'm2', 'm3']) add(lane, `a ${lane}`, false, 'a')
  add('m1', 'b one', false, 'b')
  add('m1', 'b two', false, 'b')
  const order: string[] = []
  for (let [name] = names(); name !== undefined; [name] = names()) {
    order.push(name)
    await end(name)
  }
  expect(order).toEqual(['a m1', 'b one', 'a m2', 'b two', 'a m3'])
})

it('keeps room with the engine for a tenant that comes later (TRN-20)', async () => {
  const { queue, add, end, names } = started()
  const jobs = Array.from({ length: 100 }, (_, at) => add('s', `a ${at}`, true, 'a'))
  expect(names()).toHaveLength(48)
  const late = add('s', 'b', true, 'b')
  await Promise.resolve()
  expect(names()).toContain('b')
  expect(queue.ahead(late)).toBe(0)
  expect([queue.countOf('a'), queue.countOf('b'), queue.countOf(undefined)]).toEqual([100, 1, 0])
  await end('a 0')
  expect(names()).toContain('a 48')
  expect(jobs.map((job) => queue.remove(job)).filter(Boolean)).toHaveLength(51)
})

it('lets the work of a tenant wait for no one’s samples (TRN-24)', async () => {
  const { add, end, names } = started()
  for (let at = 0; at < 100; at++) add('s', `a ${at}`, true, 'a')
  add('m', 'b trains', false, 'b')
  await Promise.resolve()
  expect(names()).toContain('b trains')
  add('m', 'b trains on', false, 'b')
  await end('b trains')
  expect(names()).toContain('b trains on')
  await end('b trains on')
  expect(names()).toHaveLength(48)
})
