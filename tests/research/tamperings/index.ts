// Attacks beside those that come with the package, by what they aim at.
import type { Attack } from '../../../src/research/bench/adversary/attack.ts'
import { answerTamperings } from './answers.ts'
import { linkTamperings } from './links.ts'
import { pythonTamperings, roadTamperings } from './roads.ts'
import { timeTamperings } from './times.ts'

export const moreTamperings: readonly Attack[] = [
  ...linkTamperings,
  ...answerTamperings,
  ...timeTamperings,
  ...roadTamperings,
  ...pythonTamperings,
]
