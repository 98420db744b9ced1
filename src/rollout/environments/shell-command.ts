// A line of shell as a command: bash where there is one, as Harbor runs all lines, else sh.

/** The words that run `line`. */
export function shellCommand(line: string): string[] {
  const script = 'if command -v bash > /dev/null 2>&1; then exec bash -c "$1"; else exec sh -c "$1"; fi'
  return ['sh', '-c', script, 'sh', line]
}
