/** The shells that `evsys completion` writes scripts for. */
export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const
export type Shell = (typeof shells)[number]

// Works from bash 3.2 on and without the bash-completion package. Bash splits words at = : and @ too; they are joined again
// before evsys sees them, and the part that bash does not count as the current word is cut from every answer.
export const bashScript = `# evsys completion for bash. In ~/.bashrc:  eval "$(evsys completion bash)"
_evsys() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} words=() joined='' joins='' word i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case $word in
      [=:@] | [=:@][=:@]) joined+=$word joins=1; [ "$i" -lt "$COMP_CWORD" ] && continue ;;
      *) if [ -n "$joins" ] || [ "$i" -eq 1 ]; then joined+=$word; else words+=("$joined"); joined=$word; fi; joins='' ;;
    esac
  done
  words+=("$joined")
  local prefix=\${joined%"$current"} files='' line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) files=\${line#:} ;;
      *) line=\${line%%$'\\t'*}; COMPREPLY+=("\${line#"$prefix"}") ;;
    esac
  done < <(evsys complete -- "\${words[@]}" 2>/dev/null)
  case $files in
    files*)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do
        if [ -d "$line" ]; then COMPREPLY+=("$line"); continue; fi
        IFS=' '; for word in \${files#files}; do [[ $line == *."$word" ]] && COMPREPLY+=("$line"); done
      done < <(compgen -f -- "$current")
      ;;
    dirs)
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
      ;;
  esac
}
complete -F _evsys evsys
`

export const fishScript = `# evsys completion for fish.  evsys completion fish > ~/.config/fish/completions/evsys.fish
function __evsys_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (evsys complete -- $words[2..-1] "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    test (count $lines) -gt 1; and printf '%s\\n' $lines[1..-2]
    set -l files (string split ' ' -- $lines[-1])
    switch $files[1]
        case :files
            for extension in $files[2..-1]
                __fish_complete_suffix .$extension
            end
        case :dirs
            __fish_complete_directories "$current" ''
    end
end
complete -c evsys -e
complete -c evsys -f -a '(__evsys_complete)'
`

// An empty last word is sent as two quotes: PowerShell before 7.3 drops empty arguments of programs.
export const powershellScript = `# evsys completion for PowerShell. In $PROFILE:  evsys completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName evsys -ScriptBlock {
    param($word, $ast, $cursor)
    $words = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.StartOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    if ($word -eq '') { $words += '""' }
    $lines = @(& evsys complete '--' @words 2>$null)
    foreach ($line in $lines) {
        if ($line.StartsWith(':')) { continue }
        $value, $description = $line.Split([char]9, 2)
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
    }
}
`

// May be evaluated in ~/.zshrc or saved as `_evsys` in a folder of $fpath.
export const zshScript = `#compdef evsys
# evsys completion for zsh. In ~/.zshrc, after compinit:  eval "$(evsys completion zsh)"
_evsys() {
  local -a lines described globs
  local line files
  lines=("\${(@f)$(evsys complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  files=\${lines[-1]#:}
  for line in "\${(@)lines[1,-2]}"; do
    if [[ $line == *$'\\t'* ]]; then
      described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      described+=("\${line//:/\\\\:}")
    fi
  done
  (( $#described )) && _describe -t evsys evsys described
  case $files in
    files*) globs=(\${=files#files}); _files -g "*.(\${(j:|:)globs})" ;;
    dirs) _files -/ ;;
  esac
}
if [[ \${funcstack[1]} == _evsys ]]; then
  _evsys "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _evsys evsys
fi
`
