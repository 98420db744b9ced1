// What the README promises in code blocks, so that tests run the very lines that people copy.

export interface ReadmeCommands {
  quickstart: string
  tests: string
}

/** The two set-up commands: the lines of shell blocks that start with an install. */
export function readmeCommands(markdown: string): ReadmeCommands {
  const installs = codeBlocks(markdown, 'sh')
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith('npm ci '))
  const [quickstart, tests, ...more] = installs
  if (quickstart === undefined || tests === undefined || more.length > 0) {
    throw new Error(`README.md should hold two commands that install, and holds ${installs.length}`)
  }
  return { quickstart, tests }
}

/** Contents of the fenced blocks of one language. */
export function codeBlocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , body]) => body ?? '')
}
