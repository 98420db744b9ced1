// Chat templates in the manner of the families that have named renderers, for comparison: what a renderer writes by rules of its
// own, these write in Jinja. They end with the last message, without the line break that some published templates put behind it.

const query = `{%- set ns = namespace(query=-1, user=-1, final=-1, tool='') %}
{%- for m in messages %}
{%- if m.role == 'user' %}{%- set ns.query = loop.index0 %}{%- endif %}
{%- if m.role == 'assistant' and not m.tool_calls and not loop.last %}{%- set ns.final = loop.index0 %}{%- endif %}
{%- endfor %}`

const start = `{{- ('' if loop.first else '\\n') + '<|im_start|>' }}`

const toolResult = (open: string, close: string) => `{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}
${start}{{- 'user\\n' }}{%- else %}{{- '${open}' }}{%- endif %}
{{- '<tool_response>\\n' + m.content + '\\n</tool_response>${close}' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{- '<|im_end|>' }}{%- endif %}`

const jsonCalls = `{%- for call in m.tool_calls or [] %}
{{- '\\n' if content or not loop.first else '' }}{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + call.function.arguments | tojson + '}\\n</tool_call>' }}
{%- endfor %}`

const xmlCalls = (gap: string, end: string) => `{%- for call in m.tool_calls or [] %}
{{- ${gap} }}{{- '<tool_call>\\n<function=' + call.function.name + '>\\n' }}
{%- for key, value in call.function.arguments | items %}
{{- '<parameter=' + key + '>\\n' }}{{- value if value is string else value | tojson }}{{- '\\n</parameter>\\n' }}
{%- endfor %}
{{- '</function>\\n</tool_call>${end}' }}
{%- endfor %}`

const qwenPrompt = (suffix: string) =>
  `{%- if add_generation_prompt %}{{- ('\\n' if messages else '') + '<|im_start|>assistant\\n${suffix}' }}{%- endif %}`

function qwen3(frames: boolean, suffix: string): string {
  const framed = `'<think>\\n' + reasoning.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n')`
  return `${query}{%- for m in messages %}{%- if m.role == 'tool' %}${toolResult('\\n', '')}
{%- else %}${start}{{- m.role + '\\n' }}
{%- set content = m.content %}{%- set reasoning = m.reasoning_content or '' %}
{%- if ${frames} and m.role == 'assistant' and ns.query >= 0 and loop.index0 > ns.query and (loop.last or reasoning) %}{{- ${framed} }}
{%- else %}{{- content }}{%- endif %}
${jsonCalls}{{- '<|im_end|>' }}{%- endif %}{%- endfor %}${qwenPrompt(suffix)}`
}

function qwen35(suffix: string, isQwen38: boolean, sentence = ''): string {
  const begin =
    sentence === ''
      ? ''
      : `{%- if messages[0].role != 'system' %}{%- set messages = [{'role': 'system', 'content': ''}] + messages %}{%- endif %}`
  const system =
    sentence === ''
      ? 'content'
      : `'${sentence}' + ('\\n\\n' + content if content else '') if m.role == 'system' else content`
  return `${begin}${query}{%- for m in messages %}{%- set content = m.content | trim %}{%- if m.role == 'tool' %}${toolResult('\\n', '').replace('m.content', 'content')}
{%- else %}${start}{{- m.role + '\\n' }}
{%- if m.role == 'assistant' and (${isQwen38} or loop.index0 > ns.query) %}{{- '<think>\\n' + (m.reasoning_content or '') | trim + '\\n</think>\\n\\n' }}{%- endif %}
{{- ${system} }}${xmlCalls(`'\\n' if not loop.first else ('\\n\\n' if content else '')`, '')}{{- '<|im_end|>' }}{%- endif %}{%- endfor %}${qwenPrompt(suffix)}`
}

function deepseek(thinks: boolean): string {
  const header = thinks
    ? `{%- if loop.last %}{{- '<｜Assistant｜><think>' + (m.reasoning_content or '') + '</think>' }}{%- else %}{{- '<｜Assistant｜></think>' }}{%- endif %}`
    : `{{- '<｜Assistant｜></think>' }}`
  return `{{- '<｜begin▁of▁sentence｜>' }}{%- for m in messages %}
{%- if m.role == 'system' %}{{- m.content }}{%- elif m.role == 'user' %}{{- '<｜User｜>' + m.content }}
{%- elif m.role == 'tool' %}{{- '<｜tool▁output▁begin｜>' + m.content + '<｜tool▁output▁end｜>' }}
{%- else %}{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}${header}{%- endif %}{{- m.content }}
{%- for call in m.tool_calls or [] %}{{- '<｜tool▁calls▁begin｜>' if loop.first else '' }}{{- '<｜tool▁call▁begin｜>' + call.function.name + '<｜tool▁sep｜>' + call.function.arguments | tojson + '<｜tool▁call▁end｜>' }}{{- '<｜tool▁calls▁end｜>' if loop.last else '' }}{%- endfor %}
{{- '<｜end▁of▁sentence｜>' }}{%- endif %}{%- endfor %}
{%- if add_generation_prompt and messages[-1].role != 'tool' %}{{- '<｜Assistant｜>${thinks ? '<think>' : '</think>'}' }}{%- endif %}`
}

