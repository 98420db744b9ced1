import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
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
    const lines = new LineFiles()
    return {
      async onTrainData(scope, rows) {
        const file = fileOf(scope, 'data', 'training_data.jsonl')
        await mkdir(join(file, '..'), { recursive: true })
        await writeFileAtomic(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      },
      async onTrainStart(scope) {
        lines[Symbol.dispose]()
        for (const split of ['training', 'validation', 'test']) {
          await cutBack(fileOf(scope, split, 'metrics.jsonl'), scope.step)
          await cutBack(fileOf(scope, split, 'rollouts.jsonl'), scope.step)
        }
        await cutBack(manifestOf(scope), scope.step)
      },
      async onStepEnd(scope, metrics) {
        lines.append(fileOf(scope, 'training', 'metrics.jsonl'), { step: scope.step, split: 'train', metrics })
        if (params.print_every > 0 && (scope.step + 1) % params.print_every === 0) {
          log('info', metricsLine(scope, metrics, params.keys))
        }
      },
      async onRollout(scope, rollouts) {
        for (const rollout of rollouts)
          lines.append(fileOf(scope, 'training', 'rollouts.jsonl'), { step: scope.step, ...rollout })
      },
      async onCheckpoint(scope, { kind, uri }) {
        lines.append(manifestOf(scope), { step: scope.step, kind, ref: uri })
      },
      async onBenchmarkEval(scope, benchmark, split, metrics, predictions, step) {
        lines.append(fileOf(scope, folderOf(split), 'metrics.jsonl'), { step, split, benchmark, metrics })
        for (const prediction of predictions) {
          lines.append(fileOf(scope, folderOf(split), 'rollouts.jsonl'), { step, benchmark, ...prediction })
        }
      },
      async [Symbol.asyncDispose]() {
        lines[Symbol.dispose]()
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

/**
 * JSON Lines files that grow step by step, open as long as a run writes them: opening one for every line would cost more than a
 * step of a small model.
 */
export class LineFiles implements Disposable {
  readonly #open = new Map<string, number>()

  append(file: string, value: unknown): void {
    const line = Buffer.from(`${JSON.stringify(value)}\n`)
    const descriptor = this.#open.get(file) ?? this.#opened(file)
    for (let sent = 0; sent < line.length; ) sent += writeSync(descriptor, line, sent)
  }

  #opened(file: string): number {
    mkdirSync(dirname(file), { recursive: true })
    const descriptor = openSync(file, 'a')
    this.#open.set(file, descriptor)
    return descriptor
  }

  [Symbol.dispose]() {
    for (const descriptor of this.#open.values()) closeSync(descriptor)
    this.#open.clear()
  }
}

// What an interrupted attempt wrote beyond the checkpoint that a run resumes from is written again, so it is taken out first.
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
