// What an MCP server for tests answers, whatever carries its messages: written against the public protocol, with no code of ours.

export interface McpMessage {
  readonly id?: string | number | undefined
  readonly method?: string | undefined
  readonly params?:
    | {
        protocolVersion?: string | undefined
        cursor?: string | undefined
        name?: string | undefined
        arguments?: Record<string, unknown> | undefined
      }
    | undefined
  readonly result?: unknown
}

const tools = [
  { name: 'shout', description: 'Shouts.', inputSchema: { type: 'object', properties: { text: { type: 'string' } } } },
  { name: 'fail', description: 'Fails.' },
  { name: 'count', description: 'Counts its calls.' },
  { name: 'wait', description: 'Never answers.' },
  { name: 'env', description: 'Names its environment.' },
]

/** Answers of one server, which counts its calls; undefined: none. `mode`: what it does wrong. */
export function mcpAnswers(mode = ''): (message: McpMessage) => Record<string, unknown> | undefined {
  let counted = 0
  const text = (value: string) => ({ content: [{ type: 'text', text: value }] })
  const called: Record<string, (args: Record<string, unknown>) => Record<string, unknown>> = {
    shout: (args) => ({
      content: [
        { type: 'text', text: String(args.text).toUpperCase() },
        { type: 'image', data: '', mimeType: 'image/png' },
      ],
    }),
    fail: () => ({ ...text('it broke'), isError: true }),
    count: () => {
      counted += 1
      return { content: [], structuredContent: { counted } }
    },
    env: () => text(Object.keys(process.env).sort().join()),
  }
  return ({ id, method, params = {} }) => {
    if (mode === 'silent' || id === undefined) return undefined
    if (method === 'initialize') {
      const protocolVersion = mode === 'old' ? '1999-01-01' : params.protocolVersion
      return {
        id,
        result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1' } },
      }
    }
    if (method === 'tools/list') {
      if (mode === 'endless') return { id, result: { tools, nextCursor: 'more' } }
      const isFirst = params.cursor === undefined
      return { id, result: isFirst ? { tools: tools.slice(0, 2), nextCursor: 'two' } : { tools: tools.slice(2) } }
    }
    if (method !== 'tools/call' || params.name === 'wait') return undefined
    const tool = called[params.name ?? '']
    if (tool === undefined) return { id, error: { code: -32602, message: `Unknown tool: ${params.name}` } }
    return { id, result: tool(params.arguments ?? {}) }
  }
}
