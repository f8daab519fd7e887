import { isSecretKey } from '../redact/redact.ts'
import type { MigrationDraft } from './draft.ts'
import { type SourceValue, scalarText } from './yaml.ts'

const HOST_METRICS = [
  'collection_interval: 60s',
  'scrapers:',
  '  cpu: {}',
  '  memory: {}',
  '  filesystem: {}',
]

/** Carry over a New Relic infrastructure agent's `newrelic-infra.yml`. */
export function migrateNewRelic(source: ReadonlyMap<string, SourceValue>, draft: MigrationDraft): void {
  let hasMetrics = false
  for (const [key, value] of source) {
    if (key === 'display_name') {
      draft.attribute('host.name', scalarText(value), key, 'newrelic.display_name.to_host_name')
    } else if (key === 'custom_attributes' && value instanceof Map) migrateAttributes(value, draft)
    else if (key === 'log_file') migrateLogFile(scalarText(value), draft)
    else if (!hasMetrics && isMetricsSwitch(key, scalarText(value))) {
      hasMetrics = true
      migrateMetrics(key, draft)
    } else if (!isSecretKey(key)) {
      draft.unsupported(key, 'the setting has no counterpart in the draft')
    }
  }
}

/** Whether a setting switches host metrics on. A sample rate of -1 switches them off, as `false` does. */
function isMetricsSwitch(key: string, value: string): boolean {
  const isOff = ['', 'false', 'no', 'off', '-1'].includes(value.toLowerCase())
  return key.startsWith('metrics_') && !key.includes('disabled') && !isOff
}

function migrateMetrics(key: string, draft: MigrationDraft): void {
  draft.receiver('hostmetrics', 'metrics', HOST_METRICS)
  draft.map(
    'newrelic.metrics_toggle.to_hostmetrics_skeleton',
    key,
    'receivers.hostmetrics',
    'A hostmetrics receiver reads processor, memory and file systems.',
  )
  const message = 'Host metrics have other names and intervals than those of the New Relic agent.'
  draft.warn('newrelic_metrics_partial', message, key)
}

function migrateAttributes(attributes: ReadonlyMap<string, SourceValue>, draft: MigrationDraft): void {
  for (const [key, value] of attributes) {
    const path = `custom_attributes.${key}`
    if (typeof value === 'string') {
      draft.attribute(key, scalarText(value), path, 'newrelic.custom_attributes.to_resource_attributes')
    } else if (!isSecretKey(key)) {
      draft.unsupported(path, 'only single values become attributes')
    }
  }
}

function migrateLogFile(path: string, draft: MigrationDraft): void {
  const include = path === '' ? null : draft.copy(path, 'log_file')
  if (include === null) return
  draft.fileReceiver('newrelic_log_0', [include])
  draft.map(
    'newrelic.log_file.path_to_filelog.include',
    'log_file',
    'receivers.filelog/newrelic_log_0.include',
    'The file is read by a filelog receiver.',
  )
}
