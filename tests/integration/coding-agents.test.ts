// The proposer `cli-agent` with the programs that people have: Claude Code and Codex as they are published, and a scripted model behind them.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, vi } from 'vitest'
import { parse } from 'yaml'
import type { GenerateRequest, HarborTask, OpenInferenceClient, ToolCall } from '../../src/contracts/index.ts'
import { cliAgent } from '../../src/research/propose/cli/cli-agent.ts'
import { usageOfError } from '../../src/research/propose/ledger/proposal-usage.ts'
import { cli } from '../../src/rollout/cli/cli-agent.ts'
import { root, runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { needs } from '../needs.ts'
import { pluginContext } from '../plugin-context.ts'
import { codeBlocks } from '../readme.ts'
import { sampleBrief } from '../research-brief.ts'
import { type Script, startScriptedProvider } from '../scripted-agents.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const packages = ['@anthropic-ai/claude-code@2.1.325', '@openai/codex@0.166.0']
const home = join(root, '.tmp', 'coding-agents')
const bin = join(home, 'node_modules/.bin')
const key = 'test-key-0123456789'
const folder = temporaryFolders()

/** Installs both once, below .tmp. */
const agents = needs(`${packages.join(' and ')} (the npm registry)`, () => {
  const mark = join(home, packages.join(' ').replaceAll('/', '+'))
  if (existsSync(mark)) return true
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'package.json'), '{"private": true}')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--engine-strict=false', ...packages], {
    cwd: home,
    stdio: 'pipe',
  })
  writeFileSync(mark, '')
  return true
})

function useAgents(): void {
  vi.stubEnv('PATH', `${bin}:${process.env.PATH ?? ''}`)
  onTestFinished(() => void vi.unstubAllEnvs())
}

const label = '{"title": "Another rate", "family": "rate", "category": "optimizer", "hypothesis": "It was far off."}'

/** Sets the learning rate of the file that it reads to the next of these. */
function turnRates(rates: readonly number[]): Script {
  let proposals = 0
  return (turn, said) => {
    if (turn === 0) return { read: 'config.json' }
    if (turn > 1) return { say: 'Done.' }
    const rate = /learning_rate\\+": ([\d.]+)/.exec(said)?.[1]
    const line = (value: unknown) => `  "learning_rate": ${value},`
    return { edit: 'config.json', from: line(rate), to: line(rates[proposals++]), label }
  }
}

const rows = [
  // What Claude Code says itself: 3 answers of 100, 1000 written, 2000 read, 50 at 4, 5, 0.2 and 20 dollars.
  { agent: 'claude', address: '', usd: 0.0204, tokens: 3 * 3150, more: {} },
  // Codex tells tokens alone: 3 answers of 1000, 2000 from the cache, 50.
  {
    agent: 'codex',
    address: '/v1',
    usd: 0.0087,
    tokens: 3 * 3050,
    more: { price: { input: 2, output: 10, cache_read: 0.2 } },
  },
] as const

