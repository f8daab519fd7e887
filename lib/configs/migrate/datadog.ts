import { isSecretKey } from '../redact/redact.ts'
import type { MigrationDraft } from './draft.ts'
import { isTrue, type SourceValue, scalarText } from './yaml.ts'

const PORT_REASON = 'the port must be a whole number from 1 to 65535'

/** Carry over a Datadog agent's `datadog.yaml`, with the `logs` of its integrations. */
export function migrateDatadog(source: ReadonlyMap<string, SourceValue>, draft: MigrationDraft): void {
  for (const [key, value] of source) {
    if (key === 'env') {
      draft.attribute('deployment.environment', scalarText(value), key, 'datadog.env.to_resource_attribute')
      // The attribute's name in today's semantic conventions; older backends look for `deployment.environment`.
      draft.labelAttribute('deployment.environment.name', scalarText(value))
    } else if (key === 'tags') migrateTags(value, draft)
    else if (key === 'logs') migrateLogs(value, draft)
    else if (key === 'logs_config' && value instanceof Map) listUnsupported(value, key, draft)
    else if (key === 'apm_config') migrateApm(value, draft)
    else if (key === 'dogstatsd_port') migrateStatsd(scalarText(value), draft)
    else if (key === 'site') {
      const message = 'The Datadog site does not choose an exporter; set one that sends to it if you keep it.'
      draft.warn('datadog_site_not_exporter', message, key)
    } else if (!isSecretKey(key)) {
      draft.unsupported(key, 'the setting has no counterpart in the draft')
    }
  }
}

function listUnsupported(
  settings: ReadonlyMap<string, SourceValue>,
  path: string,
  draft: MigrationDraft,
): void {
  for (const key of settings.keys()) {
    if (!isSecretKey(key)) draft.unsupported(`${path}.${key}`, 'the setting has no counterpart in the draft')
  }
}

function migrateTags(value: SourceValue, draft: MigrationDraft): void {
  // The agent also takes one text of tags, separated by commas or spaces.
  const tags = Array.isArray(value) ? value.map(scalarText) : scalarText(value).split(/[\s,]+/)
  for (const [index, tag] of tags.entries()) {
    const colon = tag.indexOf(':')
    const path = `tags[${index}]`
    if (colon > 0) {
      const name = tag.slice(0, colon)
      const key = name === 'env' ? 'deployment.environment.name' : `muster.vendor.datadog.tag.${name}`
      draft.attribute(key, tag.slice(colon + 1), path, 'datadog.tags.to_resource_attributes')
    } else if (tag !== '') {
      draft.unsupported(path, 'the tag has no value')
    }
  }
}

function migrateLogs(value: SourceValue, draft: MigrationDraft): void {
  if (!Array.isArray(value)) {
    draft.unsupported('logs', 'expected a list of log sources')
    return
  }
  for (const [index, entry] of value.entries()) {
    if (entry instanceof Map) migrateLogEntry(entry, index, draft)
    else draft.unsupported(`logs[${index}]`, 'expected a mapping')
  }
}

function migrateLogEntry(
  entry: ReadonlyMap<string, SourceValue>,
  index: number,
  draft: MigrationDraft,
): void {
  const at = `logs[${index}]`
  const path = scalarText(entry.get('path'))
  const isFile = scalarText(entry.get('type')) === 'file' && path !== ''
  const include = isFile ? draft.copy(path, `${at}.path`) : null
  const id = `datadog_logs_${index}`
  const carried = new Set(['type'])
  if (include !== null) {
    const resource = new Map<string, string>()
    const carry = (key: string, attribute: string, ruleId: string) => {
      const text = draft.copy(scalarText(entry.get(key)), `${at}.${key}`)
      carried.add(key)
      if (text === null || text === '') return
      resource.set(attribute, text)
      draft.map(
        ruleId,
        `${at}.${key}`,
        `receivers.filelog/${id}.resource[${attribute}]`,
        'Added to these entries.',
      )
    }
    carried.add('path')
    draft.map(
      'datadog.logs.file.path_to_filelog.include',
      `${at}.path`,
      `receivers.filelog/${id}.include`,
      'The file is read by a filelog receiver.',
    )
    carry('service', 'service.name', 'datadog.logs.service.to_resource_attribute')
    carry('source', 'muster.vendor.source', 'datadog.logs.source.to_resource_attribute')
    draft.fileReceiver(id, [include], { resource })
  } else if (!isFile) {
    draft.unsupported(`${at}.type`, 'only log sources of type file with a path are carried over')
  }
  for (const key of entry.keys()) {
    if (carried.has(key) || isSecretKey(key)) continue
    draft.unsupported(`${at}.${key}`, 'the setting has no counterpart in the draft')
  }
}

function migrateApm(value: SourceValue, draft: MigrationDraft): void {
  if (!(value instanceof Map)) return
  if (isTrue(value.get('enabled'))) {
    draft.receiver('otlp', 'traces', ['protocols:', '  grpc: {}', '  http: {}'])
    draft.map(
      'datadog.apm_config.enabled.to_otlp_receiver',
      'apm_config.enabled',
      'receivers.otlp',
      'Traces are received over OTLP.',
    )
    const message = 'Datadog tracers do not send OTLP by default: switch them to OTLP export.'
    draft.warn('datadog_apm_partial', message, 'apm_config')
  }
  for (const key of value.keys()) {
    if (key === 'enabled' || isSecretKey(key)) continue
    draft.unsupported(`apm_config.${key}`, 'the setting has no counterpart in the draft')
  }
}

function migrateStatsd(text: string, draft: MigrationDraft): void {
  // Only canonical digits: nothing else may reach the endpoint.
  if (!/^[1-9][0-9]{0,4}$/.test(text) || Number(text) > 65_535) {
    draft.unsupported('dogstatsd_port', PORT_REASON)
    return
  }
  draft.receiver('statsd', 'metrics', [`endpoint: "0.0.0.0:${text}"`])
  draft.map(
    'datadog.dogstatsd_port.to_statsd.endpoint',
    'dogstatsd_port',
    'receivers.statsd.endpoint',
    'A statsd receiver listens on the port; it reads the tags of DogStatsD.',
  )
}
