# evsys completion for fish.  evsys completion fish > ~/.config/fish/completions/evsys.fish
function __evsys_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (evsys complete -- $words[2..-1] "$current" 2>/dev/null)
    test (count $lines) -gt 0; or return
    test (count $lines) -gt 1; and printf '%s\n' $lines[1..-2]
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
