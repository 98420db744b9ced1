// A hundred candidates as honest researchers write them: optimizers, schedules, networks, helper files, habits.
import type { HonestCandidate } from './honest-candidate.ts'
import { honestHabits } from './honest-habits.ts'
import { honestNetworks } from './honest-networks.ts'
import { honestPython } from './honest-python.ts'

export const honestCandidates: readonly HonestCandidate[] = [...honestNetworks, ...honestHabits, ...honestPython]
