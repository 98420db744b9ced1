// What a chat format is: how each message is written, how an answer begins, how one is read back. A format writes text; tokens are
// made of the whole text at once, as for a chat template.
import type { ChatMessage, ToolSpec } from '../../contracts/index.ts'

/** A call of a message, with arguments as an object where they are one. */
export interface FormatCall {
  readonly id: string | undefined
  readonly name: string
  readonly args: unknown
}

/** A message as formats see it. */
export interface FormatMessage {
  readonly role: ChatMessage['role']
  readonly text: string
  /** Absent: none was given, which differs from an empty one. */
  readonly reasoning: string | undefined
  readonly calls: readonly FormatCall[]
  /** Of a result: which function it is of, and the id of its call. */
  readonly name: string | undefined
  readonly callId: string | undefined
  /** Place among the messages of the conversation; -1 for one that the format puts in. */
  readonly index: number
}

/** Text of the format itself, or what comes from outside and can become no special token. */
export type Part = string | { readonly content: string }

/** A written message. */
export interface Turn {
  /** Belongs to nobody: role and separators. */
  readonly header: readonly Part[]
  /** Belongs to the message, with what ends it. */
  readonly body: readonly Part[]
}

/** Where a message stands. */
export interface Place {
  readonly at: number
  readonly messages: readonly FormatMessage[]
  readonly isLast: boolean
}

/** The text of an answer. Special tokens of the format are told from text that spells them. */
export interface AnswerText {
  readonly text: string
  /** How a special token stands in `text`. */
  token(name: string): string
}

export interface ChatFormat {
  /** Special tokens that it is made of: a tokenizer without them is of another family. */
  readonly tokens: readonly string[]
  /** Those that end an answer; none where texts do. */
  readonly ends: readonly string[]
  readonly stopTexts?: readonly string[]
  readonly extendsHistory: boolean
  /** The answer to be produced may not hold reasoning. */
  readonly refusesReasoning?: boolean
  /** Written before everything else. */
  begin?(bos: string | undefined): string
  /** Tells the model of tools. Absent: the format has no place for them in a message. */
  declare?(messages: readonly FormatMessage[], tools: readonly ToolSpec[]): readonly FormatMessage[]
  /** Puts in messages of its own, or refuses a conversation. */
  prepare?(messages: readonly FormatMessage[]): readonly FormatMessage[]
  turn(message: FormatMessage, place: Place): Turn
  /** What follows these messages up to where the answer begins. */
  prompt(messages: readonly FormatMessage[]): string
  /** The message that an answer amounts to. `ended`: it came to an end token. */
  parse(answer: AnswerText, ended: boolean): { message: ChatMessage; complete: boolean }
}
