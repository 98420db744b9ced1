// Recipes that learn from a teacher.
export { distill } from './distill.ts'
export { opd } from './opd.ts'
export { sdft } from './sdft.ts'
