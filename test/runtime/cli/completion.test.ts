import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runClient } from '../../../runtime/cli/client.ts'

// Each shell itself completes, with the script that the client prints for it. A shell that is not installed is skipped,
// and the output of the tests says so; CI installs all three.

let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-completion-'))
  for (const shell of SHELLS) writeFileSync(join(folder, shell), await scriptFor(shell))
  writeFileSync(join(folder, 'gateway config.yaml'), '')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function scriptFor(shell: string): Promise<string> {
  let out = ''
  const io = { env: {}, isTerminal: false, error: () => {}, readInput: async () => Buffer.from('') }
  await runClient(['completion', shell], {
    ...io,
    out: (text) => {
      out += text
    },
  })
  return out
}

const run = (command: string, args: readonly string[]) =>
  execFileSync(command, args, {
    encoding: 'utf8',
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, XDG_CONFIG_HOME: folder, TERM: 'dumb' },
    timeout: 30_000,
  })

/** What a shell offers for the last of these words, which may be the beginning of one. */
const OFFERS = {
  bash(words) {
    const script = `source ./bash
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
[[ $(complete -p muster) == *'-F _muster muster' ]] && _muster muster; printf '%s\n' "\${COMPREPLY[@]}"`
    return lines(run('bash', ['--norc', '-c', script]))
  },
  zsh(words) {
    // The shell's own completion runs in a terminal of its own; a widget tells what it would add.
    const inner = [
      `PROMPT= RPROMPT=; autoload -Uz compinit; compinit -u -D; source ./zsh; setopt nobeep`,
      `compadd() { local -a hits; builtin compadd -O hits "$@"; print -rl -- $hits >> ./offered; builtin compadd "$@" }`,
      `tell() { zle list-choices; print done >> ./offered }; zle -N tell; bindkey '^T' tell`,
      `: > ./offered; print ready > ./ready`,
    ]
    writeFileSync(join(folder, 'inner'), inner.join('\n'))
    writeFileSync(join(folder, 'ready'), '')
    const script = `zmodload zsh/zpty; zpty shell zsh -f -i; zpty -w shell 'source ./inner'
until [[ -s ./ready ]]; do zpty -r -t shell line; sleep 0.02; done
zpty -w -n shell ${zshQuoted(`${words.join(' ')}\u0014`)}
until [[ $(tail -n 1 ./offered) == done ]]; do zpty -r -t shell line; sleep 0.02; done
zpty -d shell; cat ./offered`
    return lines(run('zsh', ['-f', '-c', script])).filter((line) => line !== 'done')
  },
  fish(words) {
    const line = words.join(' ').replaceAll("'", "\\'")
    return lines(run('fish', ['--no-config', '-c', `source ./fish; complete -C '${line}'`])).map(
      (offer) => offer.split('\t')[0]!,
    )
  },
} satisfies Record<string, (words: readonly string[]) => string[]>

const SHELLS = Object.keys(OFFERS) as (keyof typeof OFFERS)[]
const zshQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
const lines = (text: string) => [...new Set(text.split('\n').filter((line) => line !== ''))].sort()
const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0

describe.each(SHELLS)('%s', (shell) => {
  const installed = isInstalled(shell)
  if (!installed) console.warn(`${shell} is not installed: its completion is not tried`)
  const completes = (words: readonly string[]) => OFFERS[shell](words)

  it.skipIf(!installed)('completes commands, of the client and of the service', () => {
    expect(completes(['muster', 'val'])).toEqual(['validate'])
    expect(completes(['muster', 'verify-'])).toEqual(['verify-audit', 'verify-pack'])
    expect(completes(['muster', 'c'])).toEqual(['campaign', 'completion', 'create-user'])
  })

  it.skipIf(!installed)('completes what a command is about, and no other command', () => {
    expect(completes(['muster', 'get', 'work'])).toEqual(['workloads'])
    expect(completes(['muster', 'completion', 'f'])).toEqual(['fish'])
    expect(completes(['muster', 'campaign', 'r'])).toEqual(['reject', 'request', 'roll-back'])
    expect(completes(['muster', 'status', 'va'])).toEqual([])
  })

  it.skipIf(!installed)('completes options and their values', () => {
    expect(completes(['muster', 'validate', '--comp'])).toEqual(['--components'])
    expect(completes(['muster', 'validate', '-o', 'sa'])).toEqual(['sarif'])
    // `plan` is an action of campaigns here, and not the command of that name.
    expect(completes(['muster', 'campaign', 'plan', '--own'])).toEqual([])
    expect(completes(['muster', 'plan', '--own'])).toEqual(['--owner'])
  })

  it.skipIf(!installed)('completes files where a command takes some', () => {
    // Shells differ in where they write the backslash before a blank.
    const files = completes(['muster', 'validate', 'gate']).map((one) => one.replaceAll('\\', ''))
    expect(new Set(files)).toEqual(new Set(['gateway config.yaml']))
    expect(completes(['muster', 'status', 'gate'])).toEqual([])
  })
})
