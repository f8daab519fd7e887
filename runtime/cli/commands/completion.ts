import type { ClientCommandSpec, Option } from '../command.ts'
import { WrongArguments } from '../exit-codes.ts'

type Listed = readonly (readonly [string, ClientCommandSpec])[]
const SHELLS = ['bash', 'zsh', 'fish'] as const
/** Commands of the service, which the client's list does not have. */
const OF_THE_SERVICE = ['migrate', 'create-user', 'verify-audit', 'verify-pack']

/** `muster completion SHELL`: a script that completes commands, options and their values; it calls no service. */
export function completion(list: () => Listed): ClientCommandSpec {
  return {
    usage: SHELLS.join('|'),
    summary: 'Print a script that completes the commands of muster in a shell.',
    details: `For bash: source <(muster completion bash)
For zsh, after compinit: source <(muster completion zsh); or keep it as _muster in a folder of $fpath
For fish: muster completion fish | source`,
    positionals: { min: 1, max: 1 },
    words: SHELLS,
    options: [],
    async run({ positionals: [shell] }, { out }) {
      if (shell === 'bash') out(forBash(list()))
      else if (shell === 'zsh') out(forZsh(list()))
      else if (shell === 'fish') out(forFish(list()))
      else throw new WrongArguments(`the shell must be ${SHELLS.join(', ')}, found "${shell}"`)
      return 0
    },
  }
}

const namesOf = ({ name, short }: Option) => (short === undefined ? [name] : [name, short])

const commandsOf = (list: Listed) => [...list.map(([name]) => name), ...OF_THE_SERVICE].join(' ')

/**
 * The branches of a `case` over the command, in which `words` becomes what may follow it and `files` is set where files
 * may; what is written the same way in bash and zsh.
 */
function branchesOf(list: Listed, words: string): string {
  const cases = list.map(([name, { options, usage, words: own = [] }]) => {
    const values = options
      .filter(({ choices }) => choices !== undefined)
      .map(
        (option) =>
          `      ${namesOf(option).join('|')}) ${words}='${option.choices!.join(' ')}' files='' ;;\n`,
      )
    const all = [...own, ...options.flatMap(namesOf), '--help'].join(' ')
    const files = /FILE|FOLDER/.test(usage) ? ' files=1' : ''
    return [
      `    ${name})\n      ${words}='${all}'${files}\n`,
      values.length === 0 ? '' : `      case $before in\n${values.join('')}      esac\n`,
      `      ;;\n`,
    ].join('')
  })
  return cases.join('')
}

const forBash = (list: Listed): string => `_muster() {
  local now=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words='' files=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commandsOf(list)} --help --version'
  else
    case \${COMP_WORDS[1]} in
${branchesOf(list, 'words')}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  if [ -n "$files" ]; then
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$now"))
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _muster muster
`

/** The last line lets it be sourced, after `compinit`, and be a file in a folder of `$fpath`. */
const forZsh = (list: Listed): string => `#compdef muster
_muster() {
  local before=\${words[CURRENT-1]} offered='' files=''
  if (( CURRENT == 2 )); then
    offered='${commandsOf(list)} --help --version'
  else
    case \${words[2]} in
${branchesOf(list, 'offered')}    esac
  fi
  compadd -- \${=offered}
  if [[ -n $files ]]; then _files; fi
}
if [[ \${funcstack[1]} == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
`

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** Two conditions: that no command was given yet, and which one was. */
const FISH_CONDITIONS = `function __muster_has_no_command
  test (count (commandline -opc)) -eq 1
end
function __muster_command
  set -l given (commandline -opc)
  test (count $given) -gt 1; and test $given[2] = $argv[1]
end
`

function forFish(list: Listed): string {
  const inside = (name: string) => `complete -c muster -n '__muster_command ${name}'`
  const lines = list.flatMap(([name, { summary, usage, options, words = [] }]) => [
    `complete -c muster -n __muster_has_no_command -f -a ${name} -d ${quoted(summary)}`,
    ...(/FILE|FOLDER/.test(usage) ? [] : [`${inside(name)} -f`]),
    ...(words.length === 0 ? [] : [`${inside(name)} -a ${quoted(words.join(' '))}`]),
    ...options.map(({ name: long, short, value, choices, says }) =>
      [
        `${inside(name)} -l ${long.slice(2)}`,
        short === undefined ? '' : ` -s ${short.slice(1)}`,
        value === undefined ? '' : ' -r',
        choices === undefined ? '' : ` -f -a ${quoted(choices.join(' '))}`,
        ` -d ${quoted(says)}`,
      ].join(''),
    ),
    `${inside(name)} -l help`,
  ])
  const own = OF_THE_SERVICE.map((name) => `complete -c muster -n __muster_has_no_command -f -a ${name}`)
  return `${FISH_CONDITIONS}${[...lines, ...own].join('\n')}\n`
}
