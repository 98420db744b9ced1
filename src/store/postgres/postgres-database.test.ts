import { expect, it } from 'vitest'
import { withoutPassword } from './postgres-database.ts'

it.each([
  ['postgresql://mo:s3cret@db.example/evsys', 'postgresql://mo@db.example/evsys'],
  [
    'postgres://mo:s3%40cret@db.example:5433/evsys?sslmode=require',
    'postgres://mo@db.example:5433/evsys?sslmode=require',
  ],
  ['postgresql://mo:s3@cret@db.example/evsys', 'postgresql://mo@db.example/evsys'],
  ['postgresql://mo@db.example/evsys?password=s3cret&sslpassword=s3cret', 'postgresql://mo@db.example/evsys'],
  ['postgresql://mo@localhost/evsys?host=%2Ftmp', 'postgresql://mo@localhost/evsys?host=%2Ftmp'],
  ['postgresql://mo:s3cret@[', 'postgresql://(an address that cannot be read)'],
])('shows an address without its secrets: %s (STO-13)', (address, shown) => {
  expect(withoutPassword(address)).toBe(shown)
  expect(shown).not.toContain('cret')
})
