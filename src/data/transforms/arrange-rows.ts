// How many rows there are of each kind, and in which order they come.
import * as z from 'zod'
import type { Random, Row } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { count, nonEmpty } from '../rows/params.ts'
import { requiredField, rowError, typeWords } from '../rows/raw-row.ts'

/** At most so many rows of each class or source. */
export const cap = defineTransform({
  kind: 'cap',
  summary:
    'Keeps at most so many rows for each value of a field, such as a class or a source; the others stay in order.',
  params: z
    .strictObject({
      key: nonEmpty.describe('Field that says of which class or source a row is; `a.b` leads into mappings.'),
      most: count
        .describe('Most rows for each of its values.')
        .meta({ search: { around: 4, scale: 'log', area: 'data' } }),
      choose: z
        .enum(['random', 'first'])
        .default('random')
        .describe('Which rows stay: any, by the run’s seed, or the first; random holds the kept rows at once.'),
    })
    .meta({ search: { optional: true, area: 'data' } }),
  async *run(rows, { params, signal, random }) {
    const { key, most, choose } = params
    const groupOf = (row: Row) => JSON.stringify(requiredField(row, key, `cap: the row has no field "${key}"`))
    if (choose === 'first') {
      const counts = new Map<string, number>()
      for await (const row of rows) {
        signal.throwIfAborted()
        const value = groupOf(row)
        const seen = counts.get(value) ?? 0
        counts.set(value, seen + 1)
        if (seen < most) yield row
      }
      return
    }
    const groups = new Map<string, { kept: { index: number; row: Row }[]; seen: number; draws: Random }>()
    let index = 0
    for await (const row of rows) {
      signal.throwIfAborted()
      const value = groupOf(row)
      const group = groups.get(value) ?? { kept: [], seen: 0, draws: random('cap', value) }
      groups.set(value, group)
      // Algorithm R: every row of a group so far has the same chance to be in it.
      if (group.seen < most) group.kept.push({ index, row })
      else {
        const slot = group.draws.int(group.seen + 1)
        if (slot < most) group.kept[slot] = { index, row }
      }
      group.seen++
      index++
    }
    const kept = [...groups.values()].flatMap((group) => group.kept)
    for (const { row } of kept.sort((a, b) => a.index - b.index)) yield row
  },
})

/** The rows in the order of a field: a curriculum, where training takes them in the given order. */
export const sort = defineTransform({
  kind: 'sort',
  summary:
    'Sorts the rows by a field; with `row_order: given` of the algorithm, training goes through them in this order.',
  params: z
    .strictObject({
      by: nonEmpty.describe('Field to sort by; `a.b` leads into mappings.'),
      measure: z
        .enum(['value', 'length'])
        .default('value')
        .describe('value: numbers by size, text by its characters; length: how long it is, as text or as JSON.')
        .meta({ search: { area: 'data' } }),
      order: z
        .enum(['ascending', 'descending'])
        .default('ascending')
        .describe('ascending: the smallest first.')
        .meta({ search: { area: 'data' } }),
    })
    .meta({ search: { optional: true, area: 'data' } }),
  async *run(rows, { params, signal }) {
    const { by, measure, order } = params
    const all: { value: number | string; row: Row }[] = []
    for await (const row of rows) {
      signal.throwIfAborted()
      const field = requiredField(row, by, `sort: the row has no field "${by}"`)
      const text = typeof field === 'string' ? field : JSON.stringify(field)
      const value = measure === 'length' ? text.length : field
      const first = all[0]?.value
      if (typeof value !== 'number' && typeof value !== 'string') {
        const fix = 'name a field with numbers or text, or write `measure: length`.'
        throw rowError(row, `sort: "${by}" is ${typeWords(value)}, which has no order`, fix)
      }
      if (first !== undefined && typeof first !== typeof value) {
        const fix = 'make them of one type with map_template, or write `measure: length`.'
        throw rowError(row, `sort: "${by}" is ${typeWords(value)}, and ${typeWords(first)} in the rows before`, fix)
      }
      all.push({ value, row })
    }
    const sign = order === 'ascending' ? 1 : -1
    // Stable: equal rows stay in their order, also where the largest come first.
    all.sort((a, b) => (a.value < b.value ? -sign : a.value > b.value ? sign : 0))
    for (const { row } of all) yield row
  },
})
