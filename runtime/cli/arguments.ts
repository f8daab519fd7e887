import type { Arguments, ClientCommandSpec, Option } from './command.ts'
import { WrongArguments } from './exit-codes.ts'

/**
 * Read the arguments behind a command's name: `--name value`, `--name=value`, `-n value`; `--` ends the options.
 * Throws WrongArguments.
 */
export function readArguments(args: readonly string[], spec: ClientCommandSpec): Arguments {
  const positionals: string[] = []
  const given = new Map<string, string[]>()
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    if (arg === '--') {
      positionals.push(...args.slice(index + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-') {
      positionals.push(arg)
      continue
    }
    const [written = '', ...rest] = arg.split('=')
    const option = spec.options.find(({ name, short }) => name === written || short === written)
    if (option === undefined) throw new WrongArguments(`Unknown option "${written}"`)
    let value = rest.length > 0 ? rest.join('=') : undefined
    if (option.value !== undefined && value === undefined) value = args[++index]
    keep(given, option, value)
  }
  const { min, max } = spec.positionals
  if (positionals.length < min) throw new WrongArguments(`An argument is missing: ${spec.usage}`)
  if (positionals.length > max) throw new WrongArguments(`Unknown argument "${positionals[max]}"`)
  const all = (name: string) => given.get(name) ?? []
  return { positionals, all, text: (name) => all(name).at(-1), isSet: (name) => given.has(name) }
}

function keep(given: Map<string, string[]>, option: Option, value: string | undefined): void {
  const { name, choices } = option
  if (option.value === undefined) {
    if (value !== undefined) throw new WrongArguments(`${name} takes no value, found "${value}"`)
  } else if (value === undefined || value === '') throw new WrongArguments(`${name} needs a value`)
  if (choices !== undefined && !choices.some((one) => one === value))
    throw new WrongArguments(`${name} must be ${choices.join(' or ')}, found "${value}"`)
  const key = name.slice(2)
  const before = given.get(key) ?? []
  if (before.length > 0 && !option.isRepeated) throw new WrongArguments(`${name} is given twice`)
  given.set(key, [...before, value ?? ''])
}

/**
 * The whole number of seconds that an option gives, `fallback` where it is absent. Throws WrongArguments outside 1 to
 * `max`.
 */
export function readSeconds(args: Arguments, name: string, fallback: number, max: number): number {
  const text = args.text(name) ?? String(fallback)
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > max) throw new WrongArguments(`--${name} must be 1 to ${max}, found "${text}"`)
  return seconds
}
