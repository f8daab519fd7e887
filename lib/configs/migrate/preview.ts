import type { MigrationPreview, MigrationVendor } from '../../wire/migration.ts'
import { isSecretKey } from '../redact/redact.ts'
import { migrateDatadog } from './datadog.ts'
import { MigrationDraft } from './draft.ts'
import { migrateFluentBit } from './fluent-bit.ts'
import { migrateNewRelic } from './new-relic.ts'
import { findUrlSecrets, type Placeholder, scanSecretLines } from './secrets.ts'
import { readSections } from './sections.ts'
import { migrateSplunk } from './splunk.ts'
import { entriesOf, readSourceYaml, type SourceValue, scalarsOf } from './yaml.ts'

/** A source is refused above this, in UTF-8 bytes. */
export const MIGRATION_SOURCE_BYTES_MAX = 1_048_576

/** Everything of an answer but the draft's validation. */
export type MigrationResult = Omit<MigrationPreview, 'validation'>

/** What to convert; the vendor is known and the source is not blank. */
export interface MigrationInput {
  vendor: MigrationVendor
  source: string
  labels: Readonly<Record<string, string>>
  /** Empty for the default. */
  otlpEndpoint: string
}

interface Vendor {
  format: 'conf' | 'ini' | 'yaml'
  draftName: string
  stack: string
  placeholder: Placeholder
}

const VENDORS: Record<MigrationVendor, Vendor> = {
  datadog_agent: {
    format: 'yaml',
    draftName: 'Migrated Datadog Agent draft',
    stack: 'datadog',
    placeholder: '${DATADOG_API_KEY}',
  },
  fluent_bit: {
    format: 'conf',
    draftName: 'Migrated Fluent Bit draft',
    stack: 'fluent-bit',
    placeholder: '${REDACTED_SECRET}',
  },
  splunk_forwarder: {
    format: 'ini',
    draftName: 'Migrated Splunk forwarder draft',
    stack: 'splunk',
    placeholder: '${SPLUNK_HEC_TOKEN}',
  },
  new_relic_infra: {
    format: 'yaml',
    draftName: 'Migrated New Relic infra draft',
    stack: 'new-relic',
    placeholder: '${NEW_RELIC_LICENSE_KEY}',
  },
}

/** Learn every secret of the source before anything of it is copied, and note each that is left out. */
function collectSecrets(source: string, format: Vendor['format'], draft: MigrationDraft): void {
  const lines = scanSecretLines(source, format)
  for (const { value } of lines) draft.secrets.add(value)
  for (const secret of findUrlSecrets(source)) draft.secrets.add(secret)
  for (const { section, key, isComment } of lines) {
    if (!isComment) draft.redact(section === '' ? key : `${section}.${key}`)
  }
}

/** The secrets that only a parser finds: values of several lines, lists, and keys by address. */
function collectYamlSecrets(root: SourceValue, draft: MigrationDraft): void {
  for (const { key, value } of entriesOf(root)) {
    // Datadog's `additional_endpoints` maps an address to the API keys that are sent there.
    if (!isSecretKey(key) && !key.endsWith('additional_endpoints')) continue
    for (const text of scalarsOf(value)) {
      draft.secrets.add(text)
      for (const line of text.split('\n')) draft.secrets.add(line)
    }
    draft.redact(key)
  }
}

/** Carry over what can be; false when the source could not be read as its format. */
function convert(input: MigrationInput, format: Vendor['format'], draft: MigrationDraft): boolean {
  if (format === 'yaml') {
    const root = readSourceYaml(input.source)
    if (root === null) return false
    collectYamlSecrets(root, draft)
    if (input.vendor === 'datadog_agent') migrateDatadog(root, draft)
    else migrateNewRelic(root, draft)
    return true
  }
  const sections = readSections(input.source, format === 'ini' ? 'ini' : 'space')
  if (sections.length === 0) return false
  if (input.vendor === 'splunk_forwarder') migrateSplunk(sections, draft)
  else migrateFluentBit(sections, draft)
  return true
}

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

function summarise(draft: MigrationDraft): string {
  const { warnings, unsupported_keys, redactions } = draft.findings
  return [
    plural(draft.mapped, 'setting carried over', 'settings carried over'),
    plural(warnings.length, 'warning', 'warnings'),
    plural(unsupported_keys.length, 'unsupported key', 'unsupported keys'),
    `${plural(redactions.length, 'secret', 'secrets')} left out`,
  ].join(', ')
}

function confidenceOf(draft: MigrationDraft, isParsed: boolean): MigrationResult['confidence'] {
  const { warnings, unsupported_keys } = draft.findings
  if (!isParsed || draft.mapped === 0) return 'low'
  return unsupported_keys.length > 0 || warnings.length > 1 ? 'medium' : 'high'
}

/**
 * Turn a vendor's config into a collector draft. Deterministic; never fails: what cannot be read becomes a
 * skeleton. No secret value of the source is in any part of the answer.
 */
export function previewMigration(input: MigrationInput): MigrationResult {
  const vendor = VENDORS[input.vendor]
  const draft = new MigrationDraft(vendor.placeholder)
  collectSecrets(input.source, vendor.format, draft)
  for (const [key, value] of Object.entries(input.labels)) if (isSecretKey(key)) draft.secrets.add(value)
  for (const secret of findUrlSecrets(input.otlpEndpoint)) draft.secrets.add(secret)
  draft.warn('partial_conversion', 'The draft covers a part of the source: review it before use.', 'source')
  // First, so that an exporter found in the source takes its place.
  if (input.otlpEndpoint.trim() !== '') draft.otlpEndpoint(input.otlpEndpoint, 'context.otlp_endpoint')
  const isParsed = convert(input, vendor.format, draft)
  if (!isParsed) {
    const message = `The source could not be read as ${vendor.format}: the draft is a skeleton.`
    draft.warn('parse_fallback', message, 'source')
  }
  for (const [key, value] of Object.entries(input.labels)) draft.labelAttribute(key, value)
  return {
    schema_version: 'config_migration_preview.v1',
    vendor: input.vendor,
    source_format: vendor.format,
    draft_yaml: draft.render(),
    draft_name: vendor.draftName,
    confidence: confidenceOf(draft, isParsed),
    summary: summarise(draft),
    ...draft.findings,
    save_hint: {
      kind: 'draft',
      source_type: 'migration_assistant',
      tags: ['migration', input.vendor],
      category: 'migration',
      stack: vendor.stack,
    },
  }
}
