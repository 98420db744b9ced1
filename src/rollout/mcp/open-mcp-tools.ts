// The tools of MCP servers, as an agent offers them. Every attempt has servers of its own: what one attempt does in them, no other sees.
import type { OfferedTool } from '../tools/offered-tool.ts'
import { type McpClient, openMcpClient } from './mcp-client.ts'
import type { McpServer } from './mcp-server-spec.ts'
import type { ToolAnswer } from './messages.ts'

export interface OpenMcpTools extends AsyncDisposable {
  readonly tools: readonly OfferedTool[]
}

/** Opens the servers together. One that cannot be opened closes the others. */
export async function openMcpTools(servers: readonly McpServer[], signal: AbortSignal): Promise<OpenMcpTools> {
  const settled = await Promise.allSettled(servers.map((server) => openMcpClient(server, signal)))
  const clients = settled.map((each) => (each.status === 'fulfilled' ? each.value : undefined))
  const close = async () => {
    await Promise.allSettled(clients.map((client) => client?.[Symbol.asyncDispose]()))
  }
  const failed = settled.find((each) => each.status === 'rejected')
  if (failed !== undefined) {
    await close()
    throw failed.reason
  }
  const tools = servers.flatMap((server, i) => {
    const client = clients[i]
    return client === undefined ? [] : toolsOf(client, server)
  })
  return { tools, [Symbol.asyncDispose]: close }
}

function toolsOf(client: McpClient, { prefix, tools: wanted }: McpServer): OfferedTool[] {
  return client.tools
    .filter(({ name }) => wanted === undefined || wanted.includes(name))
    .map(({ name, description, inputSchema }) => ({
      spec: {
        name: `${prefix}${name}`,
        ...(description === undefined ? {} : { description }),
        parameters: inputSchema ?? { type: 'object', properties: {} },
      },
      async call(args, signal) {
        const answer = await client.call(name, args, signal)
        const text = textOf(answer)
        if (answer.isError === true) throw new Error(text)
        return text
      },
    }))
}

/** Text as it is; of what is no text, its kind. */
function textOf({ content, structuredContent }: ToolAnswer): string {
  const parts = content.map((part) => {
    if (part.type === 'text' && typeof part.text === 'string') return part.text
    const { text } = Object(part.resource) as { text?: unknown } // of an embedded resource
    return typeof text === 'string' ? text : `[${part.type}]`
  })
  if (parts.length === 0 && structuredContent !== undefined) return JSON.stringify(structuredContent)
  return parts.join('\n')
}
