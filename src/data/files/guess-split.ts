// The split that a file belongs to where no card says so: the word in its path, as Hugging Face reads them.

const words: Readonly<Record<string, string>> = {
  train: 'train',
  training: 'train',
  validation: 'validation',
  valid: 'validation',
  val: 'validation',
  dev: 'validation',
  test: 'test',
  testing: 'test',
  eval: 'test',
  evaluation: 'test',
}

/** `data/train-00000-of-00003.parquet` is of train; a file that tells nothing is too. */
export function guessSplit(path: string): string {
  for (const step of path.split('/').toReversed()) {
    for (const word of step.toLowerCase().split(/[^a-z]+/)) {
      const split = Object.hasOwn(words, word) ? words[word] : undefined
      if (split !== undefined) return split
    }
  }
  return 'train'
}
