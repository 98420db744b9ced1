import { describe, expect, it } from 'vitest'
import type { Metric, MetricTask } from '../../contracts/index.ts'
import { accuracy, classSizes, confusion, macroF1, perClass } from './class-metrics.ts'

// Expected and answered labels; undefined: infrastructure failed. Several answers: several samples.
const tasksOf = (...pairs: [string, ...(string | undefined)[]][]): MetricTask[] =>
  pairs.map(([expected, ...answers], i) => ({
    taskId: `t${i}`,
    instruction: '',
    expected,
    metadata: { label: expected.toUpperCase() },
    samples: answers.map((output) => ({ output })),
  }))
const compute = (metric: Metric, tasks: MetricTask[], params: object = {}, missing = 0) =>
  metric.compute(
    tasks.map(({ samples }) => samples.map(() => missing)),
    { params: metric.params.parse(params), usage: [], tasks },
  )

const plain = tasksOf(['a', 'a'], ['a', 'b'], ['b', 'b'], ['b', 'x'], ['c', ''])

describe('metrics of classes', () => {
  it('follow the values by hand, with classes never answered, unknown labels and empty answers (USE-220)', () => {
    expect(compute(accuracy, plain)).toBe(2 / 5)
    // a: 1 of 1 answered, 1 of 2 found; b: 1 of 2, 1 of 2; c: never answered.
    expect(compute(macroF1, plain)).toBeCloseTo((2 / 3 + 1 / 2 + 0) / 3, 12)
    expect(compute(perClass, plain)).toEqual({
      values: {
        'precision:a': 1,
        'recall:a': 0.5,
        'f1:a': 2 / 3,
        'precision:b': 0.5,
        'recall:b': 0.5,
        'f1:b': 0.5,
        'precision:c': undefined,
        'recall:c': 0,
        'f1:c': 0,
      },
      table: {
        row_title: 'class',
        rows: ['a', 'b', 'c'],
        columns: ['precision', 'recall', 'f1', 'support'],
        cells: [
          [1, 0.5, 2 / 3, 2],
          [0.5, 0.5, 0.5, 2],
          [null, 0, 0, 1],
        ],
      },
    })
    expect(compute(confusion, plain)).toMatchObject({
      table: {
        rows: ['a', 'b', 'c'],
        columns: ['a', 'b', 'c', '(other answer)', '(no answer)'],
        cells: [
          [1, 1, 0, 0, 0],
          [0, 1, 0, 1, 0],
          [0, 0, 0, 0, 1],
        ],
      },
    })
  })

  it('count every sample, and a lost answer as right at best and wrong at worst (USE-220)', () => {
    const tasks = tasksOf(['a', 'a', 'b'], ['b', 'b', undefined])
    expect([compute(accuracy, tasks, {}, 0), compute(accuracy, tasks, {}, 1)]).toEqual([0.5, 0.75])
  })

  it('take labels, a field of the metadata and case from params (USE-220)', () => {
    expect(compute(accuracy, tasksOf(['a', 'A']), { field: 'label' })).toBe(1)
    expect(compute(accuracy, tasksOf(['a', 'A']), { ignore_case: true })).toBe(1)
    expect(compute(macroF1, tasksOf(['a', 'a']), { labels: ['b', 'a'] })).toBe(1)
    expect(() => compute(accuracy, plain, { labels: ['a'] })).toThrow('which labels do not list')
    expect(() => compute(accuracy, plain, { field: 'topic' })).toThrow('metadata has none at topic')
  })
})

describe('how many tasks a class has', () => {
  it('is known of metrics that are averaged over classes, and of declared labels also where there is none (USE-533)', () => {
    expect(classSizes(accuracy, {})).toBeUndefined()
    expect(classSizes(macroF1, {})?.(plain)).toEqual([
      { label: 'a', tasks: 2 },
      { label: 'b', tasks: 2 },
      { label: 'c', tasks: 1 },
    ])
    expect(classSizes(perClass, { labels: ['A', 'B', 'C', 'D'], field: 'label' })?.(plain)).toContainEqual({
      label: 'D',
      tasks: 0,
    })
  })
})
