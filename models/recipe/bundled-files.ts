// The shapes of the models that come with evsys, and the small files that describe them.
import type { BundledName } from '../../src/models/folders/bundled-models.ts'

type BundledShape = Record<
  'vocabSize' | 'hiddenSize' | 'layers' | 'heads' | 'kvHeads' | 'intermediateSize' | 'maxContext',
  number
>

/** Shapes of the bundled models, Llama's. */
export const bundledShapes = {
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
} as const satisfies Record<BundledName, BundledShape>

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
