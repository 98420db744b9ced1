// Everything that an async iterable yields, as a list; and a list as an async iterable.

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function* streamOf<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}
