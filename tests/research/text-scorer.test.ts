import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { bundledTasks } from '../../src/research/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const { textScorer } = await import(pathToFileURL(join(bundledTasks, 'shared', 'text-scorer.mjs')).href)

function split(): { dataDir: string; text: Buffer } {
  const dataDir = folder()
  mkdirSync(dataDir, { recursive: true })
  // No part of it occurs twice: a context tells its own place.
  const text = Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * i * 31 + (i >> 3) * 7) & 255))
  writeFileSync(join(dataDir, 'text.bin'), text)
  return { dataDir, text }
}

const logits = (rows: number, of: (row: number, byte: number) => number) =>
  Buffer.from(Float32Array.from({ length: rows * 256 }, (_, i) => of(i >> 8, i & 255)).buffer).toString('base64')

describe('the scorer of language models', () => {
  it('shows a byte only after it was predicted (RES-306)', async () => {
    const { dataDir, text } = split()
    const seen: Buffer[][] = []
    const ask = async ({ contexts }: { contexts: string[] }) => {
      seen.push(contexts.map((each) => Buffer.from(each, 'base64')))
      return logits(contexts.length, () => 0)
    }
    const { value } = await textScorer('val_bpb').score({ dataDir, ask })
    expect(value).toBeCloseTo(8, 5)
    expect(seen).toHaveLength(64)
    for (const [step, contexts] of seen.entries()) {
      for (const [stream, context] of contexts.entries()) {
        expect(context).toHaveLength(64 + step)
        const start = text.indexOf(context)
        const next = text[start + context.length] ?? -1
        // The byte that is asked for comes with the next question, and not before.
        const later = seen[step + 1]?.[stream]
        if (later !== undefined) expect(later.at(-1)).toBe(next)
        const others = contexts.filter((_, other) => other !== stream)
        expect(others.some((other) => other.includes(text.subarray(start, start + context.length + 1)))).toBe(false)
      }
    }
  })

  it('makes a distribution of whatever is answered, and refuses what is none (RES-306)', async () => {
    const { dataDir } = split()
    const score = async (answer: unknown) => (await textScorer('b').score({ dataDir, ask: async () => answer })).value
    expect(await score(logits(64, () => 1e30))).toBeCloseTo(8, 5) // equally sure of everything
    expect(await score(logits(64, (_, byte) => (byte < 128 ? 50 : 0)))).toBeGreaterThan(7)
    expect(Number.isFinite(await score(logits(64, () => Number.NaN)))).toBe(false)
    await expect(score('')).rejects.toThrow('64 x 256 float32')
    await expect(score(null)).rejects.toThrow('64 x 256 float32')
    await expect(score(logits(63, () => 0))).rejects.toThrow('64 x 256 float32')
  })
})
