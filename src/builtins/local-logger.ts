import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as z from 'zod'
import type { CallbackScope } from '../contracts/index.ts'
import { defineCallback, systemCode, writeFileAtomic } from '../kernel/index.ts'
import { metricsLine } from './step-callbacks.ts'

export const localLogger = defineCallback({
  kind: 'local_logger',
  summary:
    'Writes logs/ and checkpoints.jsonl in the folder of each run: data, metrics, answers and checkpoints as JSON Lines.',
  params: z.strictObject({
    print_every: z.int().min(0).default(0).describe('Logs a line every N steps; 0: none.'),
    keys: z.array(z.string().min(1)).optional().describe('Metrics in that line; absent: all.'),
  }),
  async open({ params, log }) {
    return {
      async onTrainData(scope, rows) {
        const file = fileOf(scope, 'data', 'training_data.jsonl')
        await mkdir(join(file, '..'), { recursive: true })
        await writeFileAtomic(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      },
      async onTrainStart(scope) {
        for (const split of ['training', 'validation', 'test']) {
          await cutBack(fileOf(scope, split, 'metrics.jsonl'), scope.step)
          await cutBack(fileOf(scope, split, 'rollouts.jsonl'), scope.step)
        }
        await cutBack(manifestOf(scope), scope.step)
      },
      async onStepEnd(scope, metrics) {
        await appendLine(fileOf(scope, 'training', 'metrics.jsonl'), { step: scope.step, split: 'train', metrics })
        if (params.print_every > 0 && (scope.step + 1) % params.print_every === 0) {
          log('info', metricsLine(scope, metrics, params.keys))
        }
      },
      async onRollout(scope, rollouts) {
        for (const rollout of rollouts)
          await appendLine(fileOf(scope, 'training', 'rollouts.jsonl'), { step: scope.step, ...rollout })
      },
      async onCheckpoint(scope, { kind, uri }) {
        await appendLine(manifestOf(scope), { step: scope.step, kind, ref: uri })
      },
      async onBenchmarkEval(scope, benchmark, split, metrics, predictions, step) {
        await appendLine(fileOf(scope, folderOf(split), 'metrics.jsonl'), { step, split, benchmark, metrics })
        for (const prediction of predictions) {
          await appendLine(fileOf(scope, folderOf(split), 'rollouts.jsonl'), { step, benchmark, ...prediction })
        }
      },
    }
  },
})

function folderOf(split: string): string {
  return split === 'test' ? 'test' : 'validation'
}

function manifestOf({ run, outputDir }: CallbackScope): string {
  return join(run?.dir ?? outputDir, 'checkpoints.jsonl')
}

function fileOf({ run, outputDir }: CallbackScope, ...parts: string[]): string {
  return join(run?.dir ?? outputDir, 'logs', ...parts)
}

// A JSON Lines file that grows step by step and can be cut back: what an interrupted attempt wrote beyond the checkpoint that a
// run resumes from is written again, so it is taken out first.
export async function appendLine(file: string, value: unknown): Promise<void> {
  const line = `${JSON.stringify(value)}\n`
  try {
    await appendFile(file, line)
  } catch (cause) {
    if (systemCode(cause) !== 'ENOENT') throw cause
    await mkdir(dirname(file), { recursive: true })
    await appendFile(file, line)
  }
}

/** Keeps the lines of steps before `step`. A torn last line goes. */
export async function cutBack(file: string, step: number): Promise<void> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    if (systemCode(cause) !== 'ENOENT') throw cause
  })
  if (text === undefined) return
  const kept = text.split('\n').filter((line) => isBefore(line, step))
  await writeFileAtomic(file, kept.map((line) => `${line}\n`).join(''))
}

function isBefore(line: string, step: number): boolean {
  try {
    const row: unknown = JSON.parse(line)
    return typeof row === 'object' && row !== null && 'step' in row && typeof row.step === 'number' && row.step < step
  } catch {
    return false
  }
}
