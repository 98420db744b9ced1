for round in 1 2 3 4 5; do
  found=
  for d in /proc/[0-9]*; do
    p=${d#/proc/}
    case " 1 $$ $* " in *" $p "*) continue ;; esac
    [ -r "$d/status" ] && ! grep -q '^State:[[:space:]]*Z' "$d/status" 2> /dev/null && found="$found $p"
  done
  [ -z "$found" ] && exit 0
  kill -9 $found 2> /dev/null
done
exit 0
