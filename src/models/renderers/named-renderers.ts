// The named renderers of the training protocol's cookbook, under its names.

import * as z from 'zod'
import type { Renderer, Tokenizer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError, type NoParams } from '../../kernel/index.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { answerMessage, type ChatFormat, refused } from './chat-format.ts'
import { deepseekV3 } from './deepseek-v3.ts'
import { gptOss } from './gpt-oss.ts'
import { kimi } from './kimi.ts'
import { nemotron3 } from './nemotron3.ts'
import { openFormat } from './open-format.ts'
import { qwen3, qwen35 } from './qwen.ts'

const DatedParams = z.strictObject({
  current_date: z.iso
    .date()
    .default('2025-08-05')
    .describe('The day that the system message tells; fixed, so that a conversation has the same tokens every day.'),
})

export const namedRenderers = [
  namedRenderer('role_colon', 'Plain text for base models: `User: ...`, `Assistant: ...`.', () => roleColon),
  namedRenderer('llama3', 'Llama 3, without date and without tools.', () => llama3),
  namedRenderer('qwen3', 'Qwen3 with reasoning.', () => qwen3()),
  namedRenderer('qwen3_disable_thinking', 'Qwen3 with reasoning turned off.', () => qwen3({ isOff: true })),
  namedRenderer('qwen3_instruct', 'Qwen3 Instruct 2507, which does not reason.', () => qwen3({ thinks: false })),
  namedRenderer('qwen3_vl', 'Qwen3-VL with reasoning, for text.', () => qwen3()),
  namedRenderer('qwen3_vl_instruct', 'Qwen3-VL Instruct, for text.', () => qwen3({ thinks: false })),
  namedRenderer('qwen3_5', 'Qwen3.5 with reasoning, for text.', () => qwen35()),
  namedRenderer('qwen3_5_disable_thinking', 'Qwen3.5 with reasoning turned off, for text.', () =>
    qwen35({ isOff: true }),
  ),
  namedRenderer('qwen3_8_xhigh_reasoning', 'Qwen3.8, told to reason much.', () =>
    qwen35({ isQwen38: true, effort: 'xhigh' }),
  ),
  namedRenderer('qwen3_8_medium_reasoning', 'Qwen3.8, told nothing about effort.', () => qwen35({ isQwen38: true })),
  namedRenderer('qwen3_8_low_reasoning', 'Qwen3.8, told to reason little.', () =>
    qwen35({ isQwen38: true, effort: 'low' }),
  ),
  namedRenderer('qwen3_8_disable_thinking', 'Qwen3.8 with reasoning turned off.', () =>
    qwen35({ isQwen38: true, isOff: true }),
  ),
  namedRenderer('deepseekv3', 'DeepSeek V3.1 without reasoning.', () => deepseekV3()),
  namedRenderer('deepseekv3_disable_thinking', 'DeepSeek V3.1 without reasoning, by its long name.', () =>
    deepseekV3(),
  ),
  namedRenderer('deepseekv3_thinking', 'DeepSeek V3.1 with reasoning.', () => deepseekV3({ thinks: true })),
  namedRenderer('kimi_k2', 'Kimi K2 Thinking.', () => kimi()),
  namedRenderer('kimi_k25', 'Kimi K2.5 with reasoning, for text.', () => kimi({ opens: 'reasoning' })),
  namedRenderer('kimi_k25_disable_thinking', 'Kimi K2.5 with reasoning turned off.', () => kimi({ opens: 'empty' })),
  namedRenderer('kimi_k26', 'Kimi K2.6 with reasoning, for text.', () => kimi({ opens: 'reasoning' })),
  namedRenderer('kimi_k26_disable_thinking', 'Kimi K2.6 with reasoning turned off.', () => kimi({ opens: 'empty' })),
  namedRenderer('kimi_k26_preserve_thinking', 'Kimi K2.6 that keeps the reasoning of earlier answers.', () =>
    kimi({ opens: 'reasoning', keeps: true }),
  ),
  namedRenderer('nemotron3', 'Nemotron 3 with reasoning.', () => nemotron3()),
  namedRenderer('nemotron3_low_thinking', 'Nemotron 3 Super, told to reason little.', () =>
    nemotron3({ effort: 'low' }),
  ),
  namedRenderer('nemotron3_disable_thinking', 'Nemotron 3 with reasoning turned off.', () =>
    nemotron3({ isOff: true }),
  ),
  namedRenderer('nemotron3_preserve_thinking', 'Nemotron 3 that keeps the reasoning of earlier answers.', () =>
    nemotron3({ keeps: true }),
  ),
  namedRenderer('nemotron3_ultra', 'Nemotron 3 Ultra with reasoning.', () => nemotron3({ isUltra: true })),
  namedRenderer('nemotron3_ultra_disable_thinking', 'Nemotron 3 Ultra with reasoning turned off.', () =>
    nemotron3({ isUltra: true, isOff: true }),
  ),
  namedRenderer('nemotron3_ultra_medium_thinking', 'Nemotron 3 Ultra, told to reason efficiently.', () =>
    nemotron3({ isUltra: true, effort: 'efficient' }),
  ),
  namedRenderer(
    'nemotron3_ultra_preserve_thinking',
    'Nemotron 3 Ultra that keeps the reasoning of earlier answers.',
    () => nemotron3({ isUltra: true, keeps: true }),
  ),
  namedRenderer('gpt_oss_no_sysprompt', 'OpenAI’s gpt-oss without its built-in system message.', () => gptOss()),
  datedRenderer('gpt_oss_low_reasoning', 'OpenAI’s gpt-oss, told to reason little.', (currentDate) =>
    gptOss({ effort: 'low', currentDate }),
  ),
  datedRenderer('gpt_oss_medium_reasoning', 'OpenAI’s gpt-oss, told to reason.', (currentDate) =>
    gptOss({ effort: 'medium', currentDate }),
  ),
  datedRenderer('gpt_oss_high_reasoning', 'OpenAI’s gpt-oss, told to reason much.', (currentDate) =>
    gptOss({ effort: 'high', currentDate }),
  ),
] as const

