// What is run: the command of the params with its placeholders filled in.

/** What placeholders stand for. */
export interface CliValues {
  readonly instruction: string
  /** Address for clients of OpenAI, with `/v1`. */
  readonly base_url: string
  /** Address for clients of Anthropic. */
  readonly anthropic_url: string
  readonly api_key: string
  readonly model: string
}

export interface CliCommand {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** A list is run as it is; a text by `sh`, with values quoted. Braces that name no value stay. */
export function cliCommand(
  { command, env }: { readonly command: string | readonly string[]; readonly env: Readonly<Record<string, string>> },
  values: CliValues,
): CliCommand {
  const argv =
    typeof command === 'string'
      ? ['sh', '-c', filled(command, values, quoted)]
      : command.map((part) => filled(part, values))
  return {
    argv,
    env: {
      // What clients look for when nothing else is said.
      OPENAI_BASE_URL: values.base_url,
      OPENAI_API_BASE: values.base_url,
      OPENAI_API_KEY: values.api_key,
      ANTHROPIC_BASE_URL: values.anthropic_url,
      ANTHROPIC_API_KEY: values.api_key,
      ...Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value, values)])),
    },
  }
}

function filled(text: string, values: CliValues, write = (value: string) => value): string {
  return text.replace(/\{(instruction|base_url|anthropic_url|api_key|model)\}/g, (_, name: keyof CliValues) =>
    write(values[name]),
  )
}

function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
