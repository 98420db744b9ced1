import { join } from 'node:path'
import { describe } from 'vitest'
import { temporaryFolders } from '../temporary-folder.ts'
import { describeStore } from './describe-store.ts'

const folder = temporaryFolders()

describe('a record in a file (STO-1)', () => {
  describeStore({ kind: 'sqlite', address: () => join(folder(), 'evsys.db'), folder })
})
