// One command out of an answer in words.

export type ShellStep =
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'done' }
  /** What the model is told in place of an output. */
  | { readonly kind: 'fault'; readonly text: string }

/** What a model writes when there is nothing more to do. */
export const doneWord = 'TASK_COMPLETE'

const block = /^[ \t]*```[ \t]*(?:bash|sh|shell|console)?[ \t]*\r?\n([\s\S]*?)^[ \t]*```[ \t]*$/gm

export function readCommand(text: string): ShellStep {
  const commands = [...text.matchAll(block)].map(([, body = '']) => body.trim()).filter((body) => body !== '')
  const [command] = commands
  if (commands.length > 1) {
    return { kind: 'fault', text: `There are ${commands.length} commands in your answer, and none was run. Write one.` }
  }
  if (command !== undefined) return { kind: 'command', command }
  if (text.includes(doneWord)) return { kind: 'done' }
  return {
    kind: 'fault',
    text: `There is no command in your answer. Write one in a \`\`\`bash block, or ${doneWord} when the task is done.`,
  }
}
