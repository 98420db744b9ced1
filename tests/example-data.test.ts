import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

describe.each(['dpo', 'continual', 'tool-router', 'rl-arithmetic', 'rl-harness', 'distill'])('examples/%s', (name) => {
  it('has the data that its script makes, and asks in its benchmarks what it does not train on (LAB-60)', async () => {
    const folder = new URL(`../examples/${name}/`, import.meta.url)
    const { makeData } = await import(new URL('make-data.mjs', folder).href)
    const files: Record<string, string> = makeData()
    for (const [path, text] of Object.entries(files)) expect(readFileSync(new URL(path, folder), 'utf8')).toBe(text)
    const rows = (isTask: boolean) =>
      Object.entries(files)
        .filter(([path]) => path.endsWith('.jsonl') && path.endsWith('tasks.jsonl') === isTask)
        .flatMap(([, text]) => text.trim().split('\n'))
        .map((line): Record<string, unknown> => JSON.parse(line))
    const trained = new Set(rows(false).map(questionOf))
    const asked = rows(true).map(questionOf)
    expect(asked.length).toBeGreaterThan(20)
    expect(asked.filter((question) => trained.has(question))).toEqual([])
  })
})

function questionOf({ query, instruction, messages }: Record<string, unknown>): string {
  const [first] = Array.isArray(messages) ? messages : []
  return String(query ?? instruction ?? first?.content).replace(/^Query: /, '')
}
