import { readPattern } from '../../model/patterns.ts'
import { isSecretName, redactSecrets } from '../../redact/redact.ts'
import type { VARIABLE_KINDS } from '../../wire/values.ts'
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
/** Most variables of a version. */
export const VARIABLES_MAX = 100
const DESCRIPTION_LENGTH_MAX = 1_024

/** What cannot stand on one line of YAML as it is. */
const UNPRINTABLE = /[\0-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}/u

const FORMS: Readonly<Record<VariableType, { form: RegExp; meaning: string } | null>> = {
  string: null,
  integer: { form: /^-?(?:0|[1-9]\d{0,14})$/, meaning: 'a whole number, such as 4317' },
  number: {
    form: /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?$/,
    meaning: 'a number, such as 0.25',
  },
  boolean: { form: /^(?:true|false)$/, meaning: 'true or false' },
  duration: {
    form: /^-?(?:0|(?:\d{1,15}(?:\.\d{1,15})?(?:ns|us|µs|ms|s|m|h)){1,8})$/,
    meaning: 'a duration, such as 1m30s',
  },
}

/** How to give a secret to a collector without muster ever holding it. */
const BY_REFERENCE = (name: string) =>
  `keep it on the host and refer to it: \${env:NAME} in the text, or \${env:\${muster:${name}}} where the variable holds the name`

/** Why a value cannot be given to a variable, in words that never quote it; null when it can. */
export function describeValueFault({ name, type, pattern }: DeclaredVariable, value: string): string | null {
  const generally = describeTextFault(name, value)
  if (generally !== null) return generally
  const form = FORMS[type]
  if (form !== null && !form.form.test(value)) return `variable "${name}" must be ${form.meaning}`
  if (pattern === null) return null
  const read = readPattern(pattern)
  return read.ok && read.pattern.matches(value) ? null : `variable "${name}" must match ${pattern}`
}

/** Why no variable of this name can be given a value, however it is declared; null when some variable can. */
export function describeTextFault(name: string, value: string): string | null {
  if (!isVariableName(name)) return 'a variable needs a name of letters, digits and underscores'
  if (value.length > VALUE_LENGTH_MAX)
    return `variable "${name}" has more than ${VALUE_LENGTH_MAX} characters`
  if (UNPRINTABLE.test(value)) return `variable "${name}" must be one line without control characters`
  if (redactSecrets(value) !== value)
    return `variable "${name}" looks like it holds a secret; ${BY_REFERENCE(name)}`
  return null
}

/** Why variables cannot be declared like this, in words; null when they can. */
export function describeDeclarationFault(variables: readonly DeclaredVariable[]): string | null {
  if (variables.length > VARIABLES_MAX) return `a version has at most ${VARIABLES_MAX} variables`
  const names = new Set<string>()
  for (const variable of variables) {
    const { name, pattern, fallback, isRequired, description } = variable
    if (!isVariableName(name)) return 'a variable needs a name of at most 64 letters, digits and underscores'
    if (names.has(name)) return `variable "${name}" is declared twice`
    names.add(name)
    if (description.length > DESCRIPTION_LENGTH_MAX || UNPRINTABLE.test(description))
      return `variable "${name}" needs a description of one line, at most ${DESCRIPTION_LENGTH_MAX} characters`
    const read = pattern === null ? null : readPattern(pattern)
    if (read !== null && !read.ok) return `variable "${name}": ${read.error}`
    if (isRequired && fallback !== null) return `variable "${name}" is required, so its default never counts`
    const fault = fallback === null ? null : describeValueFault(variable, fallback)
    if (fault !== null) return `default of ${fault}`
  }
  return null
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
export const describeSecretPlace = (name: string, path: string): string =>
  `variable "${name}" stands at ${path}, where a secret belongs; ${BY_REFERENCE(name)}`
