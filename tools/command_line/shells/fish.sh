# fish completion of meshwright.

function __meshwright_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l current $words[-1]
    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- $current)
            case :folders
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $current)
            case '*'
                echo $line
        end
    end
end

complete -c meshwright -f -a '(__meshwright_complete)'
