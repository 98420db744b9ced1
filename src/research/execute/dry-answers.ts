// The second half of a dry run: the candidate that trained for a step or two is started again and asked the first questions of the
// scorer, so that one that cannot answer is found before it is trained. Nothing of it is a score, and none is kept.
import { join } from 'node:path'
import { type AnswerPhase, openAnswerPhase } from './answer-phase.ts'
import type { PhaseOptions } from './candidate-sandbox.ts'
import { settleOutFolder } from './out-folder.ts'
import type { Opened } from './run-candidate.ts'
import { RunFailure } from './run-failure.ts'
import { scoreRun } from './score-run.ts'

/** Questions that are answered before it is enough. */
const mostQuestions = 2

/** A model that is hardly trained may diverge or be slow to say something: the run itself tells. */
const tellsNothing = new Set(['divergence', 'timeout', 'infra'])

class Enough extends Error {}

/** Most memory that answering took, where it is known. Rejects with a RunFailure where the candidate cannot answer. */
export async function dryAnswers(
  { task, program, limits, scorerHash }: Opened,
  options: Omit<PhaseOptions, 'phase'>,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { folder, seed } = options
  settleOutFolder(folder.out, limits.diskBytes)
  const answers = openAnswerPhase(options, signal)
  try {
    await scoreRun(
      {
        scorer: program.scorer,
        hash: scorerHash,
        metric: task.metric,
        split: 'val',
        data_dir: join(program.sealedData, 'val'),
        out_dir: folder.out,
        checkpoint_bytes: limits.diskBytes,
        seed,
        ...(program.engine === undefined ? {} : { engine: program.engine }),
      },
      firstOf(answers),
      { answer: limits.dryRunSeconds, scorer: limits.dryRunSeconds },
      signal,
    )
  } catch (cause) {
    signal.throwIfAborted()
    const isFault = cause instanceof RunFailure && !tellsNothing.has(cause.failure.class)
    if (isFault) throw cause
  } finally {
    await answers[Symbol.asyncDispose]()
  }
  return answers.peakMemoryBytes
}

function firstOf(answers: AnswerPhase): AnswerPhase {
  let asked = 0
  return {
    get isAsked() {
      return answers.isAsked
    },
    get peakMemoryBytes() {
      return answers.peakMemoryBytes
    },
    async ask(question) {
      asked += 1
      if (asked > mostQuestions) throw new Enough('the first questions were answered')
      return await answers.ask(question)
    },
    [Symbol.asyncDispose]: () => answers[Symbol.asyncDispose](),
  }
}