agents.describe('coding agents as they are published', () => {
  for (const { agent, address, usd, tokens, more } of rows) {
    const ask = async (script: Script, params: object = {}) => {
      useAgents()
      const provider = await startScriptedProvider(script)
      const context = pluginContext(cliAgent, { agent, base_url: provider.url + address, ...more, ...params })
      const answer = cliAgent.propose(sampleBrief(), { ...context, secret: () => key })
      return { ...provider, answer: await answer.catch((error: unknown) => error) }
    }

    agents.it(`${agent}: two experiments of a session, with labels and the bill (RES-519)`, async () => {
      useAgents()
      const { url, heard } = await startScriptedProvider(turnRates([0.001, 0.003]))
      const before = readdirSync(tmpdir()).filter((name) => name.startsWith('evsys-propose-'))
      const args = ['research', 'run', '--task', 'table-search', '--max-experiments', '2', '--proposer', 'cli-agent']
      const params = JSON.stringify({ agent, base_url: url + address, ...more })
      const { code, stdout, stderr } = await runMain([...args, '--proposer-params', params, '--json'], {
        cwd: folder(),
        env: { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key },
      })
      expect([code, stderr]).toEqual([0, expect.stringContaining('Another rate')])
      const { attempts, spend } = JSON.parse(stdout)
      expect(attempts.slice(1)).toMatchObject([
        { title: 'Another rate', family: 'rate', category: 'optimizer', cost_usd: usd },
        { title: 'Another rate', family: 'rate', category: 'optimizer', cost_usd: usd },
      ])
      expect(spend).toMatchObject({ calls: 2, tokens: 2 * tokens, usd: 2 * usd, assumed_usd: 0, lost_calls: 0 })
      // The key goes to the provider, and nothing but questions to the model is sent there.
      expect(heard.map(({ path }) => path)).toEqual(
        Array(6).fill(agent === 'claude' ? '/v1/messages' : '/v1/responses'),
      )
      expect(heard.every(({ headers }) => [headers['x-api-key'], headers.authorization].join().includes(key))).toBe(
        true,
      )
      expect(readdirSync(tmpdir()).filter((name) => name.startsWith('evsys-propose-'))).toEqual(before)
    })

    agents.it(`${agent}: an experiment of a session over an experiment file (RES-573)`, async () => {
      useAgents()
      const { metadata, matrix } = twoByTwo
      const benchmark = metadata.benchmark.map(({ run_every: _, ...each }) => each)
      const file = experimentProject(folder(), {
        name: 'poor',
        metadata: { objective: metadata.objective, benchmark },
        ...matrix.base_run,
        algorithm: { kind: 'sft', params: { max_steps: 6, learning_rate: 0.0001 } },
        research: { budget: { experiments: 1, runs: 6 } },
      })
      const { url } = await startScriptedProvider((turn) => {
        if (turn === 0) return { read: 'config.yaml' }
        if (turn > 1) return { say: 'Done.' }
        // Whole lines: Codex patches those.
        return { edit: 'config.yaml', from: '    learning_rate: 0.0001', to: '    learning_rate: 0.1', label }
      })
      const params = JSON.stringify({ agent, base_url: url + address, ...more })
      const args = ['research', 'run', file, '--proposer', 'cli-agent', '--proposer-params', params, '--json']
      const env = { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key }
      const { code, stdout, stderr } = await runMain(args, { cwd: folder(), env })
      expect([code, stderr]).toEqual([0, expect.any(String)])
      expect(JSON.parse(stdout).attempts[1]).toMatchObject({
        title: 'Another rate',
        verdict: 'provisional',
        cost_usd: usd,
      })
    })

    agents.it(`${agent}: a key that is refused, a provider that is full, words alone (RES-520)`, async () => {
      const few = { env: { CLAUDE_CODE_MAX_RETRIES: '0' }, args: agent === 'codex' ? fewRetries : [] }
      const refused = await ask(
        () => ({ status: 401, type: 'authentication_error', message: 'invalid x-api-key' }),
        few,
      )
      expect(refused.answer).toMatchObject({
        code: 'INFERENCE_REFUSED',
        fix: expect.stringContaining('_API_KEY to a key'),
      })
      const full = await ask(() => ({ status: 529, type: 'overloaded_error', message: 'Overloaded' }), few)
      expect(full.answer).toMatchObject({ code: 'INFERENCE_FAILED', message: expect.stringContaining('529') })
      expect((await ask(() => 'cut', few)).answer).toMatchObject({ code: 'INFERENCE_FAILED' })
      const words = await ask(() => ({ say: 'I would rather talk.' }))
      expect(words.answer).toMatchObject({
        code: 'AGENT_FAILED',
        message: expect.stringMatching(/changed nothing[\s\S]*I would rather talk/),
      })
      expect(usageOfError(words.answer)).toMatchObject({ completionTokens: 50, costUsd: usd / 3 })
    })

    agents.it(`${agent}: one that never stops is ended, and what it told until then is charged (RES-520)`, async () => {
      const { answer, heard } = await ask(() => ({ read: 'train.mjs' }), { timeout_s: 6 })
      expect(answer).toMatchObject({ code: 'AGENT_TIMEOUT' })
      expect(heard.length).toBeGreaterThan(1)
      const { promptTokens = 0, costUsd = 0 } = usageOfError(answer) ?? {}
      expect(promptTokens).toBeGreaterThan(3000)
      expect(costUsd).toBeGreaterThan(0)
    })

    agents.it(`${agent}: commands of the model see no key and write nothing elsewhere (RES-521)`, async () => {
      const outside = join(folder(), 'outside')
      const run = `(env; cat /proc/*/environ) 2> /dev/null | tr '\\0' '\\n' > train.mjs; echo x > ${outside}; echo y > $TMPDIR/y`
      const { answer } = await ask((turn) => (turn === 0 ? { run } : { say: 'Done.' }))
      expect(existsSync(outside)).toBe(false)
      expect(JSON.stringify(answer)).not.toContain(key)
      if (agent === 'codex') expect(JSON.stringify(answer)).toContain('CODEX_SANDBOX_NETWORK_DISABLED')
      else expect(answer).toMatchObject({ message: expect.stringContaining('changed nothing') }) // it has no such tool
    })
  }
})

