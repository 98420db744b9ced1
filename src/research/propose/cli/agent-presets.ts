// How well-known coding agents are started without a person: they edit the files of their folder, and that is all they may do.
import {
  type AgentReport,
  readAnyReport,
  readClaudeReport,
  readCodexReport,
  readCodexSessions,
} from './agent-report.ts'

/** What is asked of a program. */
export interface AgentCall {
  readonly instruction: string
  readonly model?: string | undefined
  readonly baseUrl?: string | undefined
  /** What the session may still spend. */
  readonly mostUsd?: number | undefined
  /** It has the user's home, with a login, and no key. */
  readonly useHome: boolean
  readonly args: readonly string[]
}

export interface AgentPreset {
  readonly title: string
  /** Its package of npm. */
  readonly package: string
  /** The first version that knows all of its options. */
  readonly since: string
  readonly secret: 'ANTHROPIC_API_KEY' | 'OPENAI_API_KEY'
  /** The variable that it reads the key from. */
  readonly keyName: string
  readonly env: Readonly<Record<string, string>>
  words(call: AgentCall): string[]
  variables(call: AgentCall): Record<string, string>
  report(stdout: string, call: AgentCall, home: string | undefined): Promise<AgentReport>
  /** How a person logs in. */
  readonly login: string
}

export const agentPresets: Readonly<Record<'claude' | 'codex', AgentPreset>> = {
  claude: {
    title: 'Claude Code',
    package: '@anthropic-ai/claude-code',
    since: '2.1.248',
    secret: 'ANTHROPIC_API_KEY',
    keyName: 'ANTHROPIC_API_KEY',
    env: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_MAX_RETRIES: '6', // half a minute; its own ten try a wrong key for minutes
    },
    words: ({ instruction, model, mostUsd, args }) => [
      ...['claude', '-p', instruction, '--output-format', 'stream-json', '--verbose'],
      // No commands, no files elsewhere, no settings, hooks or servers of the files that it edits.
      ...['--permission-mode', 'acceptEdits', '--restricted', '--strict-mcp-config', '--no-session-persistence'],
      ...(model === undefined ? [] : ['--model', model]),
      ...(mostUsd === undefined ? [] : ['--max-budget-usd', Math.max(0.01, mostUsd).toFixed(2)]),
      ...args,
    ],
    variables: ({ baseUrl }) => (baseUrl === undefined ? {} : { ANTHROPIC_BASE_URL: baseUrl }),
    report: async (stdout) => readClaudeReport(stdout),
    login: '`claude`, then /login',
  },
  codex: {
    title: 'Codex',
    package: '@openai/codex',
    since: '0.166.0',
    secret: 'OPENAI_API_KEY',
    keyName: 'CODEX_API_KEY', // `codex exec` sends this one; OPENAI_API_KEY it does not
    env: {},
    words: ({ instruction, model, baseUrl, useHome, args }) => [
      ...['codex', 'exec', '--json', '--skip-git-repo-check', '--sandbox', 'workspace-write'],
      // Commands of the model see no key, and write nowhere but in the folder.
      ...setting('shell_environment_policy.inherit', '"core"'),
      ...setting('sandbox_workspace_write.exclude_slash_tmp', 'true'),
      ...setting('sandbox_workspace_write.exclude_tmpdir_env_var', 'true'),
      // Nothing but questions to the model leaves this machine.
      ...setting('features.plugins', 'false'),
      ...setting('analytics.enabled', 'false'),
      ...setting('check_for_update_on_startup', 'false'),
      ...(useHome ? ['--ephemeral'] : []),
      ...(model === undefined ? [] : ['--model', model]),
      ...(baseUrl === undefined ? [] : provider(baseUrl, useHome)),
      ...args,
      ...['--', instruction],
    ],
    variables: () => ({}),
    report: async (stdout, { model, baseUrl }, home) =>
      readCodexReport(stdout, {
        sessions: home === undefined ? [] : await readCodexSessions(home),
        model,
        isOpenai: baseUrl === undefined,
      }),
    login: '`codex login`',
  },
}

/** Of a program that has no preset. */
export const anyReport: AgentPreset['report'] = async (stdout) => readAnyReport(stdout)

function setting(name: string, toml: string): string[] {
  return ['--config', `${name}=${toml}`]
}

// Its own provider tries WebSockets first, which other servers do not speak.
function provider(baseUrl: string, useHome: boolean): string[] {
  const key = useHome ? '' : ', env_key = "CODEX_API_KEY"'
  const url = JSON.stringify(baseUrl)
  return [
    ...setting('model_provider', '"evsys"'),
    ...setting('model_providers.evsys', `{ name = "evsys", base_url = ${url}, wire_api = "responses"${key} }`),
  ]
}
