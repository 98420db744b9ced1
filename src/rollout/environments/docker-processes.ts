// Scripts that end processes inside a container, where alone they can be seen. A command and what it starts carry a mark in their
// variables; the end of the agent's phase ends everything that the image did not start itself.

const variable = 'EVSYS_COMMAND'

/** The variable that marks a command and its children. */
export function marked(mark: string): string {
  return `${variable}=${mark}`
}

/** Prints the numbers of the processes that run now, except those that look. */
export const keptProcesses = 'for p in /proc/[0-9]*; do p=${p#/proc/}; [ "$p" = "$$" ] || echo "$p"; done'

/**
 * Ends the command with the mark `$1`: everything that has the mark, and all descendants of it, again until none is found. Twice
 * around is enough for processes that do not fork on; more, for those that do.
 */
export const killCommand = `
for round in 1 2 3 4 5; do
  found=
  for d in /proc/[0-9]*; do
    p=\${d#/proc/}
    [ "$p" = "$$" ] && continue
    if tr '\\0' '\\n' < "$d/environ" 2> /dev/null | grep -qx "${variable}=$1"; then found="$found $p"; fi
  done
  [ -z "$found" ] && exit 0
  all=$found
  for p in $found; do
    for d in /proc/[0-9]*; do
      q=\${d#/proc/}
      [ "$q" = "$$" ] && continue
      grep -q "^PPid:[[:space:]]*$p$" "$d/status" 2> /dev/null && all="$all $q"
    done
  done
  kill -9 $all 2> /dev/null
done
exit 0`

/** Ends all processes but the first, this one, and those whose numbers are its arguments. */
export const killOthers = `
for round in 1 2 3 4 5; do
  found=
  for d in /proc/[0-9]*; do
    p=\${d#/proc/}
    case " 1 $$ $* " in *" $p "*) continue ;; esac
    [ -r "$d/status" ] && ! grep -q '^State:[[:space:]]*Z' "$d/status" 2> /dev/null && found="$found $p"
  done
  [ -z "$found" ] && exit 0
  kill -9 $found 2> /dev/null
done
exit 0`