function kimi(opening: string, keeps: boolean): string {
  return `${query}{%- if messages[0].role != 'system' %}{{- '<|im_system|>system<|im_middle|>You are Kimi, an AI assistant created by Moonshot AI.<|im_end|>' }}{%- endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{- '<|im_system|>' + m.name + '<|im_middle|>## Return of ' + m.tool_call_id + '\\n' + m.content }}
{%- else %}{{- '<|im_' + m.role + '|>' + m.role + '<|im_middle|>' }}
{%- if m.role == 'assistant' %}{{- '<think>' + ((m.reasoning_content or '') if ${keeps} or loop.index0 > ns.final else '') + '</think>' }}{%- endif %}{{- m.content }}
{%- for call in m.tool_calls or [] %}{{- '<|tool_calls_section_begin|>' if loop.first else '' }}{{- '<|tool_call_begin|>' + call.id + '<|tool_call_argument_begin|>' + call.function.arguments | tojson + '<|tool_call_end|>' }}{{- '<|tool_calls_section_end|>' if loop.last else '' }}{%- endfor %}
{%- endif %}{{- '<|im_end|>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_assistant|>assistant<|im_middle|>${opening}' }}{%- endif %}`
}

function nemotron3(suffix: string, { isUltra = false, keeps = false, effort = '' } = {}): string {
  const told =
    effort === ''
      ? ''
      : ` + ('\\n\\n{reasoning effort: ${effort}}' if m.role == 'user' and loop.index0 == ns.query else '')`
  const [close, gap] = isUltra ? ['</think>', ''] : ['\\n</think>', '\\n']
  return `{%- if messages[0].role != 'system' %}{%- set messages = [{'role': 'system', 'content': ''}] + messages %}{%- endif %}${query}
{%- for m in messages %}{%- if m.role == 'tool' %}${toolResult('', '\\n')}
{%- elif m.role != 'assistant' %}${start}{{- m.role + '\\n' + m.content${told} + '<|im_end|>' }}
{%- else %}${start}{{- 'assistant\\n' }}{%- set reasoning = m.reasoning_content or '' %}{%- set history = not ${keeps} and loop.index0 < ns.query %}
{%- set content = m.content | trim if history and m.tool_calls else m.content.rstrip() %}
{%- if reasoning | trim and not history %}{{- '<think>\\n' + reasoning + '${close}' }}{%- else %}{{- '<think></think>' }}{%- endif %}
{%- if content %}{{- '${gap}' if reasoning | trim and not (history and m.tool_calls) else '' }}{{- content }}{%- endif %}
{%- if m.tool_calls %}{{- '\\n' }}{%- endif %}${xmlCalls(`''`, '\\n')}{{- '<|im_end|>' }}{%- endif %}{%- endfor %}${qwenPrompt(suffix)}`
}

const gptOss = (
  system: string,
) => `{{- '${system}' }}{%- for m in messages %}{%- set here = loop.index0 %}{%- set ns = namespace(final=false) %}
{%- for later in messages %}{%- if loop.index0 > here and not loop.last and later.role == 'assistant' and not later.tool_calls %}{%- set ns.final = true %}{%- endif %}{%- endfor %}
{%- if m.role == 'system' %}{{- '<|start|>developer<|message|># Instructions\\n\\n' + m.content + '\\n\\n<|end|>' }}
{%- elif m.role == 'user' %}{{- '<|start|>user<|message|>' + m.content + '<|end|>' }}
{%- elif m.role == 'tool' %}{{- '<|start|>functions.' + m.name + ' to=assistant<|channel|>commentary<|message|>' + m.content + '<|end|>' }}
{%- else %}
{%- if m.reasoning_content and (loop.last or m.tool_calls) and not ns.final %}{{- '<|start|>assistant<|channel|>analysis<|message|>' + m.reasoning_content + '<|end|>' }}{%- endif %}
{%- if m.tool_calls %}{%- if m.content %}{{- '<|start|>assistant<|channel|>commentary<|message|>' + m.content + '<|end|>' }}{%- endif %}
{%- for call in m.tool_calls %}{{- '<|start|>assistant to=functions.' + call.function.name + '<|channel|>commentary <|constrain|>json<|message|>' + call.function.arguments | tojson + '<|call|>' }}{%- endfor %}
{%- else %}{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + ('<|return|>' if loop.last else '<|end|>') }}{%- endif %}
{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}`

