import { unfilledPlaceholders } from '../templates/placeholders.ts'
import { type ConfigValue, isExpanded, isObject, sortedKeys } from '../yaml/value.ts'
import { type BadExpansion, checkExpansions } from './expansions.ts'
import type { StructureFinding } from './structure-finding.ts'

/** Every reference of a config, wherever it stands, that no collector can fill in or that its author was to. */
export function expansionFindings(value: ConfigValue, path = ''): StructureFinding[] {
  const findings: StructureFinding[] = []
  collect(value, path, findings)
  return findings
}

function collect(value: ConfigValue, path: string, into: StructureFinding[]): void {
  if (typeof value === 'string') {
    if (!isExpanded(value)) return
    for (const bad of checkExpansions(value).bad) into.push({ ...describe(bad), path })
    for (const name of unfilledPlaceholders(value)) {
      const message = `\${${name}} of the template is not filled in; \${env:${name}} if the collector's environment has it`
      into.push({ code: 'unfilled_placeholder', severity: 'warning', message, path })
    }
  } else if (Array.isArray(value)) {
    value.forEach((entry, index) => {
      collect(entry, `${path}[${index}]`, into)
    })
  } else if (isObject(value)) {
    for (const key of sortedKeys(value)) collect(value[key]!, path === '' ? key : `${path}.${key}`, into)
  }
}

function describe({ reason, name }: BadExpansion): StructureFinding {
  // A name of other characters is no name, and may be anything.
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
