import { readFileSync } from 'node:fs'
import { SECRET_SETTINGS } from '../../runtime/secret-files.ts'

/** The names of all variables that the service's settings are read from, in order, as the sources have them. */
export function settingNames(): string[] {
  const source = ['config.ts', 'oidc-config.ts']
    .map((name) => readFileSync(new URL(`../../runtime/${name}`, import.meta.url), 'utf8'))
    .join('\n')
  const names = [
    ...[...source.matchAll(/'([A-Z]+(?:_[A-Z]+)+)'/g)].map((match) => match[1]!),
    ...SECRET_SETTINGS.map((name) => `${name}_FILE`),
    // Names that the code puts together from two parts.
    ...['CERT', 'KEY', 'CA'].map((part) => `MUSTER_INTERNAL_TLS_${part}`),
  ]
  return [...new Set(names)].sort()
}
