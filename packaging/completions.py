# SPDX-License-Identifier: Apache-2.0
"""completions.py VRAMCAST BASH ZSH FISH: completions for three shells from the command's own tables.

Commands, options and the words these take, keys of settings and their values, cards behind gpu=, tables.
"""
import sys

from tables import Command, choices

HEAD = "# made by packaging/completions.py from `vramcast list`\n"


def rows(c):
    """What all shells need: options of commands, keys with values, commands that take settings."""
    keys = [s for s in c.table("settings") if s["key"].islower()]  # not "dim.NAME"
    values = {s["key"]: choices(s) for s in keys if choices(s)}
    values["gpu"] = [g["name"] for g in c.table("gpus")]
    planned = [x["name"] for x in c.commands if "key=value" in x["words"]]
    return keys, values, planned


def cases(pairs, indent):
    return "".join("%s%s) echo '%s' ;;\n" % (" " * indent, pattern, " ".join(words)) for pattern, words in pairs)


def option_pattern(flag):
    names = ["--" + flag["option"]] + (["-" + flag["letter"]] if flag["letter"] else [])
    return "|".join("%s:%s" % (flag["command"], n) for n in names)


def kind(c, wanted):
    """Pattern of options whose value is of a kind and not a word of a list."""
    return "|".join(option_pattern(f) for x in c.commands for f in x["flags"]
                    if f["value"] and wanted(f["value"]) and not f["choices"])


def kinds(c):
    return {"files": kind(c, lambda v: v == "FILE"), "folders": kind(c, lambda v: v == "DIR"),
            "others": kind(c, lambda v: v not in ("FILE", "DIR"))}


# ---- bash ------------------------------------------------------------------------------------

BASH = r"""%(head)s
_vramcast_flags() {
    case $1 in
%(flags)s    esac
}
_vramcast_choices() { # COMMAND:OPTION
    case $1 in
%(choices)s    esac
}
_vramcast_values() { # KEY
    case $1 in
%(values)s    esac
}
_vramcast_files() { # DIRECTORIES-ONLY
    local -a found
    mapfile -t found < <(compgen "$1" -- "$cur")
    compopt -o filenames 2>/dev/null
    COMPREPLY+=("${found[@]}")
}
_vramcast() {
    local line=${COMP_LINE:0:COMP_POINT} cur last command given key
    local -a words
    COMPREPLY=()
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    (( ${#words[@]} > 1 )) || return
    cur=${words[-1]} last=${words[-2]} command=${words[1]}
    if (( ${#words[@]} == 2 )); then
        given="%(commands)s --help --version"
    elif [[ $command == help ]]; then
        given="%(commands)s"
    elif [[ -n $(_vramcast_choices "$command:$last") ]]; then
        given=$(_vramcast_choices "$command:$last")
    else
        case $command:$last in
        %(files)s) _vramcast_files -f; return ;;
        %(folders)s) _vramcast_files -d; return ;;
        %(others)s) return ;;
        esac
        if [[ $cur == -* ]]; then
            given=$(_vramcast_flags "$command")
        elif [[ " %(planned)s " == *" $command "* ]]; then
            if [[ $cur == *=* ]]; then
                key=${cur%%%%=*}
                given=$(_vramcast_values "$key")
                last=$key=
                [[ $cur == *,* ]] && last=${cur%%,*},
                # shellcheck disable=SC2086
                given=$(printf "$last%%s " $given)
            else
                _vramcast_files -f
                given="%(keys)s"
            fi
        elif [[ $command == list ]]; then
            given="%(tables)s"
        else
            _vramcast_files -f
        fi
    fi
    local -a found
    mapfile -t found < <(compgen -W "$given" -- "$cur")
    [[ ${found[0]} == *= && $cur != *=* ]] && compopt -o nospace 2>/dev/null
    # readline takes what stands behind the last = for the word
    [[ $COMP_WORDBREAKS == *=* && $cur == *=* ]] && found=("${found[@]#"${cur%%%%=*}="}")
    COMPREPLY+=("${found[@]}")
}
complete -F _vramcast vramcast
"""


def bash(c):
    keys, values, planned = rows(c)
    flags = [(x["name"], ["--" + f["option"] for f in x["flags"]]) for x in c.commands]
    words = [(option_pattern(f), f["choices"]) for x in c.commands for f in x["flags"] if f["choices"]]
    return BASH % {
        "head": HEAD, "flags": cases(flags, 8), "choices": cases(words, 8), "values": cases(values.items(), 8),
        "commands": " ".join(x["name"] for x in c.commands), "planned": " ".join(planned),
        **kinds(c),
        "keys": " ".join(s["key"] + "=" for s in keys), "tables": " ".join(c.tables())}


