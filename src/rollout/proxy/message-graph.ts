// The conversations of a trial as a graph: every answer at the history that it was given to. A client sends its history back in a
// form of its own; where it is one that is known, the answers in it are put back as they were drawn.

import { messageKey } from '../../algorithms/index.ts'
import type { ChatMessage } from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'

export interface RestoredHistory {
  readonly messages: readonly ChatMessage[]
  /** How many of the messages, from the first, are a conversation that was answered here; its answer included. */
  readonly known: number
  /** Equal for equal conversations. */
  readonly node: string
}

export class MessageGraph {
  readonly #answers = new Map<string, ChatMessage>()

  /** The messages, with answers of ours as we gave them. */
  restore(messages: readonly ChatMessage[]): RestoredHistory {
    let node = root
    let known = 0
    const restored = messages.map((message, at) => {
      node = nodeAfter(node, message)
      const answer = message.role === 'assistant' ? this.#answers.get(node) : undefined
      if (answer === undefined) return message
      known = at + 1
      return answer
    })
    return { messages: restored, known, node }
  }

  /** Remembers what was answered to these messages. Of two equal answers the first stays. */
  add(messages: readonly ChatMessage[], answer: ChatMessage): void {
    const node = [...messages, answer].reduce(nodeAfter, root)
    if (!this.#answers.has(node)) this.#answers.set(node, answer)
  }
}

const root = ''

function nodeAfter(node: string, message: ChatMessage): string {
  return sha256(`${node}\n${messageKey(message)}`)
}
