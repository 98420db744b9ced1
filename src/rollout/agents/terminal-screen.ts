// What a terminal shows, as plain text: without control sequences, and without the mark that tells when the shell is ready.

/** Ends the prompt; a terminal shows nothing for it. */
export const readyMark = '\x1b]777;ready\x07'

/** The prompt of bash, in its own notation. */
export const prompt = '\\u:\\w\\$ \\[\\e]777;ready\\a\\]'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for
const sequences = /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-Z\\^_=>]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controls = /[\x00-\x07\x0b-\x1f\x7f]/g

/** Lines as they would stand there: what a carriage return wrote over is gone. */
export function plainScreen(raw: string): string {
  return raw
    .replace(sequences, '')
    .replaceAll(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => withoutBackspaces(line.slice(line.lastIndexOf('\r', line.length - 2) + 1)))
    .join('\n')
    .replace(controls, '')
}

function withoutBackspaces(line: string): string {
  if (!line.includes('\b')) return line
  const kept: string[] = []
  for (const char of line) {
    if (char === '\b') kept.pop()
    else kept.push(char)
  }
  return kept.join('')
}

export function countIn(text: string, part: string): number {
  return text.split(part).length - 1
}
