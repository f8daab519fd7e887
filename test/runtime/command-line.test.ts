import { describe, expect, test } from 'vitest'
import { parseCommandLine } from '../../runtime/command-line.ts'
import { HELP } from '../../runtime/help.ts'
import { settingNames } from '../support/settings.ts'

describe('the command line', () => {
  test('without arguments runs the community edition', () => {
    expect(parseCommandLine([])).toEqual({ kind: 'serve', edition: 'community' })
  })

  test('chooses the edition in both ways of writing an option', () => {
    expect(parseCommandLine(['--edition', 'complete'])).toEqual({ kind: 'serve', edition: 'complete' })
    expect(parseCommandLine(['--edition=complete', '--check-config'])).toEqual({
      kind: 'check-config',
      edition: 'complete',
    })
  })

  test('answers --help and --version wherever they stand', () => {
    expect(parseCommandLine(['migrate', '--help'])).toEqual({ kind: 'help' })
    expect(parseCommandLine(['--edition', 'x', '--version'])).toEqual({ kind: 'version' })
  })

  test('takes the subcommands with what they need', () => {
    expect(parseCommandLine(['migrate'])).toEqual({ kind: 'migrate' })
    expect(parseCommandLine(['verify-audit'])).toEqual({ kind: 'verify-audit', head: null })
    const hash = 'aB'.repeat(32)
    expect(parseCommandLine(['verify-audit', '--head', `12:${hash}`])).toEqual({
      kind: 'verify-audit',
      head: { seq: 12, hash: hash.toLowerCase() },
    })
    expect(
      parseCommandLine(['create-user', '--email', 'a@b.c', '--group=viewer', '--group', 'editor']),
    ).toEqual({
      kind: 'create-user',
      email: 'a@b.c',
      groups: ['viewer', 'editor'],
    })
  })

  test.each([
    [['--nonsense'], 'Unknown option "--nonsense"'],
    [['serve'], 'Unknown command "serve"'],
    [['--edition', 'gold'], '--edition must be community or complete, found "gold"'],
    [['--edition'], '--edition must be community or complete, found ""'],
    [['--check-config', 'now'], '--check-config takes no value, found "now"'],
    [['migrate', 'down'], 'migrate takes no arguments, found "down"'],
    [['verify-audit', '--head', '12'], '--head must be SEQ:HASH, found "12"'],
    [['verify-audit', '--head'], '--head must be SEQ:HASH, found ""'],
    [['verify-audit', 'now'], 'Unknown argument "now"'],
    [['verify-pack'], 'verify-pack needs a file'],
    [['verify-pack', 'p', '--key'], '--key needs a file'],
    [['create-user', '--group', 'viewer'], 'create-user needs --email'],
    [['create-user', '--email', 'a@b.c'], 'create-user needs --group'],
    [['create-user', '--email'], '--email needs a value'],
    [['create-user', 'a@b.c'], 'Unknown argument "a@b.c"'],
  ])('refuses %j and says why', (args, message) => {
    expect(parseCommandLine(args)).toEqual({ kind: 'wrong', message })
  })

  test('the help names every variable that the settings read, and no other', () => {
    const ofClient = ['MUSTER_URL', 'MUSTER_TOKEN', 'MUSTER_CA_FILE']
    const named = [...new Set(HELP.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g))].sort()
    expect(named).toEqual([...settingNames(), ...ofClient].sort())
  })
})
