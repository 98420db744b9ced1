import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { byteTokenizer, plainChat } from '../../backends/index.ts'
import type { ChatMessage, OpenRenderer } from '../../contracts/index.ts'
import { tokenCacheFolder } from '../../data/index.ts'
import { cachedRenderer } from './cached-renderer.ts'
import { createRenderPool } from './render-pool.ts'

const folder = temporaryFolders()
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i): { messages: ChatMessage[] } => ({
    messages: [
      { role: 'user', content: `question ${i}` },
      { role: 'assistant', content: `answer ${i % 7}` },
    ],
  }))
const open = () => plainChat.open({ ...pluginContext(plainChat), tokenizer: byteTokenizer })
const start = { renderer: 'plain_chat', model: 'mock', arch: 'bigram' }

async function cached(renderer: OpenRenderer, projectDir: string, rows: ReturnType<typeof rowsOf>, hash = 'rows') {
  return cachedRenderer(renderer, {
    projectDir,
    sources: [{ rows, hash }],
    rendererId: 'plain_chat 1',
    tokenizer: byteTokenizer,
    start,
    signal: new AbortController().signal,
  })
}

describe('a renderer with the tokens of the training rows', () => {
  it('renders a row once, over all runs of a project, and everything else as it is asked (DATA-15)', async () => {
    const plain = await open()
    let rendered = 0
    const counting: OpenRenderer = {
      ...plain,
      conversation(messages) {
        rendered++
        return plain.conversation(messages)
      },
    }
    const dir = folder()
    const rows = rowsOf(600)
    for (const calls of [600, 600]) {
      const renderer = await cached(counting, dir, rows)
      using held = renderer
      for (const { messages } of rows) expect(held.conversation(messages)).toEqual(plain.conversation(messages))
      expect(rendered).toBe(calls)
    }
    using again = await cached(counting, dir, rows)
    const other: ChatMessage[] = [{ role: 'user', content: 'new' }]
    expect(again.conversation(other)).toEqual(plain.conversation(other))
    expect(rendered).toBe(601)
  })

  it('keeps nothing of a few rows (DATA-15)', async () => {
    const dir = folder()
    const rows = rowsOf(20)
    using renderer = await cached(await open(), dir, rows)
    expect(renderer.conversation(rows[3]?.messages ?? []).tokens.length).toBeGreaterThan(10)
    expect(() => readdirSync(tokenCacheFolder(dir))).toThrow('ENOENT')
  })
})

describe('threads that render', { timeout: 120_000 }, () => {
  it('give the tokens that this process would, in order, and tell what cannot be rendered (DATA-15)', async () => {
    const plain = await open()
    await using pool = createRenderPool(start, 2)
    const rows = rowsOf(30).map(({ messages }) => messages)
    const parts = await Promise.all([0, 10, 20].map((from) => pool.render(rows.slice(from, from + 10))))
    expect(parts.flat()).toEqual(rows.map((messages) => plain.conversation(messages)))
    await using broken = createRenderPool({ renderer: 'chat_template', model: 'mock', arch: 'bigram' }, 1)
    await expect(broken.render(rows.slice(0, 1))).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: expect.stringContaining('cannot be rendered'),
    })
  })
})