/** A renderer for a format without params. */
function namedRenderer<const K extends string>(
  kind: K,
  summary: string,
  format: () => ChatFormat,
): Renderer<K, NoParams> {
  return defineRenderer({
    kind,
    summary,
    async open({ tokenizer }) {
      return openFormat(kind, format(), modelTokenizer(kind, tokenizer))
    },
  })
}

/** A renderer for a format that tells the date. */
function datedRenderer<const K extends string>(
  kind: K,
  summary: string,
  format: (currentDate: string) => ChatFormat,
): Renderer<K, typeof DatedParams> {
  return defineRenderer({
    kind,
    summary,
    params: DatedParams,
    async open({ tokenizer, params }) {
      return openFormat(kind, format(params.current_date), modelTokenizer(kind, tokenizer))
    },
  })
}

function modelTokenizer(kind: string, tokenizer: Tokenizer): ModelTokenizer {
  if ('encodeGuarded' in tokenizer && 'special' in tokenizer) return tokenizer as ModelTokenizer // the only ones with both
  throw new EvsysError('PLUGIN_FAILED', `${kind}: the model has no tokenizer of its own`, {
    fix: 'use a model with tokenizer.json, or leave the renderer to the model.',
  })
}

// `User: ...`, `Assistant: ...`: the form of base models, without special tokens. What ends an answer is text, so content can
// spell it; the other formats have special tokens for that.
const delimiter = '\n\nUser:'

const roleColon: ChatFormat = {
  tokens: [],
  ends: [],
  stopTexts: [delimiter],
  extendsHistory: true,
  begin: (bos) => bos ?? '',
  turn({ role, text, reasoning, calls }, { isLast }) {
    if (role === 'tool' || calls.length > 0)
      throw refused('role_colon', 'it has no form for tools', 'choose another renderer.')
    if (reasoning !== undefined)
      throw refused('role_colon', 'it has no form for reasoning', 'drop it with the transform drop_reasoning.')
    const header = `${role.charAt(0).toUpperCase()}${role.slice(1)}:`
    // The last answer also learns how it ends: with the beginning of the next question.
    const end = role === 'assistant' && isLast ? ['User:'] : []
    return { header: [header], body: [' ', { content: text }, '\n\n', ...end] }
  },
  prompt: () => 'Assistant:',
  parse({ text }, ended) {
    const at = text.indexOf(delimiter)
    const answer = at === -1 ? text : text.slice(0, at)
    const content = answer.replace(/^ /, '').replace(/\n\n$/, '')
    // Either the delimiter ended it, or the end of all text did.
    const isOnlyOne = text.indexOf(delimiter, at + 1) === -1
    return { message: answerMessage(content, '', []), complete: at === -1 ? ended : isOnlyOne && !ended }
  },
}

// Llama 3: a header for each role. Without the date that Meta's own template puts into the system message, and without tools,
// whose calls cannot be told from other JSON.
const llama3: ChatFormat = {
  tokens: ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  ends: ['<|eot_id|>'],
  extendsHistory: true,
  begin: () => '<|begin_of_text|>',
  turn({ role, text, reasoning, calls }) {
    if (role === 'tool' || calls.length > 0)
      throw refused('llama3', 'it has no form for tools', 'choose another renderer.')
    if (reasoning !== undefined)
      throw refused('llama3', 'it has no form for reasoning', 'drop it with the transform drop_reasoning.')
    return { header: [headerOf(role)], body: [{ content: text }, '<|eot_id|>'] }
  },
  prompt: () => headerOf('assistant'),
  parse: ({ text }, ended) => ({ message: answerMessage(text, '', []), complete: ended }),
}

function headerOf(role: string): string {
  return `<|start_header_id|>${role}<|end_header_id|>\n\n`
}
