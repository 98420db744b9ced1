// Attacks beside those of ../tampering.ts, by what they aim at.
import type { Tampering } from '../tampering.ts'
import { answerTamperings } from './answers.ts'
import { linkTamperings } from './links.ts'
import { pythonTamperings, roadTamperings } from './roads.ts'
import { timeTamperings } from './times.ts'

export const moreTamperings: readonly Tampering[] = [
  ...linkTamperings,
  ...answerTamperings,
  ...timeTamperings,
  ...roadTamperings,
  ...pythonTamperings,
]
