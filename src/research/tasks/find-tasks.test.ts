import { expect, it } from 'vitest'
import { isAskedFor } from './find-tasks.ts'

it('a session is found by the words its task was run by (RES-312)', () => {
  const curve = { task: 'curve', reference: 'curve/small' }
  for (const asked of ['curve', 'curve/small', './curve', '../x/curve', './curve/task.yaml', '/home/ada/curve'])
    expect(isAskedFor(curve, asked), asked).toBe(true)
  for (const asked of ['curves', 'curve/large', './other', 'small', ''])
    expect(isAskedFor(curve, asked), asked).toBe(false)
})
