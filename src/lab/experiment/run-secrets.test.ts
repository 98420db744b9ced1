import { describe, expect, it } from 'vitest'
import { runAssignment } from '../../../tests/run-assignment.ts'
import type { PluginCard, PluginType } from '../../contracts/index.ts'
import { runSecrets } from './check-experiment.ts'

const card = (type: PluginType, kind: string, secrets: string[]): PluginCard => ({
  type,
  kind,
  summary: '',
  schema: {},
  needs: { secrets },
  origin: 'src/plugins/x.ts',
  hash: '',
  facts: {},
})
const cards = [
  card('backend', 'mock', ['A_KEY']),
  card('callback', 'pager', ['B_KEY']),
  card('callback', 'diary', ['C_KEY']),
  card('transform', 'sft', ['D_KEY']), // another type: the run names no such transform
]
const cardOf = (type: PluginType, kind: string) => cards.find((each) => each.type === type && each.kind === kind)
const source = (values: Record<string, string>) => ({ get: (name: string) => values[name], hint: 'in the environment' })
const { config } = runAssignment('/project')

describe('the secrets of a run', () => {
  it('are those that its plugins declare, also its callbacks, and no other (LAB-2)', () => {
    const values = { A_KEY: 'aaaa', B_KEY: 'bbbb', C_KEY: 'cccc', D_KEY: 'dddd' }
    const algorithm = { kind: 'sft', params: { callbacks: [{ kind: 'diary', params: {} }] } }
    const options = { callbacks: [{ kind: 'pager', params: {} }], cardOf, source: source(values) }
    expect(runSecrets({ ...config, algorithm }, options)).toEqual({ A_KEY: 'aaaa', B_KEY: 'bbbb', C_KEY: 'cccc' })
    expect(runSecrets(config, { ...options, callbacks: [] })).toEqual({ A_KEY: 'aaaa' })
  })

  it('are all named at once where they are not set (LAB-2)', () => {
    const missing = () =>
      runSecrets(config, { callbacks: [{ kind: 'pager', params: {} }], cardOf, source: source({ A_KEY: ' ' }) })
    expect(missing).toThrow(
      expect.objectContaining({ code: 'SECRET_MISSING', problems: [expect.anything(), expect.anything()] }),
    )
  })

  it('are also those that its agent and the agents of the benchmarks name in their params (AGT-19)', () => {
    const named = (name: string) => ({
      kind: 'tool_loop',
      params: { mcp_servers: [{ url: 'http://x/mcp', headers: { authorization: `Bearer \${secret:${name}}` } }] },
    })
    const values = { A_KEY: 'aaaa', MINE: 'mmmm', THEIRS: 'tttt' }
    const options = { callbacks: [], agents: [named('THEIRS')], cardOf, source: source(values) }
    expect(runSecrets({ ...config, agent: named('MINE') }, options)).toEqual(values)
    expect(() => runSecrets({ ...config, agent: named('NONE') }, options)).toThrow('needs the secret NONE')
  })

  it('are also those of a client that teaches, the ones it uses by default among them (RL-310)', () => {
    const client = card('inference_client', 'api', [])
    const schema = { properties: { api_key: { default: '${secret:API_KEY}' } } }
    const withClient = (type: PluginType, kind: string) =>
      type === 'inference_client' && kind === 'api' ? { ...client, schema } : cardOf(type, kind)
    const taught = (params: object) => ({ kind: 'distill', params: { teacher: { client: { kind: 'api', params } } } })
    const values = { A_KEY: 'aaaa', API_KEY: 'pppp', OWN: 'oooo' }
    const options = { callbacks: [], cardOf: withClient, source: source(values) }
    expect(runSecrets({ ...config, algorithm: taught({}) }, options)).toEqual({ A_KEY: 'aaaa', API_KEY: 'pppp' })
    const phases = { kind: 'combo', params: { phases: [taught({ api_key: '${secret:OWN}' })] } }
    expect(runSecrets({ ...config, algorithm: phases }, options)).toEqual({ A_KEY: 'aaaa', OWN: 'oooo' })
  })
})
