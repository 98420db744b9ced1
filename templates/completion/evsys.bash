# evsys completion for bash. In ~/.bashrc:  eval "$(evsys completion bash)"
_evsys() {
  local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} words=() joined='' joins='' word i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case $word in
      [=:@] | [=:@][=:@]) joined+=$word joins=1; [ "$i" -lt "$COMP_CWORD" ] && continue ;;
      *) if [ -n "$joins" ] || [ "$i" -eq 1 ]; then joined+=$word; else words+=("$joined"); joined=$word; fi; joins='' ;;
    esac
  done
  words+=("$joined")
  local prefix=${joined%"$current"} files='' line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) files=${line#:} ;;
      *) line=${line%%$'\t'*}; COMPREPLY+=("${line#"$prefix"}") ;;
    esac
  done < <(evsys complete -- "${words[@]}" 2>/dev/null)
  case $files in
    files*)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do
        if [ -d "$line" ]; then COMPREPLY+=("$line"); continue; fi
        IFS=' '; for word in ${files#files}; do [[ $line == *."$word" ]] && COMPREPLY+=("$line"); done
      done < <(compgen -f -- "$current")
      ;;
    dirs)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
      ;;
  esac
}
complete -F _evsys evsys
