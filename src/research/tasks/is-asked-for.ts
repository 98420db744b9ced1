import { basename } from 'node:path'

/** Whether `asked` means this task: its name, the name with a variant, or its folder or file. */
export function isAskedFor(
  { task, reference }: { readonly task: string; readonly reference?: string | undefined },
  asked: string,
): boolean {
  if (asked === task || asked === reference) return true
  return /^[./]|\\|\.ya?ml$/.test(asked) && basename(asked.replace(/[\\/]task\.ya?ml$/, '')) === task
}
