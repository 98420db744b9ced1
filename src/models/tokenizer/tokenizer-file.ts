// What tokenizer.json may hold. The library behind us follows some of the format only roughly; what it would tokenize in
// another way than the reference implementation is refused here, by name, instead of giving wrong ids.
import * as z from 'zod'
import { EvsysError, isMapping, type Problem } from '../../kernel/index.ts'
import { fileProblem, type ModelFile, parseModelFile, readModelFile } from '../files/model-file.ts'
import { partFaults, partNames } from './part-faults.ts'

/** Ids take memory even where no token has them, so they have a bound. The largest vocabularies have 300,000. */
export const mostTokens = 2 ** 19

const TokenId = z
  .int()
  .min(0)
  .max(mostTokens - 1)

/** A token beside the learned ones: matched in the text before anything else. */
export const AddedToken = z.looseObject({
  id: TokenId,
  content: z.string().min(1).max(1000),
  single_word: z.literal(false).default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  normalized: z.boolean().optional(),
  special: z.boolean().default(false),
})
export type AddedToken = z.infer<typeof AddedToken>

const Component = z.looseObject({ type: z.string() }).nullable().default(null)

const Bpe = z.looseObject({
  type: z.literal('BPE').optional(),
  dropout: z.union([z.null(), z.literal(0)]).optional(),
  unk_token: z.string().nullable().optional(),
  continuing_subword_prefix: z.union([z.null(), z.literal('')]).optional(),
  end_of_word_suffix: z.string().max(100).nullable().optional(),
  fuse_unk: z.boolean().optional(),
  byte_fallback: z.boolean().optional(),
  ignore_merges: z.boolean().optional(),
  // Both are checked one by one below: they are long, and a record of zod would drop the token `__proto__`.
  vocab: z.custom<Record<string, number>>(isMapping, 'expected a mapping of tokens to ids'),
  merges: z.array(z.unknown()).max(mostTokens),
})

/** A tokenizer.json that can be followed exactly. Its post-processor is not read: it adds tokens that are in no text. */
const RawTokenizerFile = z.looseObject({
  added_tokens: z.array(AddedToken).max(mostTokens).default([]),
  normalizer: Component,
  pre_tokenizer: Component,
  decoder: Component,
  model: Bpe,
})
type RawTokenizerFile = z.infer<typeof RawTokenizerFile>
export type TokenizerFile = RawTokenizerFile & { model: { merges: [string, string][] } }

const longText = 2_000_000

/** Reads tokenizer.json; everything wrong with it is one error. Merges come back as pairs. */
export function parseTokenizerFile(file: ModelFile): TokenizerFile {
  const parsed = parseModelFile(RawTokenizerFile, file)
  const problems: Problem[] = []
  const most = file.text.length > longText ? 2 : 20 // finding a place takes as long as reading the text
  const report = (path: (string | number)[], message: string) => {
    if (problems.length < most) problems.push(fileProblem(file, path, message))
  }
  checkVocabulary(parsed, report)
  const merges = checkMerges(parsed, report)
  for (const part of partNames) for (const { path, message } of partFaults(part, parsed[part])) report(path, message)
  if (problems.length > 0) throw EvsysError.many(problems)
  return { ...parsed, model: { ...parsed.model, type: 'BPE', merges } }
}

type Report = (path: (string | number)[], message: string) => void

function checkVocabulary({ model, added_tokens }: RawTokenizerFile, report: Report): void {
  const count = Object.keys(model.vocab).length
  if (count > mostTokens) {
    report(['model', 'vocab'], `there are ${count} tokens, more than ${mostTokens}`)
    return
  }
  const nameOf = new Map<number, string>()
  for (const [token, id] of Object.entries(model.vocab)) {
    if (!TokenId.safeParse(id).success)
      report(['model', 'vocab', token], `expected a whole number from 0 to ${mostTokens - 1}`)
    const other = nameOf.get(id)
    if (other !== undefined) report(['model', 'vocab', token], `token ${id} is ${JSON.stringify(other)} already`)
    nameOf.set(id, token)
  }
  const idOf = new Map(Object.entries(model.vocab))
  for (const [index, { id, content }] of added_tokens.entries()) {
    const path = ['added_tokens', index]
    const other = nameOf.get(id)
    if (other !== undefined && other !== content) report(path, `token ${id} is ${JSON.stringify(other)} already`)
    if (idOf.has(content) && idOf.get(content) !== id) report(path, `${JSON.stringify(content)} has another id already`)
    nameOf.set(id, content)
    idOf.set(content, id)
  }
  if (nameOf.size === 0) report(['model', 'vocab'], 'there are no tokens')
  const { unk_token } = model
  if (unk_token != null && !idOf.has(unk_token)) report(['model', 'unk_token'], 'it is not in the vocabulary')
}

function checkMerges({ model, added_tokens }: RawTokenizerFile, report: Report): [string, string][] {
  const known = new Set([...Object.keys(model.vocab), ...added_tokens.map(({ content }) => content)])
  return model.merges.map((merge, index): [string, string] => {
    const pair: unknown[] = typeof merge === 'string' ? merge.split(' ') : Array.isArray(merge) ? merge : []
    const [left, right] = pair
    if (typeof left !== 'string' || typeof right !== 'string' || pair.length !== 2 || left === '' || right === '') {
      report(['model', 'merges', index], 'expected two tokens')
      return ['', '']
    }
    for (const token of [left, right, left + right]) {
      if (!known.has(token)) {
        report(['model', 'merges', index], `${JSON.stringify(token)} is not in the vocabulary`)
        break
      }
    }
    return [left, right]
  })
}

// tokenizer_config.json: which tokens mean what, and the chat template. Tolerant: of all its fields only these are read.
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

// The chat template of a model's folder: a separate file, or a field of tokenizer_config.json.
const limitBytes = 2 ** 20
const configLimitBytes = 16 * 2 ** 20

/** The template's text; undefined where the model has none. Of a list of templates, the default one. */
export async function readChatTemplate(folder: string): Promise<string | undefined> {
  const file = await readModelFile(folder, 'chat_template.jinja', limitBytes)
  if (file !== undefined) return file.text
  const config = await readModelFile(folder, 'tokenizer_config.json', configLimitBytes)
  const template = parseTokenizerConfig(config).chat_template ?? undefined
  if (typeof template !== 'object') return template
  return template.find(({ name }) => name === 'default')?.template
}
