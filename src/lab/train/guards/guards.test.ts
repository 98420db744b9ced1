import { describe, expect, it } from 'vitest'
import { honestRun } from '../../../../tests/honest-runs.ts'
import { Guards } from '../../../algorithms/index.ts'
import { entropyCollapse } from './entropy-collapse.ts'
import { klBlowup } from './kl-blowup.ts'
import { lengthExplosion } from './length-explosion.ts'
import { rewardHacking } from './reward-hacking.ts'

it('cal', () => {
  const g = Guards.parse({})
  const n = 2000
  const count: Record<string, number> = {}
  let any = 0
  for (let seed = 0; seed < n; seed++) {
    const rows = honestRun(seed)
    const hit = new Set<string>()
    for (let i = 1; i <= rows.length; i++) {
      const part = rows.slice(0, i)
      if (entropyCollapse(part, g.entropy_collapse)) hit.add('e')
      if (klBlowup(part, g.kl_blowup)) hit.add('k')
      if (lengthExplosion(part, g.length_explosion)) hit.add('l')
      if (rewardHacking(part, g.reward_hacking)) hit.add('r')
    }
    for (const h of hit) count[h] = (count[h] ?? 0) + 1
    if (hit.size) any++
  }
  console.log(count, any / n)
  expect(1).toBe(1)
}, 300000)
