import { describe, expect, it } from 'vitest'
import { testPhrases, trainPhrases, validationPhrases } from './phrases.ts'
import { harderTasks, itemsOf, tasks } from './tasks.ts'
import { wordsOf } from './words.ts'

const all = Object.entries({ ...tasks, ...harderTasks })

describe('tasks that are not in the recipe', () => {
  it.each(all)('%s: no item of one split is in another, and each stays the same (MOD-41)', (name, task) => {
    const asked = (['train', ...task.scored] as const).map((split) =>
      itemsOf(name, task, split).map(({ user }) => user),
    )
    expect(new Set(asked.flat()).size).toBe(asked.flat().length)
    expect(Math.min(...asked.map((users) => users.length))).toBeGreaterThan(60)
    expect(itemsOf(name, task, 'test')).toEqual(itemsOf(name, task, 'test'))
  })

  it('routing has phrases of its own in each split (MOD-41)', () => {
    const phrases = [trainPhrases, validationPhrases, testPhrases].flatMap((lists) => Object.values(lists).flat())
    expect(new Set(phrases).size).toBe(phrases.length)
    expect(Object.keys(testPhrases)).toEqual(Object.keys(trainPhrases))
  })

  it('no value of one split is in another (MOD-41)', () => {
    const { train, validation, test } = wordsOf
    for (const kind of ['things', 'cities', 'people'] as const) {
      const found = [train, validation, test].flatMap((words) => words[kind])
      expect(new Set(found).size).toBe(found.length)
    }
  })

  it.each([
    ['extraction', /^\d{4} \| \w+ \| \w+$/],
    ['dates', /^\d{1,2} [A-Z][a-z]+$/],
    ['later', /^\d{1,2} [A-Z][a-z]+$/],
  ])('%s is answered in one form, with what the question says (MOD-41)', (name, form) => {
    const task = { ...tasks, ...harderTasks }[name]
    if (task === undefined) throw new Error(name)
    for (const { user, answer } of itemsOf(name, task, 'test')) {
      expect(answer).toMatch(form)
      if (name === 'extraction') for (const part of answer.split(' | ')) expect(user).toContain(part)
      else expect(user).toContain(answer.split(' ')[1])
    }
  })
})
