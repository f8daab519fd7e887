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
    details: 'For bash: source <(muster completion bash)',
    positionals: { min: 1, max: 1 },
    words: SHELLS,
    options: [],
    async run({ positionals: [shell] }, { out }) {
      if (shell === 'bash') out(forBash(list()))
      else if (shell === 'zsh')
        out(`#compdef muster\nautoload -U +X bashcompinit && bashcompinit\n${forBash(list())}`)
      else if (shell === 'fish') out(forFish(list()))
      else throw new WrongArguments(`the shell must be ${SHELLS.join(', ')}, found "${shell}"`)
      return 0
    },
  }
}

const namesOf = ({ name, short }: Option) => (short === undefined ? [name] : [name, short])

function forBash(list: Listed): string {
  const commands = [...list.map(([name]) => name), ...OF_THE_SERVICE].join(' ')
  const cases = list.map(([name, { options, usage, words: own = [] }]) => {
    const values = options
      .filter(({ choices }) => choices !== undefined)
      .map((option) => `      ${namesOf(option).join('|')}) words='${option.choices!.join(' ')}' ;;\n`)
    const words = options.flatMap(namesOf).join(' ')
    const files = /FILE|FOLDER/.test(usage) ? ' files=1' : ''
    return [
      `    ${name})\n      words='${[...own, words, '--help'].filter((one) => one !== '').join(' ')}'${files}\n`,
      values.length === 0 ? '' : `      case $before in\n${values.join('')}      esac\n`,
      `      ;;\n`,
    ].join('')
  })
  return `_muster() {
  local now=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words='' files=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands} --help --version'
  else
    case \${COMP_WORDS[1]} in
${cases.join('')}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  if [ -n "$files" ]; then COMPREPLY+=($(compgen -f -- "$now")); fi
}
complete -F _muster muster
`
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function forFish(list: Listed): string {
  const lines = list.flatMap(([name, { summary, options }]) => [
    `complete -c muster -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
    ...options.map(({ name: long, short, value, choices, says }) =>
      [
        `complete -c muster -n '__fish_seen_subcommand_from ${name}' -l ${long.slice(2)}`,
        short === undefined ? '' : ` -s ${short.slice(1)}`,
        value === undefined ? '' : ' -r',
        choices === undefined ? '' : ` -f -a ${quoted(choices.join(' '))}`,
        ` -d ${quoted(says)}`,
      ].join(''),
    ),
  ])
  const words = list.flatMap(([name, { words: own }]) =>
    own === undefined
      ? []
      : [`complete -c muster -n '__fish_seen_subcommand_from ${name}' -f -a ${quoted(own.join(' '))}`],
  )
  return `${[...lines, ...words].join('\n')}\n`
}
