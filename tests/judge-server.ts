// A judge on loopback that speaks the Chat Completions API: it passes answers that hold a word, and obeys no one.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface JudgeServer extends AsyncDisposable {
  readonly url: string
  /** Conversations that it was asked about, and keys that it was shown. */
  readonly heard: { readonly system: string; readonly user: string; readonly key: string | undefined }[]
}

/** `verdict` gives the text of a reply from the document that the judge is handed; `again`: times that it was asked before. */
export async function startJudgeServer(
  verdict: (document: { answer: string }, again: number) => string,
): Promise<JudgeServer> {
  const heard: JudgeServer['heard'] = []
  const server = createServer((request, response) => {
    bodyOf(request).then(
      (body) => {
        const { messages } = JSON.parse(body)
        const [system, user] = messages.map(({ content }: { content: string }) => content)
        heard.push({ system, user, key: request.headers.authorization })
        const content = verdict(JSON.parse(user), (messages.length - 2) / 2)
        const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }]
        const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify({ id: 'one', object: 'chat.completion', model: 'judge', choices, usage }))
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += part
  return text
}
