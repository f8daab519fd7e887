import { type Fault, type FaultCode, faultOf } from '../../model/faults.ts'
import { readPattern } from '../../model/patterns.ts'
import type { VARIABLE_KINDS } from '../../wire/values.ts'
import { isSecretName, redactSecrets } from '../redact/redact.ts'
import { isVariableName } from './placeholders.ts'

/** What the values of a variable are. */
export type VariableType = (typeof VARIABLE_KINDS)[number]

/** A variable as a version declares it. All values are texts, whatever the type. */
export interface DeclaredVariable {
  name: string
  type: VariableType
  /** Its value must be given: no default counts. */
  isRequired: boolean
  /** A pattern that each value must match as a whole; null when there is none. */
  pattern: string | null
  /** The default, for a workload that gives no value; null when there is none. */
  fallback: string | null
  description: string
}

/** Longest value, in UTF-16 units. */
export const VALUE_LENGTH_MAX = 1_024
/** Most steps of a pattern: each character of each value may cost as many. */
const PATTERN_STEPS_MAX = 300
/** Most variables of a version. */
export const VARIABLES_MAX = 100
const DESCRIPTION_LENGTH_MAX = 1_024

/** What cannot stand on one line of YAML as it is. */
const UNPRINTABLE = /[\0-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u

const FORMS: Readonly<Record<VariableType, { form: RegExp; otherwise: FaultCode } | null>> = {
  string: null,
  integer: { form: /^-?(?:0|[1-9]\d{0,14})$/, otherwise: 'variable_not_integer' },
  number: {
    form: /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?$/,
    otherwise: 'variable_not_number',
  },
  boolean: { form: /^(?:true|false)$/, otherwise: 'variable_not_boolean' },
  duration: {
    form: /^-?(?:0|(?:\d{1,15}(?:\.\d{1,15})?(?:ns|us|µs|ms|s|m|h)){1,8})$/,
    otherwise: 'variable_not_duration',
  },
}

/** How to give a secret to a collector without muster ever holding it. */
const BY_REFERENCE = (name: string) =>
  `keep it on the host and refer to it: \${env:NAME} in the text, or \${env:\${muster:${name}}} where the variable holds the name`

/** Says why a value cannot be given to a variable, which never quotes the value; null when it can. */
export type ValueCheck = (value: string) => Fault | null

/** Read a variable: make a function that checks its values. It reads the pattern once, and looks once at each value. */
export function openVariable({ name, type, pattern }: DeclaredVariable): ValueCheck {
  const form = FORMS[type]
  const read = pattern === null ? null : readPattern(pattern)
  const check: ValueCheck = (value) => {
    const generally = findTextFault(name, value)
    if (generally !== null) return generally
    if (form !== null && !form.form.test(value)) return faultOf(form.otherwise, { name })
    if (pattern === null || (read?.ok && read.pattern.matches(value))) return null
    return faultOf('variable_unmatched', { name, pattern })
  }
  const known = new Map<string, Fault | null>()
  return (value) => {
    if (!known.has(value)) known.set(value, check(value))
    return known.get(value)!
  }
}

/** Why no variable of this name can be given a value, however it is declared; null when some variable can. */
export function findTextFault(name: string, value: string): Fault | null {
  if (!isVariableName(name)) return faultOf('variable_name_invalid')
  if (value.length > VALUE_LENGTH_MAX) return faultOf('variable_too_long', { name, max: VALUE_LENGTH_MAX })
  if (UNPRINTABLE.test(value)) return faultOf('variable_unprintable', { name })
  if (redactSecrets(value) !== value) return faultOf('variable_secret', { name, advice: BY_REFERENCE(name) })
  return null
}

/** Why variables cannot be declared like this, whatever their defaults are; null when they can. */
export function findDeclarationFault(variables: readonly DeclaredVariable[]): Fault | null {
  if (variables.length > VARIABLES_MAX) return faultOf('variables_too_many', { max: VARIABLES_MAX })
  const names = new Set<string>()
  for (const variable of variables) {
    const { name, pattern, fallback, isRequired, description } = variable
    if (!isVariableName(name)) return faultOf('variable_name_unfit')
    if (names.has(name)) return faultOf('variable_declared_twice', { name })
    names.add(name)
    if (description.length > DESCRIPTION_LENGTH_MAX || UNPRINTABLE.test(description))
      return faultOf('variable_description_invalid', { name, max: DESCRIPTION_LENGTH_MAX })
    const message = pattern === null ? null : findPatternFault(pattern)
    if (message !== null) return faultOf('variable_pattern_invalid', { name, message })
    if (isRequired && fallback !== null) return faultOf('variable_default_idle', { name })
  }
  return null
}

function findPatternFault(pattern: string): string | null {
  const read = readPattern(pattern)
  if (!read.ok) return read.error
  return read.pattern.steps > PATTERN_STEPS_MAX
    ? `pattern takes more than ${PATTERN_STEPS_MAX} steps once its counts are written out`
    : null
}

/** Ends of names that say where a secret is, or how it is used, and not what it is. */
const ABOUT_SECRETS =
  /(?:^|[_.-])(?:endpoint|expiry|file|id|interval|lifetime|name|path|timeout|ttl|type|uri|url)s?$/i

const isSecretPlaceName = (name: string) => isSecretName(name) && !ABOUT_SECRETS.test(name)

/** Whether the value below these keys of a config is a secret, so that none of it may come from a variable. */
export function isSecretPlace(keys: readonly string[]): boolean {
  // The ids of components, which stand further up, say nothing of a single setting.
  const [key = '', parent = ''] = [keys.at(-1), keys.at(-2)]
  return isSecretPlaceName(key) || (/^keys?$/i.test(key) && isSecretName(`${parent}_${key}`))
}

/** Why a variable cannot stand where a secret does. */
export const secretPlaceFault = (name: string, path: string): Fault =>
  faultOf('variable_in_secret', { name, path, advice: BY_REFERENCE(name) })
