// How an MCP server is reached: a command that talks on its standard streams, or a URL.
import * as z from 'zod'

export const McpServer = z
  .strictObject({
    command: z.string().min(1).optional().describe('Program that talks on its standard streams.'),
    args: z.array(z.string()).default([]).describe('Arguments of the program.'),
    env: z
      .record(z.string(), z.string())
      .default({})
      .describe('Environment of the program, besides PATH, HOME, LANG and TMPDIR.'),
    cwd: z.string().min(1).optional().describe('Folder that the program starts in.'),
    url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe('Address of a server that speaks streamable HTTP.'),
    headers: z.record(z.string(), z.string()).default({}).describe('Headers of every request to the URL.'),
    prefix: z
      .string()
      .regex(/^[\w.-]*$/)
      .default('')
      .describe('Put before the names of its tools.'),
    tools: z.array(z.string().min(1)).optional().describe('Names of the tools to offer; absent: all.'),
    start_timeout_s: z.number().positive().max(600).default(30).describe('Longest that its start may take.'),
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'a server has either a `command` or a `url`',
  })
export type McpServer = z.output<typeof McpServer>
