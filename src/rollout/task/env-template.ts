// Variables whose whole value is a template, `${VAR}` or `${VAR:-default}`, take it from the host. Anything else is literal.
import { EvsysError } from '../../kernel/index.ts'

export type HostEnv = Readonly<Record<string, string | undefined>>

const template = /^\$\{([^}:]+)(?::-([\s\S]*))?\}$/

/** The variables of `table` with templates resolved; a variable that the host lacks and that has no default is an error. */
export function resolveEnvTable(table: Readonly<Record<string, string>>, hostEnv: HostEnv): Record<string, string> {
  const missing = missingVariables(table, hostEnv)
  const [first] = missing
  if (first !== undefined) {
    const names = missing.map(({ variable }) => variable).join(', ')
    throw new EvsysError('SECRET_MISSING', `the task needs ${names} of this machine's environment, for ${first.key}`, {
      fix: `set ${first.variable}, or give it a default: \${${first.variable}:-value}.`,
    })
  }
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, resolved(value, hostEnv) ?? value]))
}

/** Variables of the host that templates of `table` need and that are not there. */
export function missingVariables(
  table: Readonly<Record<string, string>>,
  hostEnv: HostEnv,
): { key: string; variable: string }[] {
  return Object.entries(table).flatMap(([key, value]) => {
    const variable = template.exec(value)?.[1]
    return variable !== undefined && resolved(value, hostEnv) === undefined ? [{ key, variable }] : []
  })
}

function resolved(value: string, hostEnv: HostEnv): string | undefined {
  const match = template.exec(value)
  if (match === null) return value
  const [, variable = '', fallback] = match
  return (Object.hasOwn(hostEnv, variable) ? hostEnv[variable] : undefined) ?? fallback
}
