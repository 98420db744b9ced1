// Tests that need something a machine may lack (root, Docker, a GPU). Where it is missing they are skipped under a name that
// says why; in CI, where everything is installed, they fail instead, so that a lost component is noticed.
import { describe, it } from 'vitest'

/** A component that tests depend on. `it` and `describe` stand for vitest's. */
export type Component = {
  /** Why the component cannot be used here; undefined when it can. */
  missing: string | undefined
  it(name: string, test: () => void | Promise<void>, timeoutMs?: number): void
  describe(name: string, tests: () => void): void
}

/** Looks for a component: `probe` returns true, or the reason why it is not there. */
export function needs(component: string, probe: () => true | string, inCi = Boolean(process.env.CI)): Component {
  const missing = reasonOf(probe)
  const complaint = `needs ${component}: ${missing}`
  const fail = () => {
    throw new Error(`${complaint}. CI must have it.`)
  }
  if (missing === undefined) return { missing, it, describe }
  if (inCi)
    return { missing, it: (name) => it(name, fail), describe: (name) => describe(name, () => it(complaint, fail)) }
  return {
    missing,
    it: (name) => it.skip(`${name} [${complaint}]`, fail),
    describe: (name, tests) => describe.skip(`${name} [${complaint}]`, tests),
  }
}

function reasonOf(probe: () => true | string): string | undefined {
  try {
    const answer = probe()
    return answer === true ? undefined : answer
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
