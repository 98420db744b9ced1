/** Text of tokens; what tells where a completion has reached a stop text. */
export type Decode = (tokens: readonly number[]) => string

/** What a base model's name stands for. */
export interface ResolvedModel {
  /** With `config.json` and the weights in safetensors format. */
  readonly folder: string
  /** Opens what makes text of tokens. Absent: completions cannot stop at a text, only at tokens. */
  readonly openDecode?: () => Promise<Decode>
}
