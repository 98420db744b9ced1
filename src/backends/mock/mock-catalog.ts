// Mock models for a trainer: every name is one, and bytes are their tokens.
import type { ModelCatalog, ServedModel } from '../../trainer/index.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { mockMaxContext } from './mock-backend.ts'
import { openPlainChat } from './plain-chat.ts'
import { mockVocabSize } from './special-tokens.ts'

/** Base models of the mock engine. Any name can be trained; the listed ones are suggestions. */
export function mockCatalog(names: readonly string[]): ModelCatalog {
  return {
    list: async () => names.map(mockModel),
    find: async (name) => (name === '' ? undefined : mockModel(name)),
  }
}

function mockModel(name: string): ServedModel {
  return {
    name,
    arch: 'bigram',
    vocabSize: mockVocabSize,
    maxContext: mockMaxContext,
    tokenizerId: name,
    stop: [],
    text: async () => ({ tokenizer: byteTokenizer, renderer: openPlainChat(byteTokenizer) }),
  }
}
