// Makes Node run the TypeScript of this repository: `node --import ./scripts/run-sources.mjs src/...ts`.

import { register } from 'node:module'

register('./run-sources-hooks.mjs', import.meta.url)
