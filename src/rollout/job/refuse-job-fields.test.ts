import { describe, expect, it } from 'vitest'
import { EvsysError } from '../../kernel/index.ts'
import { refuseJobFields } from './refuse-job-fields.ts'

describe('a job file', () => {
  it('is refused for what nothing here does, all at once and by name (HAR-82)', () => {
    const job = {
      user_agent: { name: 'x' },
      source_jobs: ['old'],
      agents: [{ name: 'oracle' }, { name: 'chat', skills: ['s'], load_trajectory: 'x.json' }],
      environment: { mounts: [{}], import_path: 'a:B' },
      verifier: { import_path: 'a:B' },
    }
    const problems = (() => {
      try {
        refuseJobFields(job)
        return []
      } catch (error) {
        return EvsysError.is(error) ? error.problems.map(({ code, message }) => [code, message.split(':')[0]]) : []
      }
    })()
    expect(problems).toEqual(
      [
        ...['user_agent', 'source_jobs', 'agents.1.skills', 'agents.1.load_trajectory'],
        ...['environment.import_path', 'environment.mounts', 'verifier.import_path'],
      ].map((field) => ['CONFIG_INVALID', field]),
    )
  })

  it('may name such fields without setting them (HAR-82)', () => {
    refuseJobFields({ user_agent: null, source_jobs: [], install_only: false, agents: [{ name: 'nop', skills: [] }] })
    refuseJobFields({})
  })
})
