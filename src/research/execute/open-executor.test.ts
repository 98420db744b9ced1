import { expect, it } from 'vitest'
import { unheldBy } from './open-executor.ts'

const limits = { memory: 'cgroup v2', processes: 'cgroup v2', disk: 'rlimit and watch' } as const

it('says in sentences what a sandbox does not hold, and nothing of the strongest (RES-414)', () => {
  expect(unheldBy({ level: 'bubblewrap', limits })).toEqual([])
  expect(unheldBy({ level: 'chroot', limits })).toEqual([expect.stringMatching(/level chroot.*Install bubblewrap/)])
  expect(unheldBy({ level: 'process', limits })).toEqual([expect.stringMatching(/without a sandbox.*read the labels/)])
  const watched = { ...limits, memory: 'rlimit and watch', processes: 'rlimit' } as const
  expect(unheldBy({ level: 'bubblewrap', limits: watched })).toEqual([
    expect.stringContaining('memory is limited for each process'),
  ])
})