const task: HarborTask = {
  task_id: 't',
  instruction: 'Write hello into answer.txt.',
  verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'x', params: {} },
  metadata: {},
}

/** A policy that makes one call of a tool, then says what came back. */
function callingPolicy(calls: Readonly<Record<string, (folder: string) => Record<string, unknown>>>) {
  const asked: GenerateRequest[] = []
  const policy: OpenInferenceClient = {
    async generate(request) {
      asked.push(request)
      const usage = { promptTokens: 1, completionTokens: 1, latencyS: 0 }
      const last = request.messages.at(-1)
      if (last?.role === 'tool') return { text: String(last.content), stopReason: 'stop', usage }
      const name = Object.keys(calls).find((each) => request.tools?.some((tool) => tool.name === each)) ?? ''
      const folder = /working directory: ([^\\" ]+)/i.exec(JSON.stringify(request.messages))?.[1] ?? ''
      const call: ToolCall = {
        id: 'call_1',
        type: 'function',
        function: { name, arguments: calls[name]?.(folder) ?? {} },
      }
      return { text: '', toolCalls: [call], stopReason: 'tool_calls', usage }
    },
  }
  return { policy, asked }
}

agents.describe('coding agents behind the capture proxy', () => {
  const page = readFileSync(join(root, 'docs/guides/external-agents.md'), 'utf8')
  const specs = codeBlocks(page, 'yaml').flatMap((block) => {
    const { agent } = parse(block)
    return ['claude', 'codex'].includes(agent.params.command?.[0]) ? [agent.params] : []
  })
  for (const params of specs) {
    agents.it(
      `${params.command[0]}: the tools of the program in the hands of the policy, as the docs start it (EXT-1)`,
      async () => {
        useAgents()
        const { policy, asked } = callingPolicy({
          Write: (at) => ({ file_path: `${at}/answer.txt`, content: 'hello' }),
          exec_command: () => ({ cmd: 'echo hello > answer.txt; cat answer.txt' }),
        })
        const env = { ...params.env, HOME: folder(), TMPDIR: folder() }
        const context = pluginContext(cli, { ...params, env, run_on: 'host' })
        const { output } = await cli.run({
          ...context,
          task,
          policy,
          sampling: { maxTokens: 64, temperature: 1 },
          maxTurns: 5,
        })
        expect(output).toMatch(/File created successfully at: .*answer\.txt|\nhello\n/)
        expect(asked).toHaveLength(2)
        expect(asked[1]?.messages.slice(1).every(({ role }) => role !== 'system')).toBe(true)
        expect(asked[1]?.messages.slice(0, -2)).toEqual(asked[0]?.messages)
      },
    )
  }
})

const provider = 'model_providers.evsys'
const fewRetries = ['--config', `${provider}.request_max_retries=0`, '--config', `${provider}.stream_max_retries=0`]
