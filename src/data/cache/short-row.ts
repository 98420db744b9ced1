// A row as a preview keeps it: whole where it is small, with its texts and lists cut where it is not.
import type { Row } from '../../contracts/index.ts'

const wholeChars = 20_000
const longestText = 1_000
const longestList = 20

export function shortRow(row: object): Row {
  const copy: unknown = JSON.parse(JSON.stringify(row))
  return (JSON.stringify(copy).length <= wholeChars ? copy : shortened(copy)) as Row // the copy of a mapping is one
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length <= longestText ? value : `${value.slice(0, longestText)}… (${value.length} characters)`
  if (Array.isArray(value)) {
    const kept = value.slice(0, longestList).map(shortened)
    return value.length <= longestList ? kept : [...kept, `… (${value.length} items)`]
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(entries.slice(0, longestList).map(([key, each]) => [key, shortened(each)]))
}
