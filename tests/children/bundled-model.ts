// Says that it is there, makes a bundled model in a cache and prints where it is.
import { resolveModelFolder } from '../../src/models/index.ts'

const [, , name = '', cache = ''] = process.argv
console.log('ready')
const { folder } = await resolveModelFolder(name, { env: { EVSYS_CACHE: cache } })
console.log(folder)
