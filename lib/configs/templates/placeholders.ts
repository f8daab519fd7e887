import { BUILT_IN_TEMPLATES } from './built-in.ts'

/** What the migration assistant leaves open in a draft. */
const OF_DRAFTS = [
  'DATADOG_API_KEY',
  'NEW_RELIC_LICENSE_KEY',
  'OTLP_EXPORT_ENDPOINT',
  'REDACTED_SECRET',
  'SPLUNK_HEC_TOKEN',
] as const

/** The names that a template or a migrated draft declares as `${NAME}`, to be filled in before it is pushed. */
export const PLACEHOLDERS: ReadonlySet<string> = new Set([
  ...OF_DRAFTS,
  ...BUILT_IN_TEMPLATES.flatMap(({ content }) => placeholdersOf(content)),
])

/** The names in `${NAME}` of a text, in order, each once; those in `${env:NAME}` are meant for the collector. */
function placeholdersOf(text: string): string[] {
  return [...new Set([...text.matchAll(/(?<!\$)\$\{([A-Z][A-Z0-9_]*)\}/g)].map(([, name]) => name!))]
}

/** The declared placeholders that a text still holds. */
export function unfilledPlaceholders(text: string): string[] {
  return placeholdersOf(text).filter((name) => PLACEHOLDERS.has(name))
}
