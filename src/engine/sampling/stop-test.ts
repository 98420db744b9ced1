import type { SampleReq } from '../../contracts/index.ts'
import { refused } from '../refused.ts'
import type { Decode } from '../resolved-model.ts'

/** Whether a completion ends with these tokens, at a stop token or text. */
export type StopTest = (tokens: readonly number[]) => boolean

/** Where a request stops. */
export type StopRequest = Pick<SampleReq, 'stop'>

/** Whether a request stops at a text: then somebody must make text of tokens. */
export function stopsAtText({ stop = [] }: StopRequest): boolean {
  return stop.some((each) => typeof each === 'string')
}

/** The test of a request. */
export function stopTest({ stop = [] }: StopRequest, decode: Decode | undefined): StopTest {
  const ids = new Set(stop.filter((each) => typeof each === 'number'))
  const texts = stop.filter((each) => typeof each === 'string')
  if (texts.length > 0 && decode === undefined) {
    throw refused('the request stops at a text, and this engine was opened without a tokenizer', 'stop at token ids.')
  }
  return (tokens) => {
    if (ids.has(tokens.at(-1) ?? -1)) return true
    if (texts.length === 0 || decode === undefined) return false
    const text = decode(tokens)
    return texts.some((each) => text.includes(each))
  }
}
