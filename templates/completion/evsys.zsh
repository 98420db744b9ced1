#compdef evsys
# evsys completion for zsh. In ~/.zshrc, after compinit:  eval "$(evsys completion zsh)"
_evsys() {
  local -a lines described globs
  local line files
  lines=("${(@f)$(evsys complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  files=${lines[-1]#:}
  for line in "${(@)lines[1,-2]}"; do
    if [[ $line == *$'\t'* ]]; then
      described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    else
      described+=("${line//:/\\:}")
    fi
  done
  (( $#described )) && _describe -t evsys evsys described
  case $files in
    files*) globs=(${=files#files}); _files -g "*.(${(j:|:)globs})" ;;
    dirs) _files -/ ;;
  esac
}
if [[ ${funcstack[1]} == _evsys ]]; then
  _evsys "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _evsys evsys
fi
