// Whose weights are whose. A run names weights to be evaluated and reports those that it saved; both must be its own, or what it scores,
// and what is evaluated, served or started from later, would be the work of another.
import { realpath } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Weights } from '../../contracts/index.ts'
import { runFolder } from '../../record/index.ts'
import type { OpenStore, RunRow, TrainingRunRow } from '../../store/index.ts'
import { type EvalLedger, refused } from './eval-ledger.ts'

interface Place {
  readonly store: Pick<OpenStore, 'runsWithWeights' | 'checkpoints'>
  readonly outputDir: string
}

/** Weights of the run itself: saved by it, or the base model that it trains. After training, those that its scores select. */
export async function requireOwnWeights(
  run: TrainingRunRow,
  { weights, step }: { readonly weights: Weights; readonly step?: number | undefined },
  ledger: EvalLedger,
  { store, outputDir }: Place,
): Promise<void> {
  if ('baseModel' in weights) {
    if (weights.baseModel === run.config.model.name) return
    throw refused(`it names the base model ${weights.baseModel}, and trains ${run.config.model.name}`)
  }
  const { uri } = weights
  await requireUnclaimed(run, uri, store)
  if (isMock(uri) && !(await isFileIn(uri, checkpointsOf(run, outputDir)))) {
    throw refused(`the weights ${uri} do not lie in its folder`)
  }
  if (step !== undefined || ledger.bestStep === undefined) return
  const saved = await store.checkpoints(run.id)
  const best = saved.find((each) => each.kind === 'sampler' && each.step === ledger.bestStep)
  if (best !== undefined && best.ref !== uri) {
    throw refused(`the weights ${uri} are not those of step ${best.step}, which scored best on validation`)
  }
}

/** The store as the segment of a run is ingested into it: checkpoints of others are refused, and what stands before them is kept. */
export function guardCheckpoints(
  row: RunRow,
  { store, outputDir }: Place & { readonly store: Pick<OpenStore, 'push'> },
): Pick<OpenStore, 'push'> {
  return {
    async push(batch, lease) {
      for (const [i, item] of batch.items.entries()) {
        if (item.type !== 'checkpoint.saved') continue
        try {
          await requireUnclaimed(row, item.ref, store)
          if (isMock(item.ref) && !isPathIn(item.ref, checkpointsOf(row, outputDir)))
            throw refused(`the checkpoint ${item.ref} does not lie in its folder`)
        } catch (error) {
          if (i > 0) await store.push({ ...batch, items: batch.items.slice(0, i) }, lease)
          throw error
        }
      }
      return await store.push(batch, lease)
    },
  }
}

async function requireUnclaimed(run: RunRow, uri: string, store: Pick<OpenStore, 'runsWithWeights'>): Promise<void> {
  const owned = /^tinker:\/\/[^/]+\//.exec(uri)?.[0] ?? uri
  if ((await store.runsWithWeights(owned)).some((id) => id !== run.id)) {
    throw refused(`the weights ${uri} are those of another run`)
  }
}

function isMock(uri: string): boolean {
  return uri.startsWith('mock:')
}

function checkpointsOf(run: RunRow, outputDir: string): string {
  return join(runFolder(outputDir, run.name), 'checkpoints')
}

/** Whether a file is there, by whatever way. */
async function isFileIn(uri: string, folder: string): Promise<boolean> {
  try {
    return isWithin(await realpath(folder), await realpath(pathOf(uri)))
  } catch {
    return false // there is no such file, or it is no path
  }
}

/** The same by the words of the path: the file may be gone by now. */
function isPathIn(uri: string, folder: string): boolean {
  try {
    return isWithin(resolve(folder), resolve(pathOf(uri)))
  } catch {
    return false
  }
}

function pathOf(uri: string): string {
  return fileURLToPath(`file:${uri.slice('mock:'.length)}`)
}

function isWithin(folder: string, file: string): boolean {
  const way = relative(folder, file)
  return way !== '' && way.split(sep)[0] !== '..' && !way.startsWith(sep)
}