const gptOssSystem = (effort: string) =>
  `<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\\nKnowledge cutoff: 2024-06\\nCurrent date: 2025-08-05\\n\\nReasoning: ${effort}\\n\\n# Valid channels: analysis, commentary, final. Channel must be included for every message.<|end|>`

const off = '<think>\\n\\n</think>\\n\\n'
const xhigh =
  'Reasoning effort is set to xhigh. Please think carefully through the task, validate key assumptions, consider plausible alternatives, and prioritize correctness, consistency, and clarity in the final answer.'
const low =
  'Reasoning effort is set to low. Keep your thinking brief and focused, moving directly to the conclusion without unnecessary elaboration.'

/** By name of the renderer. */
export const familyTemplates: Readonly<Record<string, string>> = {
  role_colon: `{{- bos_token }}{%- for m in messages %}{{- m.role | capitalize + ': ' + m.content + '\\n\\n' }}{{- 'User:' if loop.last and m.role == 'assistant' else '' }}{%- endfor %}{%- if add_generation_prompt %}{{- 'Assistant:' }}{%- endif %}`,
  llama3: `{{- '<|begin_of_text|>' }}{%- for m in messages %}{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + m.content + '<|eot_id|>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}`,
  qwen3: qwen3(true, ''),
  qwen3_vl: qwen3(true, ''),
  qwen3_disable_thinking: qwen3(true, off),
  qwen3_instruct: qwen3(false, ''),
  qwen3_vl_instruct: qwen3(false, ''),
  qwen3_5: qwen35('<think>\\n', false),
  qwen3_5_disable_thinking: qwen35(off, false),
  qwen3_8_xhigh_reasoning: qwen35('<think>\\n', true, xhigh),
  qwen3_8_medium_reasoning: qwen35('<think>\\n', true),
  qwen3_8_low_reasoning: qwen35('<think>\\n', true, low),
  qwen3_8_disable_thinking: qwen35(off, true),
  deepseekv3: deepseek(false),
  deepseekv3_disable_thinking: deepseek(false),
  deepseekv3_thinking: deepseek(true),
  kimi_k2: kimi('', false),
  kimi_k25: kimi('<think>', false),
  kimi_k25_disable_thinking: kimi('<think></think>', false),
  kimi_k26: kimi('<think>', false),
  kimi_k26_disable_thinking: kimi('<think></think>', false),
  kimi_k26_preserve_thinking: kimi('<think>', true),
  nemotron3: nemotron3('<think>\\n'),
  nemotron3_low_thinking: nemotron3('<think>\\n', { effort: 'low' }),
  nemotron3_disable_thinking: nemotron3('<think></think>'),
  nemotron3_preserve_thinking: nemotron3('<think>\\n', { keeps: true }),
  nemotron3_ultra: nemotron3('<think>\\n', { isUltra: true }),
  nemotron3_ultra_disable_thinking: nemotron3('<think></think>', { isUltra: true }),
  nemotron3_ultra_medium_thinking: nemotron3('<think>\\n', { isUltra: true, effort: 'efficient' }),
  nemotron3_ultra_preserve_thinking: nemotron3('<think>\\n', { isUltra: true, keeps: true }),
  gpt_oss_no_sysprompt: gptOss(''),
  gpt_oss_low_reasoning: gptOss(gptOssSystem('low')),
  gpt_oss_medium_reasoning: gptOss(gptOssSystem('medium')),
  gpt_oss_high_reasoning: gptOss(gptOssSystem('high')),
}

/** Special tokens of the families. */
export const familyTokens = [
  ...['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
  ...['<｜begin▁of▁sentence｜>', '<｜end▁of▁sentence｜>', '<｜User｜>', '<｜Assistant｜>'],
  ...[
    '<｜tool▁calls▁begin｜>',
    '<｜tool▁calls▁end｜>',
    '<｜tool▁call▁begin｜>',
    '<｜tool▁call▁end｜>',
    '<｜tool▁sep｜>',
  ],
  ...['<｜tool▁output▁begin｜>', '<｜tool▁output▁end｜>'],
  ...['<|im_user|>', '<|im_assistant|>', '<|im_system|>', '<|im_middle|>'],
  ...['<|tool_calls_section_begin|>', '<|tool_calls_section_end|>'],
  ...['<|tool_call_begin|>', '<|tool_call_argument_begin|>', '<|tool_call_end|>'],
  ...['<|start|>', '<|end|>', '<|message|>', '<|channel|>', '<|constrain|>', '<|return|>', '<|call|>'],
]
