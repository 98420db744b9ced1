// Trials run scripts as Harbor does: with bash.
import { execFileSync } from 'node:child_process'
import { needs } from '../needs.ts'

export const bash = needs('bash', () => {
  execFileSync('bash', ['-c', 'sleep 0 && ls / && touch --version'], { stdio: 'ignore' })
  return true
})
