# fish completion for focusctl: focusctl itself computes the candidates.
function __focusctl_complete
    set -l words (commandline -opc)
    # The command is given as it was typed.
    string match -q '~/*' -- $words[1]; and set words[1] $HOME(string sub -s 2 -- $words[1])
    set -l begun (commandline -ct)
    set -l plain (string unescape -- "$begun"); and set begun $plain
    command $words[1] __complete $words[2..] "$begun" 2>/dev/null
end
complete -c focusctl -f -a '(__focusctl_complete)'
