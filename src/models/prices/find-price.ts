import type { TokenPrice } from '../../contracts/index.ts'
import { type ListPrice, priceTable } from './price-table.ts'

// What providers put behind a name without changing the price: a date, `latest`, a number of a revision.
const revision = /[-@](latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3})$/

/**
 * The price of a model of a provider for a prompt of this length; of several names of one model, the first that is known.
 * undefined: unknown, which is not free.
 */
export function findPrice(
  provider: string | undefined,
  promptTokens: number,
  ...names: readonly (string | undefined)[]
): TokenPrice | undefined {
  const table: Readonly<Record<string, ListPrice>> | undefined =
    provider !== undefined && isProvider(provider) ? priceTable[provider] : undefined
  if (table === undefined) return undefined
  const known = names
    .filter((name) => name !== undefined)
    .flatMap((name) => [name, name.replace(revision, '')])
    .find((name) => Object.hasOwn(table, name))
  if (known === undefined) return undefined
  const { long, ...price } = table[known] ?? { input: 0, output: 0 } // it has one
  if (long === undefined || promptTokens <= long.above) return price
  const { above: _above, ...longPrice } = long
  return longPrice
}

function isProvider(name: string): name is keyof typeof priceTable {
  return Object.hasOwn(priceTable, name)
}
