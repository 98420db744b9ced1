import type { SharedParams } from '../../algorithms/index.ts'
import type { RunConfig } from '../../contracts/index.ts'
import { equip, type RunServices } from './run-context.ts'

type Renderers = ReturnType<typeof equip<'renderer'>>

/**
 * The renderer that a run names, or the two that its model decides between: without a chat template, with one. Both count as
 * code of the run, so that its hash can be told again without opening the model.
 */
export function equipRenderers(
  { model }: Pick<RunConfig, 'model'>,
  { renderer_name }: Pick<SharedParams, 'renderer_name'>,
  services: RunServices,
): [Renderers, Renderers?] {
  const of = (kind: string) => equip('renderer', { kind, params: {} }, services)
  const named = renderer_name ?? model.renderer_name
  return named === undefined ? [of('plain_chat'), of('chat_template')] : [of(named)]
}
