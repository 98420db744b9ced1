// What the contract suite needs of a database.
import { onTestFinished } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { type OpenStoreOptions, openStore } from '../../src/store/index.ts'

export interface StoreUnderTest {
  readonly kind: 'sqlite' | 'postgres'
  /** Address of a record that does not exist yet. */
  address(): string
  /** A new, empty folder. */
  folder(): string
}

/** Opens a record that is closed when the test is done. */
export async function openForTest(address: string, options?: OpenStoreOptions): Promise<Store> {
  const store = await openStore(address, options)
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}
