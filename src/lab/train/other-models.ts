// Models beside the one in training, for recipes that learn from them. Answers of a model behind an API are kept in the folder of the
// run, so that a run that goes on asks for nothing twice.
import { join } from 'node:path'
import { armReference, type OpenInferenceClient, type OtherModels, type RunAssignment } from '../../contracts/index.ts'
import { canonicalJson, EvsysError } from '../../kernel/index.ts'
import type { OpenModel } from './open-model.ts'
import type { RunServices } from './run-context.ts'

export interface OtherModelsOptions {
  readonly assignment: Pick<RunAssignment, 'arm_weights' | 'run_dir'>
  readonly services: RunServices
  /** The model in training, as it is at the moment. */
  model(): OpenModel
}

/** Opens a client when it is first asked for; disposing of it closes them. */
export function createOtherModels({ assignment, services, model }: OtherModelsOptions): OtherModels & AsyncDisposable {
  const opened = new Map<string, Promise<OpenInferenceClient>>()
  return {
    weights(checkpoint) {
      const arm = armReference(checkpoint)
      const uri = arm === undefined ? checkpoint : assignment.arm_weights[arm]
      if (uri !== undefined) return { kind: 'sampler', uri }
      throw new EvsysError('BACKEND_FAILED', `the arm ${arm} has no weights to sample from`, {
        fix: 'let it save_sampler, and let it complete before this one.',
      })
    },
    async tokenizerOf(baseModel) {
      const { tokenizerOf } = model().backend
      if (tokenizerOf !== undefined) return await tokenizerOf(baseModel)
      throw new EvsysError('BACKEND_FAILED', `the backend does not tell how ${baseModel} writes`, {
        fix: 'use a backend that does, such as local or tinker.',
      })
    },
    async client(which) {
      const { modelClient, openInferenceClient } = await import('../../models/index.ts') // few runs have a teacher
      const spec = typeof which === 'string' ? modelClient(which) : which
      const key = canonicalJson(spec)
      const folder = join(assignment.run_dir, 'answers')
      const client = opened.get(key) ?? openInferenceClient(spec, services, { cassette: { folder, mode: 'auto' } })
      opened.set(key, client)
      return await client
    },
    async [Symbol.asyncDispose]() {
      for (const each of opened.values()) await (await each.catch(() => undefined))?.[Symbol.asyncDispose]?.()
    },
  }
}
