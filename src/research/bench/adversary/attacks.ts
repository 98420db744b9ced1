// All attacks that the bench and the tests try.
import { answerAttacks } from './answer-attacks.ts'
import type { Attack } from './attack.ts'
import { checkpointAttacks } from './checkpoint-attacks.ts'
import { limitAttacks } from './limit-attacks.ts'
import { scoreAttacks } from './score-attacks.ts'

export const attacks: readonly Attack[] = [...scoreAttacks, ...answerAttacks, ...checkpointAttacks, ...limitAttacks]