# ---- zsh -------------------------------------------------------------------------------------

ZSH = r"""#compdef vramcast
%(head)s
_vramcast_flags() {
    case $1 in
%(flags)s    esac
}
_vramcast_keys=(
%(keys)s)
_vramcast_commands=(
%(commands)s)
_vramcast() {
    local command=$words[2] last=$words[CURRENT-1]
    local -a given
    if (( CURRENT == 2 )); then
        _describe command _vramcast_commands
        return
    fi
    case $command:$last in
%(choices)s        %(files)s) _files; return ;;
        %(folders)s) _files -/; return ;;
        %(others)s) _message value; return ;;
    esac
    if [[ $PREFIX == -* ]]; then
        _vramcast_flags $command
        _describe -o option given
    elif [[ $command == (%(planned)s) ]]; then
        if [[ $PREFIX == *=* ]]; then
            local key=${PREFIX%%%%=*}
            compset -P 1 '*='
            compset -P '*,'
            case $key in
%(values)s            esac
        else
            _describe setting _vramcast_keys -S ''
            _files
        fi
    elif [[ $command == list ]]; then
        compadd -- %(tables)s
    else
        _files
    fi
}
if [[ $funcstack[1] == _vramcast ]]; then _vramcast "$@"; else compdef _vramcast vramcast; fi
"""


def zsh_row(word, help_text):
    text = "%s:%s" % (word.replace(":", "\\:"), help_text)
    return "'%s'" % text.replace("'", "'\\''")


def zsh(c):
    keys, values, planned = rows(c)
    flags = "".join("        %s) given=(%s) ;;\n" % (x["name"], " ".join(
        zsh_row("--" + f["option"], f["help"]) for f in x["flags"])) for x in c.commands)
    words = "".join("        %s) compadd -- %s; return ;;\n" % (option_pattern(f), " ".join(f["choices"]))
                    for x in c.commands for f in x["flags"] if f["choices"])
    return ZSH % {
        "head": HEAD, "flags": flags, "choices": words,
        "keys": "".join("    %s\n" % zsh_row(s["key"] + "=", s["help"]) for s in keys),
        "commands": "".join("    %s\n" % zsh_row(x["name"], x["help"]) for x in c.commands),
        **kinds(c), "planned": "|".join(planned),
        "values": "".join("            %s) compadd -- %s ;;\n" % (k, " ".join(v)) for k, v in values.items()),
        "tables": " ".join(c.tables())}


# ---- fish ------------------------------------------------------------------------------------

def quoted(text):
    return "'%s'" % text.replace("\\", "\\\\").replace("'", "\\'")


def fish(c):
    keys, values, planned = rows(c)
    out = [HEAD]

    def complete(condition, *words):
        out.append("complete -c vramcast -n %s %s\n" % (quoted(condition), " ".join(words)))

    for x in c.commands:
        complete("__fish_use_subcommand", "-f", "-a", x["name"], "-d", quoted(x["help"]))
        of = "__fish_seen_subcommand_from " + x["name"]
        for f in x["flags"]:
            letter = ["-s", f["letter"]] if f["letter"] else []
            value = ["-x", "-a", quoted(" ".join(f["choices"]))] if f["choices"] else \
                ["-r"] if f["value"] in ("FILE", "DIR") else ["-x"] if f["value"] else []
            complete(of, "-l", f["option"], *letter, *value, "-d", quoted(f["help"]))
    settings = "__fish_seen_subcommand_from " + " ".join(planned)
    for s in keys:
        complete("%s; and not string match -q '*=*' -- (commandline -ct)" % settings,
                 "-a", quoted(s["key"] + "="), "-d", quoted(s["help"]))
    for key, words in values.items():
        complete("%s; and string match -q '%s=*' -- (commandline -ct)" % (settings, key),
                 "-f", "-a", quoted(" ".join("%s=%s" % (key, w) for w in words)))
    complete("__fish_seen_subcommand_from list", "-f", "-a", quoted(" ".join(c.tables())))
    return "".join(out)


def main():
    c = Command(sys.argv[1])
    for path, make in zip(sys.argv[2:], (bash, zsh, fish)):
        with open(path, "w", encoding="utf-8") as f:
            f.write(make(c))


main()
