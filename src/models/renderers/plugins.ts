// The named renderers of the training protocol's cookbook, under its names.
import { deepseekV3 } from './deepseek-v3.ts'
import { gptOss } from './gpt-oss.ts'
import { kimi } from './kimi.ts'
import { llama3 } from './llama3.ts'
import { datedRenderer, namedRenderer } from './named-renderer.ts'
import { nemotron3 } from './nemotron3.ts'
import { qwen3 } from './qwen3.ts'
import { qwen35 } from './qwen3-5.ts'
import { roleColon } from './role-colon.ts'

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
