// The answers that a worker left for scoring. The file is foreign: it must lie in the folder of its run, and every line of it
// must be an answer.
import { isAbsolute, relative, sep } from 'node:path'
import { Prediction } from '../../contracts/index.ts'
import { checkValue, EvsysError } from '../../kernel/index.ts'

export async function readPredictions(
  file: string,
  { runDir, signal }: { runDir: string; signal: AbortSignal },
): Promise<Prediction[]> {
  const within = relative(runDir, file)
  const isInside = isAbsolute(file) && within !== '' && within.split(sep)[0] !== '..' && !isAbsolute(within)
  if (!isInside) throw invalid(`a run asks for the score of a file outside its folder: ${file}`)
  const { readJsonl } = await import('../../data/index.ts') // not needed before the first answers
  const predictions: Prediction[] = []
  for await (const { row, line } of readJsonl(file, { signal })) {
    const checked = checkValue(Prediction, row)
    if (!checked.ok) {
      const [issue] = checked.issues
      throw invalid(`${file}:${line}: not an answer: ${[...(issue?.path ?? []), issue?.message ?? ''].join(': ')}`)
    }
    predictions.push(checked.value)
  }
  return predictions
}

function invalid(message: string): EvsysError {
  return new EvsysError('DATA_INVALID', message, {
    fix: 'look for a plugin that writes into the folder of its run, or to file descriptors that it did not open.',
  })
}
