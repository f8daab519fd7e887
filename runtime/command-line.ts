import { parseHead } from '../lib/audit/verify.ts'
import type { AuditHead } from '../lib/store/audit.ts'
import type { Config } from './config.ts'

const EDITIONS: readonly Config['edition'][] = ['community', 'complete']

/** What the command line asks for. */
export type Command =
  | { kind: 'serve'; edition: Config['edition'] }
  | { kind: 'check-config'; edition: Config['edition'] }
  | { kind: 'version' | 'help' | 'migrate' }
  /** `head` is a head of the audit trail that was noted before and must still be part of it. */
  | { kind: 'verify-audit'; head: AuditHead | null }
  /** `keyFile` is a trusted public key (PEM) that must have signed the pack. */
  | { kind: 'verify-pack'; file: string; keyFile: string | null }
  | { kind: 'create-user'; email: string; groups: readonly string[] }
  /** Arguments that muster does not have; `message` says what was found and what was wanted. */
  | { kind: 'wrong'; message: string }

const wrong = (message: string): Command => ({ kind: 'wrong', message })

/** Read the arguments after the program's name. */
export function parseCommandLine(args: readonly string[]): Command {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' }
  if (args.includes('--version')) return { kind: 'version' }
  const [first, ...rest] = args
  if (first === undefined || first.startsWith('-')) return parseServe(args)
  if (first === 'create-user') return parseCreateUser(rest)
  if (first === 'verify-pack') return parseVerifyPack(rest)
  if (first === 'verify-audit') return parseVerifyAudit(rest)
  if (first !== 'migrate') return wrong(`Unknown command "${first}"`)
  return rest.length === 0 ? { kind: first } : wrong(`${first} takes no arguments, found "${rest[0]}"`)
}

/** Split `--name value` and `--name=value`; `unknown` is the first argument that is neither. */
function readOptions(args: readonly string[]): {
  options: [string, string | null][]
  unknown: string | null
} {
  const options: [string, string | null][] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (!arg.startsWith('--')) return { options, unknown: arg }
    const equals = arg.indexOf('=')
    if (equals !== -1) {
      options.push([arg.slice(0, equals), arg.slice(equals + 1)])
      continue
    }
    const next = args[index + 1]
    const hasValue = next !== undefined && !next.startsWith('--')
    options.push([arg, hasValue ? next : null])
    if (hasValue) index++
  }
  return { options, unknown: null }
}

function parseServe(args: readonly string[]): Command {
  const { options, unknown } = readOptions(args)
  if (unknown !== null) return wrong(`Unknown argument "${unknown}"`)
  let edition: Config['edition'] = 'community'
  let kind: 'serve' | 'check-config' = 'serve'
  for (const [name, value] of options) {
    if (name === '--check-config') {
      if (value !== null) return wrong(`--check-config takes no value, found "${value}"`)
      kind = 'check-config'
    } else if (name === '--edition') {
      const found = EDITIONS.find((one) => one === value)
      if (found === undefined)
        return wrong(`--edition must be ${EDITIONS.join(' or ')}, found "${value ?? ''}"`)
      edition = found
    } else return wrong(`Unknown option "${name}"`)
  }
  return { kind, edition }
}

function parseCreateUser(args: readonly string[]): Command {
  const { options, unknown } = readOptions(args)
  if (unknown !== null) return wrong(`Unknown argument "${unknown}"`)
  let email = ''
  const groups: string[] = []
  for (const [name, value] of options) {
    if (value === null || value === '') return wrong(`${name} needs a value`)
    if (name === '--email') email = value
    else if (name === '--group') groups.push(value)
    else return wrong(`Unknown option "${name}"`)
  }
  if (email === '') return wrong('create-user needs --email')
  if (groups.length === 0) return wrong('create-user needs --group')
  return { kind: 'create-user', email, groups }
}

function parseVerifyAudit(args: readonly string[]): Command {
  const { options, unknown } = readOptions(args)
  if (unknown !== null) return wrong(`Unknown argument "${unknown}"`)
  let head: AuditHead | null = null
  for (const [name, value] of options) {
    if (name !== '--head') return wrong(`Unknown option "${name}"`)
    head = parseHead(value ?? '')
    if (head === null) return wrong(`--head must be SEQ:HASH, found "${value ?? ''}"`)
  }
  return { kind: 'verify-audit', head }
}

function parseVerifyPack(args: readonly string[]): Command {
  const [file, ...rest] = args
  if (file === undefined || file.startsWith('-')) return wrong('verify-pack needs a file')
  const { options, unknown } = readOptions(rest)
  if (unknown !== null) return wrong(`Unknown argument "${unknown}"`)
  let keyFile: string | null = null
  for (const [name, value] of options) {
    if (name !== '--key') return wrong(`Unknown option "${name}"`)
    if (value === null || value === '') return wrong('--key needs a file')
    keyFile = value
  }
  return { kind: 'verify-pack', file, keyFile }
}
