// Rewrites one file again and again: `rewrite-file PATH LABEL TIMES SIZE`. Prints a line per version, the first when ready.
import { writeFileAtomic } from '../../src/kernel/atomic-file.ts'
import { sha256 } from '../../src/kernel/hash.ts'

const [path = '', label = '', times = '', size = ''] = process.argv.slice(2)
for (let version = 0; version < Number(times); version++) {
  const body = `${label} ${version} `.repeat(Math.ceil(Number(size) / 8))
  await writeFileAtomic(path, `${sha256(body)}\n${body}`)
  process.stdout.write(`${version}\n`)
}
