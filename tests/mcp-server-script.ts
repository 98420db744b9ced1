import { fileURLToPath } from 'node:url'
import { compiledUrl } from './compiled-url.ts'

/** The MCP server of tests/children, as a program for Node. */
export const mcpServerScript = fileURLToPath(compiledUrl(new URL('./children/mcp-server.ts', import.meta.url)))
