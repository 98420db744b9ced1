// tokenizer_config.json: which tokens mean what, and the chat template. Tolerant: of all its fields only these are read.
import * as z from 'zod'
import { type ModelFile, parseModelFile } from '../files/model-file.ts'
import { AddedToken } from './tokenizer-file.ts'

const TokenName = z.union([z.string(), z.looseObject({ content: z.string() }).transform(({ content }) => content)])
const NamedTemplate = z.looseObject({ name: z.string(), template: z.string() })

const TokenizerConfig = z.looseObject({
  bos_token: TokenName.nullish(),
  eos_token: TokenName.nullish(),
  pad_token: TokenName.nullish(),
  unk_token: TokenName.nullish(),
  additional_special_tokens: z.array(TokenName).max(100_000).nullish(),
  added_tokens_decoder: z.record(z.string().regex(/^\d{1,7}$/), AddedToken.omit({ id: true })).nullish(),
  chat_template: z.union([z.string(), z.array(NamedTemplate).max(1000)]).nullish(),
})
export type TokenizerConfig = z.infer<typeof TokenizerConfig>

/** The fields of tokenizer_config.json that matter; without the file, none. */
export function parseTokenizerConfig(file: ModelFile | undefined): TokenizerConfig {
  return file === undefined ? {} : parseModelFile(TokenizerConfig, file)
}
