// Weights that an arm takes from another one, as `arm:NAME`: that arm is there, is written before it, and has the same seeds.
import { armReference } from '../contracts/index.ts'
import { suggest } from '../kernel/index.ts'
import type { Arms } from './build-arms.ts'
import type { CheckedArm } from './expand-repeats.ts'
import { type LocatedMap, type LocatedNode, nodeAt, textOf } from './located.ts'
import { itemsOf } from './plugin-uses.ts'
import type { Report } from './report.ts'

export function checkArmReferences(root: LocatedMap, { planned, expanded }: Arms, report: Report): void {
  const names = expanded.map(({ name }) => name)
  const seeds = root.entries.has('base_seed') ? new Map<string, number>() : seedsOf(planned)
  for (const [at, { name, tree }] of expanded.entries()) {
    for (const node of checkpointsOf(tree)) {
      const wanted = armReference(textOf(node))
      if (wanted === undefined) continue
      const complain = (message: string, fix: string) =>
        report.problem(node.origin, { code: 'CONFIG_INVALID', message, fix })
      const place = names.indexOf(wanted)
      if (place === -1) complain(`no arm is called ${JSON.stringify(wanted)}`, suggest(wanted, names) ?? 'name an arm.')
      else if (place >= at) complain(`${wanted} comes after ${name}, which needs its weights`, 'write it before.')
      else if (seeds.get(wanted) !== seeds.get(name)) {
        complain(`${wanted} and ${name} have different seeds`, 'give both the same seed, or set base_seed.')
      }
    }
  }
}

function seedsOf(arms: readonly CheckedArm[]): Map<string, number> {
  return new Map(arms.map(({ name, config }) => [name, config.seed]))
}

function checkpointsOf(run: LocatedMap): LocatedNode[] {
  const recipe = nodeAt(run, ['algorithm', 'params'])
  const recipes = [recipe, ...itemsOf(nodeAt(recipe, ['phases'])).map((phase) => nodeAt(phase, ['params']))]
  const teachers = recipes.map((params) => nodeAt(params, ['teacher', 'checkpoint']))
  return [nodeAt(run, ['model', 'init_from_checkpoint']), ...teachers].flatMap((node) => node ?? [])
}
