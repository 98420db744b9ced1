import type { ChatMessage } from '../../contracts/index.ts'

/** The conversation with a system message ahead of its own. */
export function withSystem(prompt: string | undefined, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (prompt === undefined) return messages
  const [first, ...rest] = messages
  if (first?.role !== 'system' || typeof first.content !== 'string') {
    return [{ role: 'system', content: prompt }, ...messages]
  }
  return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
}
