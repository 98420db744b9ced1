import { kinds } from '../malformed/kinds.ts'
for (const { name, bombs } of kinds) for (const bomb of Object.keys(bombs)) process.stdout.write(`${name}\t${bomb}\n`)
