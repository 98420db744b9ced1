// The data of a stream of server-sent events, one text for each event.

/** Rejects where an event is longer than `maxBytes`. */
export async function* eventData(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5))
      else if (line === '' && data.length > 0) {
        yield data.join('\n')
        data = []
      }
    }
    if (rest.length + data.reduce((sum, each) => sum + each.length, 0) > maxBytes)
      throw new Error('an event is too long')
  }
}
