// Fails a test file that leaves its process changed for the files after it.
import { afterAll, beforeAll, expect } from 'vitest'

const look = () => ({ cwd: process.cwd(), env: { ...process.env } })
let found = look()

beforeAll(() => {
  found = look()
})

afterAll(() => {
  expect(look()).toEqual(found)
})
