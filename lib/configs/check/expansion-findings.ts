import { holdsPlaceholder } from '../render/placeholders.ts'
import { unfilledPlaceholders } from '../templates/placeholders.ts'
import { type ConfigValue, isExpanded, isObject, sortedKeys } from '../yaml/value.ts'
import { type BadExpansion, checkExpansions } from './expansions.ts'
import type { StructureFinding } from './structure-finding.ts'

/** A finding for each `${…}` of a config that no collector can fill in, or that its author was to replace. */
export function expansionFindings(value: ConfigValue, path = ''): StructureFinding[] {
  const findings: StructureFinding[] = []
  collect(value, path, findings)
  return findings
}

/** Variables of fleet configs look like references to a provider of this name. */
const VARIABLE_PROVIDER = 'muster'

/** No collector knows variables: they are filled in before a config goes anywhere. */
const UNFILLED: StructureFinding = {
  code: 'unfilled_variable',
  severity: 'error',
  message: 'a ${muster:…} is not filled in; variables belong into the versions of a fleet config',
}

function collect(value: ConfigValue, path: string, into: StructureFinding[]): void {
  if (typeof value === 'string') {
    if (holdsPlaceholder(value)) into.push({ ...UNFILLED, path })
    if (!isExpanded(value)) return
    for (const bad of checkExpansions(value).bad)
      if (bad.name !== VARIABLE_PROVIDER) into.push({ ...describe(bad), path })
    for (const name of unfilledPlaceholders(value)) {
      const message = `\${${name}} of the template is not filled in; \${env:${name}} if the collector's environment has it`
      into.push({ code: 'unfilled_placeholder', severity: 'warning', message, path })
    }
  } else if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      collect(entry, `${path}[${index}]`, into)
    })
  } else if (isObject(value)) {
    for (const key of sortedKeys(value)) {
      const inner = path === '' ? key : `${path}.${key}`
      if (holdsPlaceholder(key)) into.push({ ...UNFILLED, path: inner })
      collect(value[key]!, inner, into)
    }
  }
}

function describe({ reason, name }: BadExpansion): StructureFinding {
  // With other characters it is no name: it may be a part of a secret, and is not quoted.
  const named = /^[\w.+-]+…?$/.test(name) ? ` "${name}"` : ''
  if (reason === 'unknown-provider' && /[a-z]/.test(name)) {
    const message = `the provider${named} is not one that collectors are known to have`
    return { code: 'unknown_provider', severity: 'warning', message }
  }
  const message =
    reason === 'default-without-env'
      ? `a default value needs the provider to be named: \${env:NAME:-default}, not \${NAME:-default}`
      : reason === 'invalid-variable-name'
        ? `\${…} names the environment variable${named}, which is no valid name; write $$ for a literal dollar`
        : `\${…} holds no valid reference${named}`
  return { code: 'invalid_expansion', severity: 'error', message }
}
