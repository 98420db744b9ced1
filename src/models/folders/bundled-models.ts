// The models that come with evsys: their shapes and the small files that describe them. `models/recipe` trains their weights and
// writes everything to models/.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { EvsysError, fileError, sha256, systemCode } from '../../kernel/index.ts'

/** The shape of a bundled model, Llama's. */
interface BundledShape {
  readonly vocabSize: number
  readonly hiddenSize: number
  readonly layers: number
  readonly heads: number
  readonly kvHeads: number
  readonly intermediateSize: number
  readonly maxContext: number
}

/** Bundled models by name. `nano` is for tests, `tiny` the smallest that learns something useful. */
export const bundledModels = {
  'evsys/nano': {
    vocabSize: 512,
    hiddenSize: 64,
    layers: 2,
    heads: 4,
    kvHeads: 2,
    intermediateSize: 176,
    maxContext: 512,
  },
  'evsys/tiny': {
    vocabSize: 4096,
    hiddenSize: 256,
    layers: 6,
    heads: 4,
    kvHeads: 2,
    intermediateSize: 688,
    maxContext: 1024,
  },
} as const satisfies Record<string, BundledShape>
export type BundledName = keyof typeof bundledModels

/** Whether a model of that name comes with evsys. */
export function isBundled(name: string): name is BundledName {
  return Object.hasOwn(bundledModels, name)
}

/** The folder of a bundled model in models/. */
export function folderOf(name: BundledName): string {
  return name.slice('evsys/'.length)
}

/** The files of a bundled model. */
export const bundledFileNames = [
  'config.json',
  'generation_config.json',
  'model.safetensors',
  'tokenizer.json',
  'tokenizer_config.json',
] as const

/** Tokens that are no piece of text, at the end of the vocabulary. */
export const bundledTokens = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
] as const

/** config.json of a bundled model. */
export function bundledConfig(shape: BundledShape): object {
  return {
    architectures: ['LlamaForCausalLM'],
    attention_bias: false,
    attention_dropout: 0,
    bos_token_id: tokenId(shape, '<|endoftext|>'),
    eos_token_id: tokenId(shape, '<|im_end|>'),
    head_dim: shape.hiddenSize / shape.heads,
    hidden_act: 'silu',
    hidden_size: shape.hiddenSize,
    initializer_range: 0.02,
    intermediate_size: shape.intermediateSize,
    max_position_embeddings: shape.maxContext,
    mlp_bias: false,
    model_type: 'llama',
    num_attention_heads: shape.heads,
    num_hidden_layers: shape.layers,
    num_key_value_heads: shape.kvHeads,
    pad_token_id: tokenId(shape, '<|endoftext|>'),
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    torch_dtype: 'bfloat16',
    vocab_size: shape.vocabSize,
  }
}

/** generation_config.json of a bundled model. */
export function bundledGenerationConfig(shape: BundledShape): object {
  return {
    bos_token_id: tokenId(shape, '<|endoftext|>'),
    eos_token_id: tokenId(shape, '<|im_end|>'),
    pad_token_id: tokenId(shape, '<|endoftext|>'),
  }
}

/** tokenizer_config.json of a bundled model, with the chat template. */
export function bundledTokenizerConfig(shape: BundledShape): object {
  return {
    add_bos_token: false,
    bos_token: '<|endoftext|>',
    chat_template: chatTemplate,
    clean_up_tokenization_spaces: false,
    eos_token: '<|im_end|>',
    model_max_length: shape.maxContext,
    pad_token: '<|endoftext|>',
    tokenizer_class: 'PreTrainedTokenizerFast',
    unk_token: null,
  }
}

/** Id of one of the tokens at the end of a vocabulary. */
function tokenId({ vocabSize }: BundledShape, content: (typeof bundledTokens)[number]['content']): number {
  return vocabSize - bundledTokens.length + bundledTokens.findIndex((token) => token.content === content)
}

// Nothing of an earlier turn is dropped later: the prompt of every turn is the beginning of the next one's.
const chatTemplate = `{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.reasoning_content %}
{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}
{%- endif %}
{%- if message.content %}
{{- message.content }}
{%- endif %}
{%- if message.tool_calls %}
{%- for call in message.tool_calls %}
{%- if message.content or not loop.first %}
{{- '\\n' }}
{%- endif %}
{{- '<tool_call>\\n{"name": ' + (call.function.name | tojson) + ', "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}
`

// The folder of a bundled model in the package. Its files are compared with the digests that were written beside them when the
// model was made: an installation that was cut short or changed is an error here, not a strange result later.
// From src/models/bundled and from dist/models/bundled alike.
const shipped = fileURLToPath(new URL('../../../models', import.meta.url))
const Digests = z.record(z.string(), z.record(z.string(), z.string().length(64)))

// A model is read whole once in a process: the files do not change below a running program.
const checked = new Map<string, Promise<string>>()

/** The folder of a bundled model, its files whole. `models` is where the models are, the package's own unless told. */
export function ensureBundledModel(name: BundledName, models: string = shipped): Promise<string> {
  const folder = join(models, folderOf(name))
  const known = checked.get(folder)
  if (known !== undefined) return known
  const found = check(name, models, folder)
  checked.set(folder, found)
  found.catch(() => checked.delete(folder)) // what was mended is looked at again
  return found
}

async function check(name: BundledName, models: string, folder: string): Promise<string> {
  const digests = Digests.parse(JSON.parse((await bytesOf(join(models, 'digests.json'))).toString()))[name] ?? {}
  for (const file of bundledFileNames) {
    const path = join(folder, file)
    if (sha256(await bytesOf(path)) !== digests[file]) throw damaged(`${path} is not the file that came with evsys`)
  }
  return folder
}

async function bytesOf(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') throw damaged(`${path} is missing`)
    throw fileError('read', path, cause)
  }
}

function damaged(what: string): EvsysError {
  return new EvsysError('MODEL_INVALID', what, { fix: 'install evsys again: `npm install evsys`.' })
}
