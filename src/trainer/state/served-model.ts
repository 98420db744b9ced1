// What the trainer must know of a base model beside its weights. Who opens a trainer says where that comes from.
import type { OpenRenderer, Tokenizer } from '../../contracts/index.ts'

/** Text for a model: needed by the OpenAI-compatible routes alone, since the training protocol speaks in tokens. */
export interface ModelText {
  readonly tokenizer: Tokenizer
  /** Absent: the model has no chat format. */
  readonly renderer?: OpenRenderer | undefined
}

/** A base model that clients can train and sample from. */
export interface ServedModel {
  readonly name: string
  readonly arch: string
  readonly vocabSize: number
  /** Longest sequence, prompt and answer together. */
  readonly maxContext: number
  /** Where a client finds the tokenizer: a repository or a folder. */
  readonly tokenizerId: string
  /** Tokens that end an answer where a request names no stop. */
  readonly stop: readonly number[]
  text(): Promise<ModelText>
}

/** The base models of a trainer. */
export interface ModelCatalog {
  list(): Promise<readonly ServedModel[]>
  find(name: string): Promise<ServedModel | undefined>
}
