// Tools as they are declared to families of models: a text in the system message. The words are those of each family's template, since
// the models were trained on them.
import type { ToolCall, ToolSpec } from '../../contracts/index.ts'
import { type FormatCall, type FormatMessage, ownMessage, type Part, pythonJson, pythonString } from './chat-format.ts'

/** Puts a text into the system message, which is made where there is none. */
export function inSystem(
  messages: readonly FormatMessage[],
  join: (system: string) => string,
): readonly FormatMessage[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [ownMessage('system', join('')), ...messages]
  return [{ ...first, text: join(first.text) }, ...rest]
}

export function qwen3Tools(tools: readonly ToolSpec[]): string {
  const lines = tools.map((tool) => pythonJson({ type: 'function', function: tool }))
  return `# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>\n${lines.join('\n')}\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>`
}

export function qwen35Tools(tools: readonly ToolSpec[]): string {
  const lines = tools.map((tool) => pythonJson({ type: 'function', function: tool }))
  return xmlIntroduction(lines.join('\n'))
}

export function nemotronTools(tools: readonly ToolSpec[]): string {
  return xmlIntroduction(tools.map(nemotronTool).join('\n'))
}

export function deepseekTools(tools: readonly ToolSpec[]): string {
  const blocks = tools.map(
    ({ name, description = '', parameters }) =>
      `### ${name}\nDescription: ${description}\n\nParameters: ${pythonJson(parameters)}`,
  )
  return `\n\n## Tools\nYou have access to the following tools:\n\n${blocks.join('\n')}\n\nIMPORTANT: ALWAYS adhere to this exact format for tool use:\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜><｜tool▁calls▁end｜>\n\nWhere:\n- \`tool_call_name\` must be an exact match to one of the available tools\n- \`tool_call_arguments\` must be valid JSON that strictly follows the tool's Parameters Schema\n- For multiple tool calls, chain them directly without separators or spaces`
}

function xmlIntroduction(declarations: string): string {
  return `# Tools\n\nYou have access to the following functions:\n\n<tools>\n${declarations}\n</tools>\n\nIf you choose to call a function ONLY reply in the following format with NO suffix:\n\n<tool_call>\n<function=example_function_name>\n<parameter=example_parameter_1>\nvalue_1\n</parameter>\n<parameter=example_parameter_2>\nThis is the value for the second parameter\nthat can span\nmultiple lines\n</parameter>\n</function>\n</tool_call>\n\n<IMPORTANT>\nReminder:\n- Function calls MUST follow the specified format: an inner <function=...></function> block must be nested within <tool_call></tool_call> XML tags\n- Required parameters MUST be specified\n- You may provide optional reasoning for your function call in natural language BEFORE the function call, but NOT after\n- If there is no function call available, answer the question like normal with your current knowledge and do not tell the user about function calls\n</IMPORTANT>`
}

function nemotronTool({ name, description, parameters }: ToolSpec): string {
  const { properties } = parameters
  const fields = typeof properties === 'object' && properties !== null ? Object.entries(properties) : []
  return [
    '<function>',
    `<name>${name}</name>`,
    ...(description === undefined ? [] : [`<description>${description.trim()}</description>`]),
    '<parameters>',
    ...fields.flatMap(([key, field]) => nemotronField(key, Object(field))),
    ...extraKeys(parameters, ['type', 'properties', 'required']),
    ...(parameters.required === undefined ? [] : [`<required>${pythonJson(parameters.required)}</required>`]),
    '</parameters>',
    '</function>',
  ].join('\n')
}

function nemotronField(key: string, field: Readonly<Record<string, unknown>>): string[] {
  const { type, description, enum: values } = field
  return [
    '<parameter>',
    `<name>${key}</name>`,
    ...(type === undefined ? [] : [`<type>${pythonString(type)}</type>`]),
    ...(typeof description === 'string' ? [`<description>${description.trim()}</description>`] : []),
    ...(values === undefined ? [] : [`<enum>${pythonJson(values)}</enum>`]),
    ...extraKeys(field, ['name', 'type', 'description', 'enum']),
    '</parameter>',
  ]
}

function extraKeys(fields: Readonly<Record<string, unknown>>, known: readonly string[]): string[] {
  return Object.entries(fields)
    .filter(([key]) => !known.includes(key))
    .map(([key, value]) => `<${key}>${pythonString(value)}</${key}>`)
}

// Calls as Qwen3.5 and Nemotron write them: a function, and each of its parameters in a separate block.
/** `<tool_call>` to `</tool_call>`. `textOf`: how a value that is no text is written. */
export function xmlCall({ name, args }: FormatCall, textOf: (value: unknown) => string): Part[] {
  const fields = typeof args === 'object' && args !== null ? Object.entries(args) : []
  return [
    '<tool_call>\n<function=',
    { content: name },
    '>\n',
    ...fields.flatMap(([key, value]): Part[] => [
      '<parameter=',
      { content: key },
      '>\n',
      { content: textOf(value) },
      '\n</parameter>\n',
    ]),
    '</function>\n</tool_call>',
  ]
}

const callForm = /^<tool_call>\s*<function=([^>\n]+)>\s*(.*?)\s*<\/function>\s*<\/tool_call>\s*$/s
const parameterForm = /<parameter=([^>\n]+)>\n?(.*?)\n?<\/parameter>\s*/gs

/** The calls at the end of a text, and what stands before them. What only looks like one stays text. */
export function splitXmlCalls(text: string): { content: string; calls: ToolCall[] } {
  const calls: ToolCall[] = []
  let content = text
  for (;;) {
    const start = content.lastIndexOf('<tool_call>')
    const call = start === -1 ? undefined : readCall(content.slice(start))
    if (call === undefined) break
    calls.unshift(call)
    content = content.slice(0, start).trimEnd()
  }
  return { content, calls }
}

function readCall(text: string): ToolCall | undefined {
  const [, name, body = ''] = callForm.exec(text) ?? []
  if (name === undefined || body.replace(parameterForm, '').trim() !== '') return undefined
  const fields = [...body.matchAll(parameterForm)].map(([, key = '', value = '']) => [key, readValue(value)])
  return { type: 'function', function: { name, arguments: Object.fromEntries(fields) } }
}

// Text is written as it is, so that what reads as JSON is taken for it.
function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
