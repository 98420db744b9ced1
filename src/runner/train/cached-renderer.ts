// A renderer that knows the tokens of training rows beforehand: from shards of the cache, or made now, in threads where there are many
// rows. Everything else it renders as it is asked.
import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import type { ChatMessage, OpenRenderer, Rendered, Tokenizer } from '../../contracts/index.ts'
import { openTokenShards, type TokenShards, tokenCacheFolder } from '../../data/index.ts'
import { hashOf } from '../../kernel/index.ts'
import { createRenderPool } from './render-pool.ts'
import type { RenderStart } from './render-protocol.ts'

/** Below this many rows, rendering takes less time than looking for a file. */
const fewestRows = 512
/** From this many rows on, threads are worth their start. */
const fewestForThreads = 8192
const mostThreads = 8
/** Rows that are rendered without letting anything else happen. */
const chunkRows = 64

export interface TokenSource {
  readonly rows: readonly { readonly messages: readonly ChatMessage[] }[]
  readonly hash: string
}

interface CachedRendererOptions {
  readonly projectDir: string
  readonly sources: readonly TokenSource[]
  /** Kind and code of the renderer, with what it was opened with. */
  readonly rendererId: string
  readonly tokenizer: Tokenizer
  readonly chatTemplate?: string | undefined
  /** How a thread opens the same renderer; absent: conversations are rendered here. */
  readonly start?: RenderStart | undefined
  readonly signal: AbortSignal
}

export async function cachedRenderer(
  renderer: OpenRenderer,
  options: CachedRendererOptions,
): Promise<OpenRenderer & Disposable> {
  const shards: TokenShards[] = []
  const places = new WeakMap<readonly ChatMessage[], { shards: TokenShards; row: number }>()
  for (const source of options.sources) {
    if (source.rows.length < fewestRows) continue
    const made = await tokensOf(source, renderer, options)
    shards.push(made)
    for (const [row, { messages }] of source.rows.entries()) places.set(messages, { shards: made, row })
  }
  return {
    ...renderer, // with what it says of itself
    prompt: (messages, tools) => renderer.prompt(messages, tools),
    parse: (completion) => renderer.parse(completion),
    conversation(messages) {
      const place = places.get(messages)
      return place === undefined ? renderer.conversation(messages) : place.shards.at(place.row)
    },
    [Symbol.dispose]() {
      for (const each of shards) each[Symbol.dispose]()
    },
  }
}

async function tokensOf(
  { rows, hash }: TokenSource,
  renderer: OpenRenderer,
  { projectDir, rendererId, tokenizer, chatTemplate, start, signal }: CachedRendererOptions,
): Promise<TokenShards> {
  const inThreads = start !== undefined && rows.length >= fewestForThreads
  const threads = Math.min(mostThreads, availableParallelism())
  await using pool = inThreads ? createRenderPool(start, threads) : undefined
  const here = async (from: number, to: number): Promise<Rendered[]> => {
    const rendered: Rendered[] = []
    for (const [index, { messages }] of rows.slice(from, to).entries()) {
      if (index % chunkRows === 0) await setImmediate()
      signal.throwIfAborted()
      rendered.push(renderer.conversation(messages))
    }
    return rendered
  }
  return await openTokenShards({
    dir: tokenCacheFolder(projectDir),
    madeOf: { data: hash, renderer: rendererId, tokenizer: fingerprint(tokenizer, chatTemplate) },
    rows: rows.length,
    parallel: pool === undefined ? 1 : threads,
    signal,
    render: (from, to) => pool?.render(rows.slice(from, to).map(({ messages }) => messages)) ?? here(from, to),
  })
}

// A tokenizer by what it does: its size, what many of its tokens stand for, and how it cuts a text of many kinds.
function fingerprint(tokenizer: Tokenizer, chatTemplate: string | undefined): string {
  const { vocabSize } = tokenizer
  const step = Math.max(1, Math.floor(vocabSize / 4096))
  const pieces = Array.from({ length: Math.ceil(vocabSize / step) }, (_, i) =>
    tokenizer.decode(Int32Array.of(i * step)),
  )
  return hashOf({
    vocabSize,
    pieces: hashOf(pieces),
    probe: [...tokenizer.encode(probe)],
    template: chatTemplate ?? null,
  })
}

const probe = `The quick brown fox jumps over 13 lazy dogs; isn't it 3.14159 o'clock?\n\n\tdef f(x_1): return {"key": [1, 2.5e-3]} # 😀
ÀÉÎÕÜ straße Привет мир 你好，世界 こんにちは 안녕하세요 مرحبا नमस्ते  <|im_start|> </think> https://example.org/a?b=c&d=%20 \r\n  trailing   `
