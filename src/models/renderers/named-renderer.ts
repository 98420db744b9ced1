import * as z from 'zod'
import type { Renderer, Tokenizer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError, type NoParams } from '../../kernel/index.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import type { ChatFormat } from './chat-format.ts'
import { openFormat } from './open-format.ts'

/** A renderer for a format without params. */
export function namedRenderer<const K extends string>(
  kind: K,
  summary: string,
  format: () => ChatFormat,
): Renderer<K, NoParams> {
  return defineRenderer({
    kind,
    summary,
    async open({ tokenizer }) {
      return openFormat(kind, format(), modelTokenizer(kind, tokenizer))
    },
  })
}

const DatedParams = z.strictObject({
  current_date: z.iso
    .date()
    .default('2025-08-05')
    .describe('The day that the system message tells; fixed, so that a conversation has the same tokens every day.'),
})

/** A renderer for a format that tells the date. */
export function datedRenderer<const K extends string>(
  kind: K,
  summary: string,
  format: (currentDate: string) => ChatFormat,
): Renderer<K, typeof DatedParams> {
  return defineRenderer({
    kind,
    summary,
    params: DatedParams,
    async open({ tokenizer, params }) {
      return openFormat(kind, format(params.current_date), modelTokenizer(kind, tokenizer))
    },
  })
}

function modelTokenizer(kind: string, tokenizer: Tokenizer): ModelTokenizer {
  if ('encodeGuarded' in tokenizer && 'special' in tokenizer) return tokenizer as ModelTokenizer // the only ones with both
  throw new EvsysError('PLUGIN_FAILED', `${kind}: the model has no tokenizer of its own`, {
    fix: 'use a model with tokenizer.json, or leave the renderer to the model.',
  })
}
