/* cmd_completion.c -- completion: the script for a shell.  The scripts are short: they hand the
 * line to `credence complete`, which knows all the tables. */
#include "../cli.h"

#include <string.h>

/* COMP_WORDS are also cut at = and :, which credence does not; they are joined again, and of each
 * candidate only the part behind the last cut is given back. */
static const char bash_script[] =
    "# bash completion of credence, made by: credence completion bash\n"
    "_credence()\n"
    "{\n"
    "    local rest=$COMP_LINE words=() reply blank word before at=0 i\n"
    "    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do\n"
    "        word=${COMP_WORDS[i]} blank=${rest%%[![:blank:]]*}\n"
    "        rest=${rest#\"$blank\"}\n"
    "        [[ $i == 0 || $blank || ! $rest ]] && words+=('')\n"
    "        if ((i == COMP_CWORD)); then\n"
    "            ((at = ${#words[@]} - 2))\n"
    "            word=${word:0:COMP_POINT - ${#COMP_LINE} + ${#rest}}\n"
    "            before=${words[-1]}\n"
    "            [[ $word == [=:] ]] && before+=$word\n"
    "        fi\n"
    "        words[-1]+=$word rest=${rest#\"${COMP_WORDS[i]}\"}\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    reply=$(\"$1\" complete --shell bash --at \"$at\" -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    (($? == 1)) && compopt -o default 2>/dev/null\n"
    "    [[ $reply ]] && mapfile -t COMPREPLY <<<\"$reply\"\n"
    "    COMPREPLY=(\"${COMPREPLY[@]:+${COMPREPLY[@]#\"$before\"}}\")\n"
    "    [[ ${COMPREPLY[0]} == *[=:\\(] ]] && compopt -o nospace 2>/dev/null\n"
    "}\n"
    "complete -F _credence credence\n";

/* clang-format off */
static const char zsh_script[] =
    "#compdef credence\n"
    "# zsh completion of credence, made by: credence completion zsh\n"
    "_credence()\n"
    "{\n"
    "    local reply line files none=1\n"
    "    local -a values shown\n"
    "    reply=$($words[1] complete --shell zsh --at $((CURRENT - 2)) \\\n"
    "        -- \"${(@Q)words[2,-1]}\" 2>/dev/null)\n"
    "    files=$?\n"
    "    for line in \"${(@f)reply}\"; do\n"
    "        [[ -n $line ]] || continue\n"
    "        values+=(\"${line%%$'\\t'*}\")\n"
    "        shown+=(\"${line/$'\\t'/  -- }\")\n"
    "    done\n"
    "    (( $#values )) && compadd -l -d shown -a values && none=0\n"
    "    (( files == 1 )) && _files && none=0\n"
    "    return none\n"
    "}\n"
    "if [[ $funcstack[1] == _credence ]]; then\n"
    "    _credence \"$@\"\n"
    "else\n"
    "    compdef _credence credence\n"
    "fi\n";
/* clang-format on */

static const char fish_script[] =
    "# fish completion of credence, made by: credence completion fish\n"
    "function __credence_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    $words[1] complete --shell fish -- $words[2..-1] \"$word\" 2>/dev/null\n"
    "    test $status -eq 1; and __fish_complete_path \"$word\"\n"
    "end\n"
    "complete -c credence -f -a '(__credence_complete)'\n";

static cr_status run_completion(cli *c)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = { { "bash", bash_script }, { "zsh", zsh_script }, { "fish", fish_script } };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (strcmp(scripts[i].shell, c->args[0]) != 0) continue;
        cr_status st = out_open(c, c->global.output);
        out_bytes(c, scripts[i].script, strlen(scripts[i].script));
        return st;
    }
    cr_fail(c->cx, CR_EARG, "there is no completion for '%s', only for bash, zsh and fish",
            c->args[0]);
    return cr_fail_hint(c->cx, "for example: source <(credence completion bash)");
}

const cli_verb verb_completion = {
    .name = "completion",
    .usage = "completion bash|zsh|fish",
    .summary = "print a script that lets a shell complete verbs, models, options and columns",
    .example = "credence completion bash -o credence.bash",
    .least = 1,
    .most = 1,
    .run = run_completion,
};
